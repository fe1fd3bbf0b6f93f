"""Notes on a table: how it is read, and suspicious columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from shlex import quote

import numpy as np
import pandas as pd

from mklkit.datasets.notations import TEXT
from mklkit.datasets.readings import ColumnReading, taken_as_gap
from mklkit.errors import counted, listed, named, quoted

NAMES_SHOWN = 5
# More distinct texts than this, and in half of the rows, are rarely categories.
MANY_CATEGORIES = 30


def notes_on(readings: Mapping[str, ColumnReading]) -> list[str]:
    """Return notes on the readings: first a line for each kind, then notes on columns."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for name, reading in readings.items():
        if reading.example:
            groups.setdefault((reading.notation, reading.ambiguous), []).append(name)
    notes = []
    for (_, ambiguous), names in groups.items():
        reading = readings[names[0]]
        advice = "; if that is wrong, write 1234.5 or 2024-03-31" if ambiguous else ""
        notes.append(f"{named(names)} read as {reading.holds}: {reading.example}{advice}")
    for name, reading in readings.items():
        column = f"column {quoted(name)}"
        if reading.misfits and reading.holds == "text":
            notes.append(
                f"{column} mixes text with numbers: read as text because of {reading.misfits};"
                " if it should hold numbers, correct the cell or leave it empty"
            )
        elif reading.misfits:
            notes.append(taken_as_gap(column, reading.misfits, reading.holds))
        if reading.n_marks:
            gaps, marks = counted(reading.n_marks, "gap"), listed(list(reading.marks))
            notes.append(f"{gaps} in {column}, written {marks}")
    return notes


def remarks(
    features: pd.DataFrame, target: pd.Series | pd.DataFrame, readings: Mapping[str, ColumnReading]
) -> list[str]:
    """Return notes on a table: on its readings, then on suspicious columns."""
    constant, leaks = list[str](), list[str]()
    copies: dict[str, str] = {}
    first_of: dict[Hashable, str] = {}
    of_targets = {content for content, _ in _contents(pd.DataFrame(target)).values()}
    for name, (content, varies) in _contents(features).items():
        twin = first_of.setdefault(content, name)
        if not varies:
            constant.append(name)
        elif content in of_targets:
            leaks.append(name)
        if varies and twin != name:
            copies[name] = twin
    faults = {
        "constant": constant,
        "a copy of the target": leaks,
        f"the same as {listed([*copies.values()])}": [*copies],
    }
    notes = [f"{named(names)}: {fault}" for fault, names in faults.items() if names]
    texts = [name for name, reading in readings.items() if reading.notation == TEXT]
    # Most rows, but not all, hold distinct texts; notes on identifiers cover the rest.
    few = max(MANY_CATEGORIES, len(features) / 2)
    varied = [n for n in texts if few < features[n].nunique() < features[n].notna().sum()]
    for name in varied[:NAMES_SHOWN]:
        distinct = features[name].dropna().unique()
        notes.append(
            f"column {quoted(name)} holds {len(distinct)} different texts in {len(features)} rows,"
            f" such as {quoted(distinct[0], 40)}: keep only the numbers if there are any, use"
            f" a kernel on text, -k {quote(f'spectrum@{name}')}, or leave it out with --drop"
            f" {quote(name)}"
        )
    if len(varied) > NAMES_SHOWN:
        notes.append(f"{len(varied) - NAMES_SHOWN} more columns of text are like this")
    return notes_on(readings) + notes


def _contents(frame: pd.DataFrame) -> dict[str, tuple[Hashable, bool]]:
    """Return a comparable key of each column's contents, and whether its values differ."""
    contents: dict[str, tuple[Hashable, bool]] = {}
    for name, column in frame.items():
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
            # Faster for very wide tables.
            numbers = column.to_numpy(dtype=np.float64)
            known = numbers[~np.isnan(numbers)]
            contents[str(name)] = numbers.tobytes(), bool((known != known[:1]).any())
        else:
            codes, distinct = pd.factorize(column)
            key = codes.tobytes(), tuple(map(str, distinct))
            contents[str(name)] = key, len(distinct) > 1
    return contents
