"""How the columns of text of a table are read: settled once, and the same for later rows."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets.notations import COMMA, NUMBER, POINTS, TEXT, THOUSANDS, WRITTEN
from mklkit.datasets.text_columns import (
    GAP_MARKS,
    TYPING_ERRORS,
    ColumnReading,
    TextColumn,
    first_of,
    is_text,
)
from mklkit.errors import DataError, counted, listed, named, quoted

__all__ = [
    "columns_of_text",
    "notes_on",
    "read_as_text",
    "read_later",
    "settle_readings",
    "take_as_gaps",
]


def columns_of_text(frame: pd.DataFrame) -> list[str]:
    """Return the columns that hold only text and gaps."""
    return [str(name) for name in frame if is_text(frame[name])]


def read_as_text(readings: Mapping[str, ColumnReading]) -> list[str]:
    """Return the columns that a reader of files must leave as text.

    Examples
    --------
    >>> read_as_text({"code": ColumnReading("as written"), "price": ColumnReading("thousands")})
    ['code']
    """
    return [n for n, reading in readings.items() if reading.notation in (TEXT, POINTS, WRITTEN)]


def settle_readings(
    frame: pd.DataFrame,
    decimal: str = ".",
    marks: frozenset[str] = GAP_MARKS,
    written: Collection[str] = (),
) -> tuple[pd.DataFrame, dict[str, ColumnReading]]:
    """Settle how columns of text are read, and read them.

    Parameters
    ----------
    frame : pandas.DataFrame
    decimal : str, default="."
        The decimal mark, if a column and the others do not determine it.
    marks : frozenset of str
        The marks for a gap among numbers and dates, in lower case. With fewer than usual a column
        has to be of numbers throughout.
    written : collection of str
        Columns of text that stay as they are written.

    Returns
    -------
    frame : pandas.DataFrame
        With numbers and dates as such.
    readings : dict of str to ColumnReading
        Of each column of text.

    Examples
    --------
    >>> frame, readings = settle_readings(pd.DataFrame({"price": ["900", "1,250.5", "-"]}))
    >>> frame["price"].tolist(), readings["price"].notation
    ([900.0, 1250.5, nan], 'thousands')
    >>> for note in notes_on(readings):
    ...     print(note)
    column 'price' read as numbers: '1,250.5' as 1250.5
    1 gap in column 'price', written '-'
    """
    names = [name for name in columns_of_text(frame) if name not in written]
    columns = {name: TextColumn.of(frame[name], marks) for name in names}
    for column in columns.values():
        column.settle(tolerant=marks is GAP_MARKS)
    _settle_commas(columns.values(), decimal)
    _settle_points(columns.values())
    readings = {name: column.reading() for name, column in columns.items()}
    new = {n: c.read(c.notation)[0] for n, c in columns.items() if c.notation != TEXT}
    written_so = {name: ColumnReading(WRITTEN) for name in written}
    return (frame.assign(**new) if new else frame), readings | written_so


def _settle_commas(columns: Collection[TextColumn], decimal: str) -> None:
    """Decide the meaning of a comma before three digits by other columns or the file's mark."""
    certain = {column.notation for column in columns if not column.ambiguous}
    commas, thousands = bool(certain & {COMMA, POINTS}), THOUSANDS in certain
    is_comma = decimal == "," if commas == thousands else commas
    for column in columns:
        if column.ambiguous and column.notation == THOUSANDS:
            column.notation = COMMA if is_comma else THOUSANDS
            column.ambiguous = commas == thousands


def _settle_points(columns: Collection[TextColumn]) -> None:
    """Take points for those between thousands where the decimal mark of other columns is a comma.

    Where nothing tells, they are decimal ones, which is said where some values are whole numbers.
    """
    notations = {column.notation for column in columns}
    grouping = bool(notations & {COMMA, POINTS}) and THOUSANDS not in notations
    for column in columns:
        if column.ambiguous and column.notation == NUMBER:
            column.notation = POINTS if grouping else NUMBER
            column.ambiguous = not grouping and not all("." in text for text in column.known)


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
        if reading.misfits and reading.notation == TEXT:
            notes.append(
                f"column {quoted(name)} mixes text with numbers: taken as text because of"
                f" {reading.misfits}; correct it, or leave it empty, if numbers are meant"
            )
        elif reading.misfits:
            kind = reading.holds.removesuffix("s")
            notes.append(
                f"column {quoted(name)} holds {reading.misfits}, not a {kind}: taken as a gap"
            )
        if reading.n_marks:
            notes.append(
                f"{counted(reading.n_marks, 'gap')} in column {quoted(name)}, written"
                f" {listed(list(reading.marks))}"
            )
    return notes


def read_later(
    frame: pd.DataFrame, readings: Mapping[str, ColumnReading], decimal: str = "."
) -> tuple[pd.DataFrame, dict[str, ColumnReading]]:
    """Read columns of text as training did.

    Columns that held no text then but do now are read by their values where most are numbers or
    dates.

    Returns
    -------
    frame : pandas.DataFrame
    readings : dict of str to ColumnReading
        Of these rows, with an example of values that are not written as in Python.

    Raises
    ------
    DataError
        If more values than typing errors do not fit; a few are taken for gaps, with a warning.
    """
    columns: dict[str, TextColumn] = {}
    for name in columns_of_text(frame):
        reading = readings.get(name)
        if reading is not None and reading.holds == "text":
            continue
        column = columns[name] = TextColumn.of(frame[name])
        if reading is not None:
            column.notation = reading.notation
        elif 2 * column.choose()[0] >= (~column.marked).sum() > 0:
            del columns[name]
        elif not len(column.known):
            column.notation = NUMBER
    _settle_commas(columns.values(), decimal)
    new = {}
    for name, column in columns.items():
        new[name], misfits = column.read(column.notation)
        take_as_gaps(frame[name], misfits, ColumnReading(column.notation).holds)
    told = {
        name: ColumnReading(column.notation, column.example(), ambiguous=column.ambiguous)
        for name, column in columns.items()
    }
    return (frame.assign(**new) if new else frame), told


def take_as_gaps(column: pd.Series, places: Sequence[int] | NDArray[np.intp], holds: str) -> None:
    """Warn of places of a column that hold no numbers or dates, which are taken as gaps.

    Raises
    ------
    DataError
        If they are more than the share that training takes for typing errors. A single number may
        be wrong in any case; a single date is rather one of another form.
    """
    if not len(places):
        return
    first = first_of(column, np.asarray(places))
    if len(places) > max(holds == "numbers", TYPING_ERRORS * len(column)):
        raise DataError(
            f"Column {quoted(column.name)} held {holds} in training but holds {first}: correct"
            " these values, or leave them empty."
        )
    kind = holds.removesuffix("s")
    warnings.warn(
        f"column {quoted(column.name)} holds {first}, not a {kind}: taken as a gap", stacklevel=2
    )
