"""CSV and similar files; delimiter, header, encoding and decimal mark are detected."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs
import pandas as pd

from mklkit.datasets.dialects import Dialect, sample_of, sniff
from mklkit.errors import DataError

__all__ = [
    "DECIMAL",
    "column_names",
    "read_delimited",
    "unreadable_told",
    "with_names",
]

DECIMAL = "decimal mark"


def read_delimited(path: Path, as_text: Sequence[str] = ()) -> tuple[pd.DataFrame, list[str]]:
    """Read a CSV file, gzipped or not.

    Parameters
    ----------
    path : pathlib.Path
        The file. Fields are separated by comma, semicolon, tab or bar.
    as_text : sequence of str, optional
        Columns to leave as text, as 1.397 may mean 1397 in them.

    Returns
    -------
    frame : pandas.DataFrame
        Columns under unique names; ``x0``, ``x1``, … where the file has no header. Numbers that
        are not in Python's notation are still text.
    notes : list of str
        What was detected: no header, renamed columns, columns left out.

    Raises
    ------
    DataError
        If the file is empty or its rows can't be separated.
    """
    dialect = sniff(sample_of(path), path.name)
    # Without a header pandas knows columns by their places.
    text_columns: list[str | int] = list(as_text)
    if not dialect.has_header:
        text_columns = [int(name[1:]) for name in as_text if name[1:].isdigit()]
    with unreadable_told(path):
        try:
            frame = pd.read_csv(path, **dialect.options(text_columns))
        except UnicodeDecodeError:
            if dialect.encoding != "utf-8-sig":
                raise
            # What is no UTF-8 may stand after the sample.
            dialect = attrs.evolve(dialect, encoding="latin-1")
            frame = pd.read_csv(path, **dialect.options(text_columns))
    notes = dialect.notes()
    frame = _tidy(frame, dialect, notes)
    # For the reader of text columns: the meaning of a comma, if nothing else determines it.
    frame.attrs[DECIMAL] = dialect.decimal
    return frame, notes


@contextmanager
def unreadable_told(path: Path) -> Iterator[None]:
    """Turn errors of pandas' parser, and of the system, into a ``DataError``."""
    try:
        yield
    except DataError:
        raise
    except (ValueError, OSError, EOFError, zlib.error) as error:
        # pandas' parser errors are ValueErrors; "C error: " does not help a user.
        reason = str(error).replace("Error tokenizing data. C error: ", "").strip()
        raise DataError(f"{path.name} can't be read as CSV: {reason}") from error


def _tidy(frame: pd.DataFrame, dialect: Dialect, notes: list[str]) -> pd.DataFrame:
    """Name the columns, and leave out those that only number or pad the rows."""
    if not isinstance(frame.index, pd.RangeIndex):
        notes.append("first column left out: it has no name, so it is taken for row names")
        frame = frame.reset_index(drop=True)
    return with_names(frame, column_names(frame, dialect, notes))


def with_names(frame: pd.DataFrame, names: Sequence[str | None]) -> pd.DataFrame:
    """Return the columns that have a name in the list, by their places, under these names."""
    kept = [place for place, name in enumerate(names) if name is not None]
    if len(kept) < frame.shape[1]:
        frame = frame.iloc[:, kept]
    return frame.set_axis([names[place] for place in kept], axis=1)


def column_names(frame: pd.DataFrame, dialect: Dialect, notes: list[str]) -> list[str | None]:
    """Return the name of each column as pandas reads it, None for those to leave out."""
    if not dialect.has_header:
        notes.append(f"no header row: columns named x0 to x{frame.shape[1] - 1}")
        return [f"x{i}" for i in range(frame.shape[1])]
    repeated = [n for n in dict.fromkeys(dialect.header) if n and dialect.header.count(n) > 1]
    for name in repeated:
        notes.append(f"{dialect.header.count(name)} columns are named {name!r}: numbered apart")
    stripped = [str(name).strip() for name in frame.columns]
    unique = len(set(stripped)) == len(stripped)
    names: list[str | None] = [*(stripped if unique else map(str, frame.columns))]
    for place, found in enumerate(names):
        if found is None or not found.startswith("Unnamed: "):
            continue
        if frame.iloc[:, place].isna().all():
            names[place] = None
        elif _counts_rows(frame.iloc[:, place]):
            notes.append("column without a name left out: it numbers the rows")
            names[place] = None
    return names


def _counts_rows(column: pd.Series) -> bool:
    if not pd.api.types.is_integer_dtype(column) or column.empty:
        return False
    return bool((column.diff().iloc[1:] == 1).all()) and int(column.iloc[0]) in (0, 1)
