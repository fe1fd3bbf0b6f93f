"""The format of a delimited file, detected from its beginning, without importing pandas."""

from __future__ import annotations

import csv
import gzip
import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from mklkit.datasets.paths import readable_as
from mklkit.errors import DataError

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# pandas' own list without "None", which may be a class or category, and with UCI's question mark.
GAPS = ("", *"? #N/A #NA <NA> N/A NA NULL NaN n/a nan null -NaN -nan".split())  # noqa: SIM905
SAMPLE_BYTES = 1 << 20
# Numbers that rise this many times in succession are column names (wavelengths, years), not data.
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
    """The cells of the second row, empty if there is none."""

    @property
    def padded(self) -> bool:
        """Whether data rows end in a delimiter that the header lacks."""
        return len(self.first_row) == len(self.header) + 1 and self.first_row[-1] == ""

    @property
    def labels_rows(self) -> bool:
        """Whether data rows begin with cells that the header has no name for, as pandas reads."""
        return len(self.first_row) > len(self.header) and not self.padded

    def options(self) -> dict[str, Any]:
        """Return the options of ``pandas.read_csv`` that read the file."""
        return {
            "sep": self.delimiter,
            "header": 0 if self.has_header else None,
            "encoding": self.encoding,
            "na_values": list(GAPS),
            "keep_default_na": False,
            "skipinitialspace": True,
            "low_memory": False,
            "usecols": range(len(self.header)) if self.padded else None,
        }

    def notes(self) -> list[str]:
        """Return notes on the format."""
        notes = []
        if self.delimiter != ",":
            notes.append(f"fields separated by {DELIMITERS[self.delimiter]}")
        if self.encoding == "latin-1":
            notes.append("not UTF-8: read as Latin-1")
        return notes


def sniff(sample: bytes, name: str) -> Dialect:
    """Detect a file's format from its beginning, whose last line may be cut."""
    encoding, text = _decode(sample)
    if not text.strip():
        raise DataError(f"{name} is empty: expected a header and at least two rows.")
    if "\0" in text:
        raise DataError(f"{name} is not a text file, but its extension suggests CSV.")
    rows = {mark: _first_rows(text, mark) for mark in DELIMITERS}
    # The delimiter that splits header and first row into most fields; by default a comma.
    best = max(DELIMITERS, key=lambda mark: min(len(row) for row in rows[mark]))
    header = rows[best][0]
    first_row = rows[best][1] if len(rows[best]) > 1 else []
    comma_decimal = best != "," and any(
        "," in cell and _is_number(cell.replace(",", ".")) for cell in first_row
    )
    return Dialect(
        best, encoding, not _is_data(header), "," if comma_decimal else ".", header, first_row
    )


def sample_of(path: Path) -> bytes:
    """Return the beginning of a file, gzipped or not."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    with readable_as(path, "CSV"), opener(path, "rb") as file:
        return bytes(file.read(SAMPLE_BYTES))


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
    rows: list[list[str]] = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append([cell.strip() for cell in row])
            if len(rows) == 2:
                break
    except csv.Error:
        # A field exceeds csv's limit, so this is not the delimiter.
        return [[""]]
    return rows or [[""]]


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


def columns_in(path: Path) -> list[str]:
    """Return the names of the columns from the first line of a file."""
    dialect = sniff(sample_of(path), path.name)
    if not dialect.has_header:
        return [f"x{place}" for place in range(len(dialect.header))]
    return list(dict.fromkeys(name for name in dialect.header if name))
