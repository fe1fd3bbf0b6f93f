"""CSV and Parquet files that are read in chunks of rows."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pandas as pd

from mklkit.datasets.delimited import column_names, unreadable_told, with_names
from mklkit.datasets.dialects import Dialect, sample_of, sniff
from mklkit.datasets.files import refuse_nested, refuse_repeated
from mklkit.errors import DataError, plain_message
from mklkit.views.stored_rows import Signature, signature_of

__all__ = ["CSVFile", "ChunkFile", "EncodingError", "ParquetFile"]

# Of a table in memory: text takes a Python object a cell, numbers eight bytes.
TEXT_BYTES, NUMBER_BYTES = 64, 8
GZIP_RATIO = 5
COLUMN_BUFFER = 1 << 20


class EncodingError(Exception):
    """What is no UTF-8 stands after the part of a file from which its encoding was detected."""


@attrs.define(eq=False)
class CSVFile:
    """A file of delimited text."""

    path: Path
    dialect: Dialect
    names: list[str | None]
    """The names of the columns by their places in pandas; None for those that are left out."""
    raw_names: list[Any]
    notes: list[str]
    signature: Signature
    bytes_in_memory: int

    @classmethod
    def opened(cls, path: Path, rows: int) -> CSVFile:
        """Read the beginning of a file, with at most so many rows, for its format and names."""
        signature, beginning = signature_of(path), sample_of(path)
        dialect = sniff(beginning, path.name)
        return cls._with(path, dialect, signature, _size_in_memory(path, beginning, dialect), rows)

    @classmethod
    def _with(
        cls, path: Path, dialect: Dialect, signature: Signature, size: int, rows: int
    ) -> CSVFile:
        notes = dialect.notes()
        with unreadable_told(path):
            try:
                first = pd.read_csv(path, nrows=rows, **dialect.options())
            except UnicodeDecodeError:
                if dialect.encoding != "utf-8-sig":
                    raise
                dialect = attrs.evolve(dialect, encoding="latin-1")
                return cls._with(path, dialect, signature, size, rows)
        if not isinstance(first.index, pd.RangeIndex):
            notes.append("first column left out: it has no name, so it is taken for row names")
        names = column_names(first, dialect, notes)
        return cls(path, dialect, names, list(first.columns), notes, signature, size)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [name for name in self.names if name is not None]

    @property
    def kinds(self) -> dict[str, str]:
        """Nothing: the kinds of values are known when all have been read."""
        return {}

    def chunks(
        self, rows: int, columns: Sequence[str] | None, as_text: Collection[str]
    ) -> Iterator[tuple[pd.DataFrame, int]]:
        """Yield some rows, and how many bytes of the file have been read.

        Raises
        ------
        EncodingError
            If the file is no UTF-8 after all; it is read as Latin-1 from now on.
        """
        names = [None if columns is not None and n not in columns else n for n in self.names]
        text = [
            raw for raw, n in zip(self.raw_names, self.names, strict=True) if n in as_text and n
        ]
        options = self.dialect.options(text)
        with unreadable_told(self.path), self.path.open("rb") as file:
            packed = self.path.suffix.lower() == ".gz"
            source: Any = gzip.GzipFile(fileobj=file) if packed else file
            try:
                for chunk in pd.read_csv(source, chunksize=rows, **options):
                    yield with_names(chunk.reset_index(drop=True), names), file.tell()
            except UnicodeDecodeError as error:
                if self.dialect.encoding != "utf-8-sig":
                    raise
                self.dialect = attrs.evolve(self.dialect, encoding="latin-1")
                self.notes.extend(n for n in self.dialect.notes() if n not in self.notes)
                raise EncodingError from error


@attrs.define(eq=False)
class ParquetFile:
    """A Parquet file; needs pyarrow."""

    path: Path
    schema: Any
    columns: list[str]
    n_rows: int
    signature: Signature
    notes: list[str] = attrs.field(factory=list)

    @classmethod
    def opened(cls, path: Path) -> ParquetFile:
        """Read a file's schema."""
        signature = signature_of(path)
        with _told(path):
            import pyarrow.parquet as pq

            with pq.ParquetFile(path) as file:
                schema, n_rows = file.schema_arrow, file.metadata.num_rows
            refuse_repeated(schema.names, path.name)
            # Without those that pandas wrote as the labels of rows.
            columns = [str(name) for name in schema.empty_table().to_pandas().columns]
        return cls(path, schema, columns, n_rows, signature)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column's values; numbers are one kind, whatever their size."""
        return {name: _kind(self.schema.field(name).type) for name in self.columns}

    @property
    def bytes_in_memory(self) -> int:
        """About how much memory the whole table takes."""
        kinds = self.kinds.values()
        widths = [NUMBER_BYTES if kind == "numbers" else TEXT_BYTES for kind in kinds]
        return self.n_rows * sum(widths)

    def chunks(
        self, rows: int, columns: Sequence[str] | None, as_text: Collection[str]
    ) -> Iterator[tuple[pd.DataFrame, int]]:
        """Yield some rows, and how many bytes of the file have been read."""
        wanted = [n for n in self.columns if columns is None or n in columns]
        done = 0
        with _told(self.path):
            import pyarrow as pa
            import pyarrow.parquet as pq

            # Without a buffer a whole row group is read at once, which may be the whole file.
            with pq.ParquetFile(self.path, buffer_size=COLUMN_BUFFER, pre_buffer=False) as file:
                for batch in file.iter_batches(rows, columns=wanted, use_threads=False):
                    # Text is decoded on access only, so damaged text would be detected too late.
                    batch.validate(full=True)
                    frame = pa.Table.from_batches([batch]).to_pandas()
                    frame = frame.reset_index(drop=True)
                    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
                    refuse_nested(frame, self.path.name)
                    done += len(frame)
                    yield frame[wanted], self.signature[0] * done // max(1, self.n_rows)


ChunkFile = CSVFile | ParquetFile
"""A file whose rows are read in chunks."""


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn errors of the Parquet reader into a ``DataError``."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise DataError(
            f"Reading {path.name} needs pyarrow: pip install pyarrow, or save as CSV."
        ) from error
    try:
        yield
    except DataError:
        raise
    except (ValueError, OSError, TypeError, KeyError, pa.ArrowException) as error:
        raise DataError(f"{path.name} can't be read as Parquet: {plain_message(error)}") from error


def _kind(found: Any) -> str:
    """Return the kind of an Arrow type's values, in words."""
    from pyarrow import types

    if types.is_dictionary(found):
        return _kind(found.value_type)
    if types.is_integer(found) or types.is_floating(found) or types.is_decimal(found):
        return "numbers"
    if types.is_string(found) or types.is_large_string(found) or types.is_string_view(found):
        return "text"
    if types.is_timestamp(found) or types.is_date(found):
        return "dates"
    if types.is_null(found):
        return ""
    return "truth values" if types.is_boolean(found) else str(found)


def _size_in_memory(path: Path, beginning: bytes, dialect: Dialect) -> int:
    """Estimate the memory of a table from the length of its first lines."""
    size = path.stat().st_size * (GZIP_RATIO if path.suffix.lower() == ".gz" else 1)
    per_row = len(beginning) / max(1, beginning.count(b"\n"))
    numeric = sum(_is_number(cell) for cell in dialect.first_row)
    text = len(dialect.first_row) - numeric
    return int(size / per_row * (NUMBER_BYTES * numeric + TEXT_BYTES * text))


def _is_number(cell: str) -> bool:
    try:
        float(cell or "nan")
    except ValueError:
        return False
    return True
