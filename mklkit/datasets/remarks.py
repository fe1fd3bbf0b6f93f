"""What is worth saying of a table: how text is read, and columns that are of no or little use."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from shlex import quote

import numpy as np
import pandas as pd

from mklkit.datasets.notations import TEXT
from mklkit.datasets.readings import ColumnReading, taken_as_gap
from mklkit.errors import counted, listed, named, quoted

__all__ = ["notes_on", "remarks"]

NAMES_SHOWN = 5
# Texts of which there are more, and in half the rows another, are rarely categories.
MANY_CATEGORIES = 30


def notes_on(readings: Mapping[str, ColumnReading]) -> list[str]:
    """Return what is worth saying of the readings: first a line for each kind, then of columns."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for name, reading in readings.items():
        if reading.example:
            groups.setdefault((reading.notation, reading.ambiguous), []).append(name)
    notes = []
    for (_, ambiguous), names in groups.items():
        reading = readings[names[0]]
        advice = "; if that is not meant, write 1234.5 or 2024-03-31" if ambiguous else ""
        notes.append(f"{named(names)} read as {reading.holds}: {reading.example}{advice}")
    for name, reading in readings.items():
        column = f"column {quoted(name)}"
        if reading.misfits and reading.holds == "text":
            notes.append(
                f"{column} mixes text with numbers: taken as text because of {reading.misfits};"
                " correct it, or leave it empty, if numbers are meant"
            )
        elif reading.misfits:
            notes.append(taken_as_gap(column, reading.misfits, reading.holds))
        if reading.n_marks:
            gaps, marks = counted(reading.n_marks, "gap"), listed(list(reading.marks))
            notes.append(f"{gaps} in {column}, written {marks}")
    return notes


def remarks(
    features: pd.DataFrame, target: pd.Series, readings: Mapping[str, ColumnReading]
) -> list[str]:
    """Return what is worth saying of a table: on its readings, then on suspicious columns."""
    constant: list[str] = []
    leaks: list[str] = []
    copies: list[str] = []
    first_of: dict[Hashable, str] = {}
    [(content_of_target, _)] = _contents(target.to_frame()).values()
    for name, (content, varies) in _contents(features).items():
        twin = first_of.setdefault(content, name)
        if not varies:
            constant.append(repr(name))
        elif twin != name:
            copies.append(f"{name!r} (as {twin!r})")
        if varies and content == content_of_target:
            leaks.append(f"column {name!r} is a copy of the target")
    notes = [f"{_columns(constant)} constant"] if constant else []
    notes += leaks
    if copies:
        notes.append(f"{_columns(copies)} the same as another")
    texts = [name for name, reading in readings.items() if reading.notation == TEXT]
    varied = [name for name in texts if _varies_in_most_rows(features[name])]
    for name in varied[:NAMES_SHOWN]:
        distinct = features[name].dropna().unique()
        notes.append(
            f"column {quoted(name)} holds {len(distinct)} different texts in {len(features)} rows,"
            f" such as {quoted(distinct[0], 40)}: write numbers alone if they are meant, read it by"
            f" a kernel on text, -k {quote(f'spectrum@{name}')}, or leave it out with --drop"
            f" {quote(name)}"
        )
    if len(varied) > NAMES_SHOWN:
        notes.append(f"{len(varied) - NAMES_SHOWN} more columns of text are like it")
    return notes_on(readings) + notes


def _varies_in_most_rows(texts: pd.Series) -> bool:
    """Return whether most rows hold another text, but not all: that is said of identifiers."""
    n_texts = texts.nunique()
    return max(MANY_CATEGORIES, len(texts) / 2) < n_texts < texts.notna().sum()


def _contents(frame: pd.DataFrame) -> dict[str, tuple[Hashable, bool]]:
    """Return a comparable key of each column's contents, and whether its values differ."""
    contents: dict[str, tuple[Hashable, bool]] = {}
    for name, column in frame.items():
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
            # Tables may be very wide, and this is quicker.
            numbers = column.to_numpy(dtype=np.float64)
            known = numbers[~np.isnan(numbers)]
            contents[str(name)] = numbers.tobytes(), bool((known != known[:1]).any())
        else:
            codes, distinct = pd.factorize(column)
            key = codes.tobytes(), tuple(map(str, distinct))
            contents[str(name)] = key, len(distinct) > 1
    return contents


def _columns(shown: list[str]) -> str:
    if len(shown) == 1:
        return f"column {shown[0]} is"
    more = f" and {len(shown) - NAMES_SHOWN} more" if len(shown) > NAMES_SHOWN else ""
    return f"{len(shown)} columns ({', '.join(shown[:NAMES_SHOWN])}{more}) are"
