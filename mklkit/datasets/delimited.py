"""CSV and similar files; delimiter, header, encoding and decimal mark are detected."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import pandas as pd

from mklkit.errors import DataError

__all__ = [
    "DECIMAL",
    "Dialect",
    "column_names",
    "read_delimited",
    "sample_of",
    "sniff",
    "unreadable_told",
    "with_names",
]

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# pandas' own list without "None", which may be a class or category, and with UCI's question mark.
GAPS = (
    "",
    "?",
    "#N/A",
    "#NA",
    "<NA>",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "n/a",
    "nan",
    "null",
    "-NaN",
    "-nan",
)
SAMPLE_BYTES = 1 << 20
DECIMAL = "decimal mark"
# Numbers that rise this many times in a row are column names (wavelengths, years), not data.
RISING_NAMES = 6


@attrs.frozen
class Dialect:
    """The format of a delimited file."""

    delimiter: str
    encoding: str
    has_header: bool
    decimal: str
    header: list[str]
    """The cells of the first row."""
    first_row: list[str]
    """The cells of the second row, empty where there is none."""

    @property
    def ends_in_delimiter(self) -> bool:
        """Whether data rows end in a delimiter that the header lacks."""
        return len(self.first_row) == len(self.header) + 1 and self.first_row[-1] == ""

    def options(self, text_columns: Iterable[str | int] = ()) -> dict[str, Any]:
        """Return the options of ``pandas.read_csv`` that read the file, some columns as text."""
        return {
            "sep": self.delimiter,
            "header": 0 if self.has_header else None,
            "encoding": self.encoding,
            "dtype": dict.fromkeys(text_columns, str),
            "na_values": list(GAPS),
            "keep_default_na": False,
            "skipinitialspace": True,
            "low_memory": False,
            "usecols": range(len(self.header)) if self.ends_in_delimiter else None,
        }

    def notes(self) -> list[str]:
        """Return what is worth saying of the format."""
        told = []
        if self.delimiter != ",":
            told.append(f"fields separated by {DELIMITERS[self.delimiter]}")
        if self.encoding == "latin-1":
            told.append("not UTF-8: read as Latin-1")
        return told


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


def sniff(sample: bytes, name: str) -> Dialect:
    """Detect a file's format from its beginning.

    Parameters
    ----------
    sample : bytes
        The beginning of the file; its last line may be cut.
    name : str
        The name of the file in error messages.

    Returns
    -------
    Dialect

    Raises
    ------
    DataError
        If there is nothing to read, or it is not text.

    Examples
    --------
    >>> sniff(b"width;height;kind\\n1,5;2;a\\n", "cups.csv").decimal
    ','
    """
    encoding, text = _decode(sample)
    if not text.strip():
        raise DataError(f"{name} is empty: a header and at least two rows are expected.")
    if "\0" in text:
        raise DataError(f"{name} is not a text file; its ending suggests a CSV file.")
    rows = {mark: _first_rows(text, mark) for mark in DELIMITERS}
    # The delimiter that splits header and first row into most fields; by default a comma.
    best = max(DELIMITERS, key=lambda mark: min(len(row) for row in rows[mark]))
    header, first_row = rows[best][0], rows[best][1] if len(rows[best]) > 1 else []
    comma_decimal = best != "," and any(
        "," in cell and _is_number(cell.replace(",", ".")) for cell in first_row
    )
    return Dialect(
        best, encoding, not _is_data(header), "," if comma_decimal else ".", header, first_row
    )


def sample_of(path: Path) -> bytes:
    """Return the beginning of a file, gzipped or not."""
    try:
        opener = gzip.open if path.suffix.lower() == ".gz" else open
        with opener(path, "rb") as file:
            return bytes(file.read(SAMPLE_BYTES))
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path.name} can't be read: {reason}") from error


def _decode(sample: bytes) -> tuple[str, str]:
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", sample.decode("utf-16", errors="ignore")
    # The sample may end inside a character.
    for cut in range(4):
        try:
            return "utf-8-sig", sample[: len(sample) - cut].decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
    return "latin-1", sample.decode("latin-1")


def _first_rows(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    found: list[list[str]] = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                found.append([cell.strip() for cell in row])
            if len(found) == 2:
                break
    except csv.Error:
        # A field exceeds csv's limit, so this is not the delimiter.
        return [[""]]
    return found or [[""]]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_data(first: list[str]) -> bool:
    """Return whether the first row holds data rather than names.

    It does if at least half its cells are numbers, unless these count columns (0, 1, 2, as written
    by pandas) or increase over many columns (wavelengths, years).
    """
    numbers = [float(cell) for cell in first if _is_number(cell)]
    if not numbers or 2 * len(numbers) < sum(cell != "" for cell in first):
        return False
    steps = [b - a for a, b in pairwise(numbers)]
    counting = bool(steps) and numbers[0] in (0.0, 1.0) and all(step == 1 for step in steps)
    rising = len(steps) >= RISING_NAMES and all(step > 0 for step in steps)
    return not (counting or rising)


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
