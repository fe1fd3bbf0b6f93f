"""How the columns of text of a table are read: settled once, and the same for later rows."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping

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

__all__ = ["notes_on", "read_as_text", "read_later", "settle_readings", "take_as_gaps"]


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
    """Read columns of text as numbers or dates where their values are, and return how.

    ``decimal`` is the decimal mark, if a column and the others do not determine it, and ``marks``
    those for a gap, in lower case; with fewer than usual a column has to be of numbers throughout.
    Columns that are ``written`` stay so.

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
    columns = {
        str(name): TextColumn.of(column, marks)
        for name, column in frame.items()
        if name not in written and is_text(column)
    }
    for column in columns.values():
        column.settle(tolerant=marks is GAP_MARKS)
    _settle_commas(columns.values(), decimal)
    _settle_points(columns.values())
    new = {name: column.read()[0] for name, column in columns.items() if column.notation != TEXT}
    readings = {name: column.reading() for name, column in columns.items()}
    frame = frame.assign(**new) if new else frame
    return frame, readings | {name: ColumnReading(WRITTEN) for name in written}


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
        column = f"column {quoted(name)}"
        if reading.misfits and reading.holds == "text":
            notes.append(
                f"{column} mixes text with numbers: taken as text because of {reading.misfits};"
                " correct it, or leave it empty, if numbers are meant"
            )
        elif reading.misfits:
            notes.append(_misfit(column, reading.misfits, reading.holds))
        if reading.n_marks:
            gaps, marks = counted(reading.n_marks, "gap"), listed(list(reading.marks))
            notes.append(f"{gaps} in {column}, written {marks}")
    return notes


def read_later(
    frame: pd.DataFrame, readings: Mapping[str, ColumnReading], decimal: str = "."
) -> tuple[pd.DataFrame, dict[str, ColumnReading]]:
    """Read columns of text as training did, and return how.

    Columns that held no text then but do now are read by their values where most are numbers or
    dates.

    Raises
    ------
    DataError
        If more values than typing errors do not fit; a few are taken for gaps, with a warning.
    """
    columns: dict[str, TextColumn] = {}
    for name in map(str, frame.columns):
        reading = readings.get(name)
        if (reading is not None and reading.holds == "text") or not is_text(frame[name]):
            continue
        column = TextColumn.of(
            frame[name], notation=NUMBER if reading is None else reading.notation
        )
        if reading is None and len(column.known):
            n_misfits, _ = column.choose()
            if 2 * n_misfits >= (~column.missing).sum():
                continue
        columns[name] = column
    _settle_commas(columns.values(), decimal)
    new, told = {}, {}
    for name, column in columns.items():
        new[name], misfits = column.read()
        told[name] = ColumnReading(column.notation, column.example(), ambiguous=column.ambiguous)
        take_as_gaps(frame[name], misfits, told[name].holds)
    return (frame.assign(**new) if new else frame), told


def take_as_gaps(column: pd.Series, places: NDArray[np.intp], holds: str) -> None:
    """Warn of places of a column that hold no numbers or dates, which are taken as gaps.

    Raises
    ------
    DataError
        If they are more than the share that training takes for typing errors. A single number may
        be wrong in any case; a single date is rather one of another form.
    """
    if not len(places):
        return
    first = first_of(column, places)
    if len(places) > max(holds == "numbers", TYPING_ERRORS * len(column)):
        raise DataError(
            f"Column {quoted(column.name)} held {holds} in training but holds {first}: correct"
            " these values, or leave them empty."
        )
    warnings.warn(_misfit(f"column {quoted(column.name)}", first, holds), stacklevel=2)


def _misfit(column: str, misfits: str, holds: str) -> str:
    return f"{column} holds {misfits}, not a {holds.removesuffix('s')}: taken as a gap"
