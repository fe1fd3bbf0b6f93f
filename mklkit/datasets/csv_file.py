"""CSV and similar files, with detection of what cells mean; and tables written as CSV."""

from __future__ import annotations

import codecs
import gzip
import re
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets.dialects import Dialect, sample_of, sniff
from mklkit.datasets.notations import COMMA, meanings, points_may_group
from mklkit.datasets.paths import readable_as
from mklkit.views.stored_rows import Signature, signature_of

HEAD_ROWS = (50, 1000)
HEAD_CELLS = 100_000
LEAST_DIGIT = 1e-6
"""Of 1000 times a number: smaller differences are of rounding, not of a fourth decimal."""
TRUTH_VALUES = {"True", "TRUE", "true", "False", "FALSE", "false"}
# In memory, text takes a Python object per cell, a number eight bytes.
TEXT_BYTES, NUMBER_BYTES = 64, 8
GZIP_RATIO = 5
LATIN_1 = "mklkit-latin-1"
# A single sign, a common name of a class, is not a formula.
FORMULA = re.compile(r"[=+\-@\t\n].", re.DOTALL)
NO_FORMULA = re.compile(r"[+-]?(inf(inity)?|nan|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)", re.IGNORECASE)


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are not UTF-8, perhaps far into the file, as Latin-1."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(LATIN_1, _as_latin_1)


@attrs.frozen(eq=False)
class CSVFile:
    """A file of delimited text.

    ``names`` has the name of each column, None for those that only number or pad the rows, and
    ``raw_names`` their names in pandas. Columns in ``text`` are read as text, since in the first
    rows they hold text, or numbers such as 1.470, whose points may separate thousands.
    """

    path: Path
    dialect: Dialect
    names: list[str | None]
    raw_names: list[Any]
    text: set[str]
    notes: list[str]
    signature: Signature
    bytes_in_memory: int
    kinds: ClassVar[dict[str, str]] = {}
    """Empty: the kinds of values are known only when all have been read."""
    labels: ClassVar[list[str]] = []

    @classmethod
    def opened(cls, path: Path) -> Self:
        """Read the beginning of a file to detect its format, names and columns of text."""
        signature, beginning = signature_of(path), sample_of(path)
        dialect = sniff(beginning, path.name)
        notes = dialect.notes()
        fewest, most = HEAD_ROWS
        n_rows = min(most, max(fewest, HEAD_CELLS // len(dialect.header)))
        with readable_as(path, "CSV"):
            head = pd.read_csv(path, nrows=n_rows, **_options(dialect, None)).copy()
            labeled = dialect.labels_rows or not isinstance(head.index, pd.RangeIndex)
            places = np.flatnonzero(_may_be_text(head)).tolist()
            if places and not (labeled or dialect.padded):
                options = {**_options(dialect, str), "usecols": places}
                written = pd.read_csv(path, nrows=n_rows, **options)
                head[head.columns[places]] = written.to_numpy(object)
            elif places:  # Positions would count labels of rows, and delimiters at their ends.
                as_text = dict.fromkeys(head.columns[places], str)
                head = pd.read_csv(path, nrows=n_rows, **_options(dialect, as_text))
        if labeled:
            notes.append("first column dropped: it has no name, so it is read as row names")
        names = _column_names(head, dialect, notes)
        text = _columns_of_text(_with_names(head, names), dialect)
        size = path.stat().st_size * (GZIP_RATIO if _is_packed(path) else 1)
        all_rows = size * max(1, beginning.count(b"\n")) / len(beginning)
        row_bytes = TEXT_BYTES * len(text) + NUMBER_BYTES * (len(names) - len(text))
        return cls(path, dialect, names, [*head], text, notes, signature, int(all_rows * row_bytes))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [name for name in self.names if name is not None]

    @property
    def decimal(self) -> str:
        """The decimal mark."""
        return self.dialect.decimal

    def chunks(
        self, rows: int | None, columns: Sequence[str] | None, as_text: Collection[str]
    ) -> Generator[tuple[pd.DataFrame, int]]:
        """Yield some rows, or all at once, and how many bytes of the file have been read.

        ``as_text`` has names or globs of further columns that stay text.
        """
        wanted = None if columns is None else {*columns}
        names = [None if wanted is not None and n not in wanted else n for n in self.names]
        plain = {*as_text}
        globs = [glob for glob in as_text if has_magic(glob)]
        text = [
            raw
            for raw, name in zip(self.raw_names, self.names, strict=True)
            if name in self.text
            or name in plain
            or any(fnmatchcase(str(name), glob) for glob in globs)
        ]
        options = _options(self.dialect, dict.fromkeys(text, str))
        with readable_as(self.path, "CSV"), self.path.open("rb") as file:
            source: Any = gzip.GzipFile(fileobj=file) if _is_packed(self.path) else file
            with pd.read_csv(source, iterator=True, chunksize=rows, **options) as chunks:
                for chunk in chunks:
                    # A copy has one array for all numbers, and not one for each column.
                    frame = chunk.copy()
                    del chunk
                    frame.index = pd.RangeIndex(len(frame))
                    yield _with_names(frame, names), file.tell()


def _options(dialect: Dialect, dtype: Any) -> dict[str, Any]:
    return {**dialect.options(), "dtype": dtype, "encoding_errors": LATIN_1}


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _with_names(frame: pd.DataFrame, names: Sequence[str | None]) -> pd.DataFrame:
    """Return the columns with a name in the list, by position, under these names."""
    kept = [place for place, name in enumerate(names) if name is not None]
    frame = frame.iloc[:, kept] if len(kept) < frame.shape[1] else frame.copy(deep=False)
    frame.columns = [names[place] for place in kept]
    return frame


def _column_names(head: pd.DataFrame, dialect: Dialect, notes: list[str]) -> list[str | None]:
    if not dialect.has_header:
        notes.append(f"no header row: columns named x0 to x{head.shape[1] - 1}")
        return [f"x{i}" for i in range(head.shape[1])]
    for cell, count in Counter(dialect.header).items():
        if cell and count > 1:
            notes.append(f"{count} columns are named {cell!r}: numbers added")
    stripped = [str(name).strip() for name in head.columns]
    unique = len(set(stripped)) == len(stripped)
    names: list[str | None] = [*(stripped if unique else map(str, head.columns))]
    for place, name in enumerate(names):
        if not str(name).startswith("Unnamed: "):
            continue
        column = head.iloc[:, place]
        if _counts_rows(column):
            notes.append("column without a name dropped: it numbers the rows")
            names[place] = None
        elif column.isna().all():
            names[place] = None
    return names


def _counts_rows(column: pd.Series) -> bool:
    numbers = pd.to_numeric(column, errors="coerce")
    first = int(numbers.iloc[0]) if len(numbers) and numbers.notna().all() else -1
    return first in (0, 1) and bool((numbers - first == np.arange(len(numbers))).all())


def _may_be_text(head: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which columns may hold text, by what pandas reads; the others hold numbers.

    Points may separate thousands in numbers that are whole, or have at most three decimals and are
    from 1 to 1000. Tables may be very wide, and text takes an object a cell.
    """
    kinds = np.array([kind.kind for kind in head.dtypes], str)
    numbers = head.loc[:, kinds == "f"].to_numpy()
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.abs(numbers)
        short = np.abs(size * 1000 - np.rint(size * 1000)) < LEAST_DIGIT
        grouped = (size >= 1) & (size < 1000) & short
    gaps = np.isnan(numbers)
    maybe = ~np.isin(kinds, ["i", "u"])
    maybe[kinds == "f"] = (grouped | (numbers == np.rint(numbers)) | gaps).all(axis=0)
    maybe[kinds == "f"] &= ~gaps.all(axis=0)
    return maybe


def _columns_of_text(head: pd.DataFrame, dialect: Dialect) -> set[str]:
    """Return the columns of text among the first rows, in which others are numbers already."""
    kinds = np.array([kind.kind for kind in head.dtypes], str)
    whole = [str(name) for name in head.columns[np.isin(kinds, ["i", "u"])]]
    head = head.loc[:, ~np.isin(kinds, ["i", "u", "f"])]
    # All cells at once, since a call for each of thousands of columns takes longer than reading.
    cells = head.to_numpy(object)
    known = head.notna().to_numpy(bool)
    numbers = np.full(cells.shape, np.nan)
    numbers[known] = pd.to_numeric(pd.Series(cells[known], dtype=object), errors="coerce")
    names = [str(name) for name in head.columns]
    odd = np.flatnonzero((known & np.isnan(numbers)).any(axis=0)).tolist()
    text = {
        names[n]: cells[known[:, n], n] for n in odd if not {*cells[known[:, n], n]} <= TRUTH_VALUES
    }
    commas = dialect.decimal == "," or any(
        meanings(COMMA, [value for value in values[:20] if "," in value]).notna().any()
        for values in text.values()
    )
    others = [place for place, name in enumerate(names) if name not in text]
    grouped = (
        names[place]
        for place in others
        if points_may_group(cells[known[:, place], place], pointed=not commas)
    )
    # Among numbers with commas, points separate thousands, and whole numbers may lack them.
    return {*text, *grouped, *(whole if commas else ())}


@contextmanager
def writing(
    file: BinaryIO, name: str = "", shown: Callable[[str], str] = str
) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Give a function that writes more rows; ``shown`` changes the text before it is written.

    The name decides, as in reading, whether tabs separate the cells (``.tsv``) and whether the
    file is compressed (``.gz``).
    """
    path = Path(name.lower())
    begun = False
    delimiter = "\t" if path.name.removesuffix(".gz").endswith(".tsv") else ","

    def write(table: pd.DataFrame) -> None:
        nonlocal begun
        target.write(shown(csv_text(table, not begun, delimiter)).encode())
        begun = True

    # Without a name and a time, the same rows give the same bytes.
    packing: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if _is_packed(path) else None
    with packing or nullcontext(file) as target:
        yield write


def csv_text(table: pd.DataFrame, header: bool = True, delimiter: str = ",") -> str:
    """Return a table as CSV, with an apostrophe before text that a spreadsheet would run."""
    # By position, since two columns may have the same name.
    safe = table.set_axis(range(table.shape[1]), axis=1)
    for place in safe:
        if safe[place].dtype.kind == "O":
            safe[place] = safe[place].map(_cell)
    names = [_cell(name) for name in table] if header else False
    return safe.to_csv(index=False, header=names, sep=delimiter)


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # Python 3.11 does not quote a carriage return, which ends a row in a spreadsheet.
    text = re.sub("\r\n?", "\n", value)
    return f"'{text}" if FORMULA.match(text) and not NO_FORMULA.fullmatch(text) else text
