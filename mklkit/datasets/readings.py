"""Columns of text that hold numbers or dates: their readings, kept for later data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs
import numpy as np
import pandas as pd
from pandas.api.types import is_string_dtype

from mklkit.datasets.numerals import (
    DATES,
    NUMBERS,
    TEXT,
    WAYS,
    WRITTEN,
    is_ambiguous_date,
    is_ambiguous_number,
    points_may_group,
)
from mklkit.errors import counted, listed, named, quoted

__all__ = [
    "GAP_MARKS",
    "POINTS",
    "TYPING_ERRORS",
    "columns_of_text",
    "read_as_text",
    "read_columns",
]

# Common marks for a gap among numbers and dates; among words they may be values.
GAP_MARKS = frozenset(
    [
        "-",
        "--",
        "---",
        ".",
        "?",
        "n/a",
        "n.a.",
        "na",
        "nan",
        "nat",
        "nil",
        "none",
        "null",
        "missing",
        "unknown",
        "#n/a",
        "#value!",
        "#div/0!",
    ]
)
POINTS, COMMA = "decimal comma, points between thousands", "decimal comma"
THOUSANDS, NUMBER = "thousands", "number"
# A column of this share of other values, and few of them, is one of numbers with typing errors.
TYPING_ERRORS = 0.05
NUMBERS_PER_ERROR = 10
# More than half of this many values must match before all are tried.
SAMPLE = 100


@attrs.define(eq=False)
class _Column:
    """A column of text and its reading."""

    values: pd.Series
    known: pd.Series
    """Its values besides gaps and marks for gaps, stripped."""
    marks: pd.Series
    """The marks for gaps."""
    way: str = TEXT
    ambiguous: bool = False
    stray: pd.Series = attrs.field(factory=lambda: pd.Series(dtype="str"))
    """The values that are not numbers, in a column left as text where most values are numbers."""

    def meaning(self) -> pd.Series:
        """Return the converted values, with gaps where the reading does not match."""
        codes, distinct = pd.factorize(self.known)
        return _meanings(self.way, distinct).take(codes).set_axis(self.known.index)


def read_as_text(readings: Mapping[str, str]) -> list[str]:
    """Return the columns that a reader of files must leave as text, by how they were read.

    Examples
    --------
    >>> read_as_text({"code": "as written", "price": "thousands"})
    ['code']
    """
    return [name for name, way in readings.items() if way in (POINTS, WRITTEN)]


def columns_of_text(frame: pd.DataFrame) -> list[str]:
    """Return the columns that hold only text and gaps."""
    return [
        str(name)
        for name, kind in frame.dtypes.items()
        if is_string_dtype(kind)
        and pd.api.types.infer_dtype(frame[name], skipna=True) in ("string", "empty")
        and frame[name].notna().any()
    ]


def read_columns(
    frame: pd.DataFrame,
    decimal: str = ".",
    ways: Mapping[str, str] | None = None,
    marks: frozenset[str] = GAP_MARKS,
) -> tuple[pd.DataFrame, dict[str, str], list[str]]:
    """Read columns of text as numbers or dates if their values are.

    Parameters
    ----------
    frame : pandas.DataFrame
    decimal : str, default="."
        The decimal mark, if a column and the others do not determine it.
    ways : mapping of str to str, optional
        The readings of columns with these names in training. They are used again; values that do
        not match stay unchanged and are refused later. Columns that were not text then but are now
        are read according to their values.
    marks : frozenset of str, optional
        The marks for a gap among numbers and dates, in lower case.

    Returns
    -------
    frame : pandas.DataFrame
        With numbers as such and dates as text with the year first.
    ways : dict of str to str
        The reading of each column of text: a key of ``WAYS``, or ``"text"``.
    notes : list of str
        Which values were converted.

    Examples
    --------
    >>> frame, ways, notes = read_columns(pd.DataFrame({"price": ["900", "1,250.5", "-"]}))
    >>> frame["price"].tolist(), ways
    ([900.0, 1250.5, nan], {'price': 'thousands'})
    >>> for note in notes:
    ...     print(note)
    column 'price' read as numbers: '1,250.5' as 1250.5
    1 gap in column 'price', written '-'
    """
    columns: dict[str, _Column] = {}
    for name in columns_of_text(frame):
        if ways is not None and ways.get(name) in (TEXT, WRITTEN):
            continue
        # Before pandas 3, a gap became the text "nan".
        text = frame[name].dropna().astype("str").str.strip()
        is_mark = text.str.casefold().isin(marks)
        column = _Column(frame[name], text[~is_mark], text[is_mark])
        columns[name] = column
        if ways is None:
            _settle(column, tolerant=marks is GAP_MARKS)
        elif ways.get(name) in tuple(WAYS):
            column.way = ways[name]
        else:
            _settle(column, tolerant=False, default=NUMBER)
    _settle_commas(columns, decimal)
    _settle_points(columns, may_group=ways is None)
    read = {name: column for name, column in columns.items() if column.way != TEXT}
    notes = _notes(read)
    if ways is None:
        notes += [_stray_note(n, c) for n, c in columns.items() if len(c.stray)]
    new = {}
    for name, column in read.items():
        values = column.meaning()
        full = values.reindex(frame.index)
        misfits = column.known[values.isna()]
        if len(misfits) and ways is not None:
            full = full.astype(object)
            full[misfits.index] = misfits
        elif len(misfits):
            notes.append(_misfit_note(name, column, misfits))
        if len(column.marks):
            written = listed(column.marks.unique().tolist())
            notes.append(
                f"{counted(len(column.marks), 'gap')} in column {quoted(name)}, written {written}"
            )
        new[name] = full
    settled = {name: column.way for name, column in columns.items()}
    return (frame.assign(**new) if new else frame), settled, notes


def _settle(column: _Column, tolerant: bool, default: str = TEXT) -> None:
    """Choose the first reading that matches all values, or all except a few typing errors."""
    if column.known.empty:
        column.way = default
        return
    codes, distinct = pd.factorize(column.known)
    some = distinct[:: 1 + len(distinct) // SAMPLE]
    number, way, fits = 0, TEXT, np.zeros(len(distinct), dtype=bool)
    for candidate in WAYS:
        # Columns of words need no check of every value.
        if 2 * _meanings(candidate, some).notna().sum() <= len(some):
            continue
        those = _meanings(candidate, distinct).notna().to_numpy()
        if those[codes].sum() > number:
            number, way, fits = int(those[codes].sum()), candidate, those
        if number == len(codes):
            break
    few = len(codes) - number <= TYPING_ERRORS * len(codes)
    tolerated = few and NUMBERS_PER_ERROR * (~fits).sum() <= fits.sum() if tolerant else False
    if default != TEXT:
        # The column held no text in training; values that do not fit are for others to judge.
        tolerated = 2 * number > len(codes)
    if number < len(codes) and not tolerated:
        if way in NUMBERS and 2 * fits.sum() > len(fits) > 2:
            column.stray = column.known[~fits[codes]]
        return
    column.way = way
    if way == NUMBER:
        column.ambiguous = points_may_group(distinct[fits])
        return
    test = is_ambiguous_date if way in DATES else is_ambiguous_number
    column.ambiguous = way in (THOUSANDS, "month first") and all(map(test, distinct[fits]))


def _settle_commas(columns: dict[str, _Column], decimal: str) -> None:
    """Decide the meaning of a comma before three digits by other columns or the file's mark."""
    told = {column.way for column in columns.values() if not column.ambiguous}
    for column in columns.values():
        if column.ambiguous and column.way == THOUSANDS:
            commas = bool(told & {COMMA, POINTS})
            column.ambiguous = commas == (THOUSANDS in told)
            if decimal == "," if column.ambiguous else commas:
                column.way = COMMA


def _settle_points(columns: dict[str, _Column], may_group: bool) -> None:
    """Take points for those between thousands where the decimal mark of other columns is a comma.

    Where nothing tells, they are decimal ones, which is said where some values are whole numbers.
    """
    ways = {column.way for column in columns.values()}
    commas = bool(ways & {COMMA, POINTS}) and THOUSANDS not in ways
    for column in columns.values():
        if column.way == NUMBER and column.ambiguous:
            if may_group and commas:
                column.way = POINTS
            column.ambiguous = (
                column.way == NUMBER and not column.known.str.contains(".", regex=False).all()
            )


def _meanings(way: str, distinct: Iterable[str]) -> pd.Series:
    return WAYS[way](pd.Series(list(distinct), dtype="str"))


def _notes(columns: dict[str, _Column]) -> list[str]:
    """Return notes on converted values, one line per kind of reading."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for name, column in columns.items():
        groups.setdefault((column.way, column.ambiguous), []).append(name)
    notes = []
    for (way, ambiguous), names in groups.items():
        column = columns[names[0]]
        if way == NUMBER and ambiguous:
            pointed = column.known[column.known.str.contains(".", regex=False)].iloc[0]
            notes.append(
                f"{named(names)} read with decimal points: {quoted(pointed, 40)} as"
                f" {float(pointed):.15g}, though other values are whole numbers; if points stand"
                " between thousands, leave them out"
            )
            continue
        pairs = zip(column.known, column.meaning(), strict=True)
        changed = next((pair for pair in pairs if _is_changed(*pair)), None)
        if changed is None:
            continue
        kind = "numbers" if way in NUMBERS else "dates"
        meant = f"{changed[1]:.15g}" if way in NUMBERS else changed[1]
        note = f"{named(names)} read as {kind}: {quoted(changed[0], 40)} as {meant}"
        notes.append(note + (f"; {_other(way)}" if ambiguous else ""))
    return notes


def _is_changed(text: str, meaning: object) -> bool:
    if pd.isna(meaning):  # type: ignore[call-overload]
        return False
    try:
        return text != meaning if isinstance(meaning, str) else float(text) != meaning
    except ValueError:
        return True


def _other(way: str) -> str:
    if way == THOUSANDS:
        return "if it is a decimal comma, write a point"
    if way == COMMA:
        return "if the comma separates thousands, leave it out"
    return "if the day comes first, write dates as 2024-03-31"


def _misfit_note(name: str, column: _Column, misfits: pd.Series) -> str:
    kind = "number" if column.way in NUMBERS else "date"
    return (
        f"column {quoted(name)} holds {_first(misfits)}, not a {kind}: taken as a gap; correct it,"
        " or leave it empty"
    )


def _stray_note(name: str, column: _Column) -> str:
    return (
        f"column {quoted(name)} mixes text with numbers: taken as text because of"
        f" {_first(column.stray)}; correct it, or leave it empty, if numbers are meant"
    )


def _first(values: pd.Series) -> str:
    """Return the first of some values with its row, and how many more there are."""
    more = f" and {len(values) - 1} more" if len(values) > 1 else ""
    return f"{quoted(values.iloc[0], 40)} in row {values.index[0] + 1}{more}"
