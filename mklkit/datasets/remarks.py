"""Notes on a table: identifiers, suspicious columns, how it is read and encoded."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype, is_numeric_dtype

from mklkit.datasets.columns import is_date, is_numeric
from mklkit.datasets.notations import AS_READ, NUMBER, TEXT, WRITTEN
from mklkit.datasets.readings import ColumnReading, taken_as_gap
from mklkit.errors import DataError, counted, listed, named, quoted, suggest
from mklkit.registry.composing import kernels_on
from mklkit.registry.readings import MISSING_CATEGORY

NAMES_SHOWN = 5
# More distinct texts than this, and in half of the rows, are rarely categories.
MANY_CATEGORIES = 30
LIKE_IDENTIFIERS = "a different value in every row, like identifiers"
# A column of fewer rows may have only distinct values by chance.
IDENTIFIER_ROWS = 20
# Distinct whole numbers may be a measurement, unless the column name marks them as ids.
IDENTIFIER_NAME = re.compile(r"id|uuid|guid|.*[\W_]id|.*[a-z0-9]I[dD]|ID|Id")


def find_identifiers(frame: pd.DataFrame) -> list[str]:
    """Return the columns that only name their rows, or count them.

    A column that counts the rows is kept if no other is left. Within a part of the rows, more
    columns may have a different value in each row.
    """
    naming = [str(name) for name, column in frame.items() if _names_rows(column)]
    either = [str(name) for name, column in frame.items() if name in naming or _counts_rows(column)]
    return either if len(either) < frame.shape[1] else naming


def identifiers_of(frame: pd.DataFrame, names: Sequence[str] | None) -> Sequence[str]:
    """Return the columns named as identifiers, or those that look like them if none are named."""
    if names is None:
        return find_identifiers(frame)
    for name in names:
        if name not in frame.columns:
            raise DataError(
                f"There is no column {quoted(name)} to leave out as an identifier."
                f"{suggest(str(name), frame.columns.tolist())}"
            )
    return names


def _names_rows(column: pd.Series) -> bool:
    """Return whether a column has distinct texts, or distinct whole numbers and is called id."""
    if is_float_dtype(column) or is_bool_dtype(column):
        return False
    if is_numeric(column):
        called = IDENTIFIER_NAME.fullmatch(str(column.name))
        if not is_numeric_dtype(column) or called is None:
            return False
    values = column.dropna()
    if len(values) < max(IDENTIFIER_ROWS, len(column) / 2) or not values.is_unique:
        return False
    return not is_date(column)


def _counts_rows(column: pd.Series) -> bool:
    """Return whether a column numbers the rows from 0 or 1, like their index after a split."""
    if not is_integer_dtype(column) or len(column) < IDENTIFIER_ROWS or column.isna().any():
        return False
    values = column.to_numpy(dtype=np.float64)
    index = column.index
    places = index.to_numpy() if is_integer_dtype(index) else np.arange(len(column))
    ahead = values - places
    return bool(abs(ahead[0]) <= 1 and (ahead == ahead[0]).all())


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
    features: pd.DataFrame, target: pd.Series, readings: Mapping[str, ColumnReading]
) -> list[str]:
    """Return notes on a table: on its readings, then on suspicious columns."""
    constant, leaks = list[str](), list[str]()
    copies: dict[str, str] = {}
    first_of: dict[Hashable, str] = {}
    [(content_of_target, _)] = _contents(target.to_frame()).values()
    for name, (content, varies) in _contents(features).items():
        twin = first_of.setdefault(content, name)
        if not varies:
            constant.append(name)
        elif content == content_of_target:
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


def described(encoder: Any) -> list[str]:
    """Return the steps applied to the training rows, a line each."""
    code = [] if encoder.missing_value is None else [f"{encoder.missing_value} taken as missing"]
    lines = [*code, *encoder.notes_]
    if encoder.identifiers_:
        lines.append(left_out(encoder.identifiers_, encoder.readings_))
    if encoder.passthrough_:
        lines.append(f"{named(encoder.passthrough_)} kept for kernels on such columns")
    lines += [parts.described(name) for name, parts in encoder.dates_.items()]
    if encoder.category_:
        n_one_hot = sum(source in encoder.category_ for source in encoder.sources_)
        lines.append(
            f"{counted(len(encoder.category_), 'category column')} one-hot encoded into {n_one_hot}"
        )
        for name, rare in zip(
            encoder.category_, encoder.one_hot_.infrequent_categories_, strict=True
        ):
            if rare is not None:
                lines.append(f"{len(rare)} rare values of {name!r} joined as '{name}_other'")
    filled = {*encoder.numeric_, *encoder.dates_} - {*encoder.empty_, *encoder.with_gaps_}
    but = ", or left where a row lacks the whole source" if encoder.sources else ""
    fates = [
        (encoder.category_, f"in category columns taken as the value '{MISSING_CATEGORY}'"),
        (encoder.with_gaps_, "left to the kernels of their columns"),
        (filled, f"imputed by the median{but}"),
    ]
    for columns, fate in fates:
        n_gaps = sum(encoder.gaps_[name] for name in columns)
        if n_gaps:
            lines.append(f"{counted(n_gaps, 'gap')} {fate}")
    if encoder.empty_:
        lines.append(f"{counted(len(encoder.empty_), 'column')} without any value set to 0")
    return lines


def left_out(identifiers: Sequence[str], readings: Mapping[str, ColumnReading]) -> str:
    """Return a line on columns that are left out, with kernels that could read those of text."""
    line = f"{named(identifiers)} left out: {LIKE_IDENTIFIERS}"
    texts = [name for name in identifiers if name in readings and readings[name].notation == TEXT]
    if texts:
        which = f" of {named(texts)}" if len(identifiers) > 1 else ""
        line += f" (to learn from the text{which}, {kernels_on('text', texts[0])})"
    return line


def input_columns(encoder: Any) -> list[dict[str, Any]]:
    """Return how each input column was treated, for ``TableEncoder.columns``."""
    known = encoder.one_hot_.categories_ if encoder.category_ else []
    values = dict(zip(encoder.category_, map(len, known), strict=True))
    rows: list[dict[str, Any]] = []
    for name in encoder.feature_names_in_:
        row = {"name": name, "kind": encoder.kinds_[name], "gaps": encoder.gaps_[name]}
        notation = encoder.readings_.get(name, ColumnReading()).notation
        if notation not in (TEXT, WRITTEN, AS_READ, NUMBER):
            row["reading"] = notation
        if name in encoder.passthrough_:
            row["kept"] = True
        if name in values:
            row["values"] = values[name]
        rows.append(row)
    return rows
