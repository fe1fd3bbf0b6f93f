"""Parquet files, whole or some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Self

import attrs
import numpy as np
import pandas as pd

from mklkit.datasets.columns import check_names
from mklkit.datasets.csv_file import NUMBER_BYTES, TEXT_BYTES
from mklkit.datasets.paths import readable_as
from mklkit.errors import DataError
from mklkit.views.stored_rows import Signature, signature_of

COLUMN_BUFFER = 1 << 20
WHOLE_BYTES = 1 << 28
"""Wide tables up to this size are read whole: rows of thousands of columns take more memory."""
BLOCK_COLUMNS = 10_000
"""The columns of a whole file that are read at a time."""


@attrs.frozen(eq=False)
class ParquetFile:
    """A Parquet file; needs pyarrow."""

    path: Path
    columns: list[str]
    kinds: dict[str, str]
    """The kind of each column's values; numbers are one kind, whatever their size."""
    n_rows: int
    signature: Signature
    notes: list[str] = attrs.field(factory=list)
    text: frozenset[str] = frozenset()
    decimal: None = None
    labels: list[str] = attrs.field(factory=list)
    """The names of the labels of rows that pandas wrote, which are no columns but can be read."""
    ranges: dict[str, tuple[int, int]] = attrs.field(factory=dict)
    """The first number and the step of labels that count rows, which the file has no values of."""

    @classmethod
    def opened(cls, path: Path) -> Self:
        """Read a file's schema."""
        signature = signature_of(path)
        with readable_by_arrow(path):
            import pyarrow.parquet as pq

            with pq.ParquetFile(path) as file:
                schema, n_rows = file.schema_arrow, file.metadata.num_rows
            check_names(schema.names, path.name)
            written = (schema.pandas_metadata or {}).get("index_columns", ())
            ranges = {
                each["name"]: (each["start"], each["step"])
                for each in written
                if isinstance(each, dict) and _is_name(each.get("name"))
            }
            labels = [*ranges, *filter(_is_name, written)]
            columns = [name for name in schema.names if name not in labels]
            types = {field.name: field.type for field in schema}
            kind_of = {values: _kind(values) for values in {*types.values()}}
            kinds = {name: kind_of[types[name]] for name in columns}
        return cls(path, columns, kinds, n_rows, signature, labels=labels, ranges=ranges)

    @property
    def bytes_in_memory(self) -> int:
        """The approximate memory of the whole table."""
        widths = (NUMBER_BYTES if kind == "numbers" else TEXT_BYTES for kind in self.kinds.values())
        return self.n_rows * sum(widths)

    def chunks(
        self, rows: int | None, columns: Sequence[str] | None, as_text: Collection[str]
    ) -> Generator[tuple[pd.DataFrame, int]]:
        """Yield some rows, or all at once, and how many bytes of the file have been read."""
        names = {*self.columns} if columns is None else {*columns}
        wanted = [name for name in [*self.labels, *self.columns] if name in names]
        stored = [name for name in wanted if name not in self.ranges]
        n_before = 0
        for frame, n_bytes in self._stored(rows, stored) if stored else self._empty(rows):
            counts = n_before + np.arange(len(frame))
            n_before += len(frame)
            for name, (start, step) in self.ranges.items():
                if name in names:
                    frame.insert(0, name, start + step * counts)
            yield frame, n_bytes

    def _empty(self, rows: int | None) -> Iterator[tuple[pd.DataFrame, int]]:
        """Yield rows without columns, as :meth:`chunks` does."""
        size = max(1, self.n_rows if rows is None else rows)
        for start in range(0, max(1, self.n_rows), size):
            done = min(self.n_rows, start + size)
            frame = pd.DataFrame(index=pd.RangeIndex(done - start))
            yield frame, self.signature[0] * done // max(1, self.n_rows)

    def _stored(self, rows: int | None, wanted: list[str]) -> Generator[tuple[pd.DataFrame, int]]:
        """Yield rows of columns that the file has, as :meth:`chunks` does."""
        done = 0
        if rows is None or self._is_wide(wanted):
            frame = self._whole(wanted)
            step = max(1, len(frame)) if rows is None else rows
            for start in range(0, max(1, len(frame)), step):
                part = frame.iloc[start : start + step]
                done += len(part)
                yield part, self.signature[0] * done // max(1, self.n_rows)
            return
        with readable_by_arrow(self.path):
            import pyarrow as pa
            import pyarrow.parquet as pq

            # Without a buffer a whole row group is read at once, which may be the whole file.
            with pq.ParquetFile(self.path, buffer_size=COLUMN_BUFFER, pre_buffer=False) as file:
                for batch in file.iter_batches(rows, columns=wanted, use_threads=False):
                    frame = frame_of(pa.Table.from_batches([batch]), wanted)
                    done += len(frame)
                    yield frame, self.signature[0] * done // max(1, self.n_rows)
            # Arrow keeps a hundred megabytes for later batches, which a limit on memory counts.
            pa.default_memory_pool().release_unused()

    def _is_wide(self, columns: Sequence[str]) -> bool:
        """Return whether some columns fit into memory, and rows of them are read slowly."""
        size = self.bytes_in_memory * len(columns) // max(1, len(self.columns))
        return len(columns) > BLOCK_COLUMNS and size < WHOLE_BYTES

    def _whole(self, columns: list[str]) -> pd.DataFrame:
        """Return all rows of some columns."""
        with readable_by_arrow(self.path):
            import pyarrow as pa
            import pyarrow.parquet as pq

            # Arrow takes a multiple of the memory of the values for thousands of columns.
            with pq.ParquetFile(self.path, pre_buffer=False) as file:
                frames = []
                for start in range(0, max(1, len(columns)), BLOCK_COLUMNS):
                    block = columns[start : start + BLOCK_COLUMNS]
                    frames.append(frame_of(file.read(columns=block), block))
                    pa.default_memory_pool().release_unused()
        return frames[0] if len(frames) == 1 else pd.concat(frames, axis=1)


def columns_in(path: Path) -> list[str]:
    """Return the names of the columns of a file."""
    from pyarrow.parquet import read_schema

    return [str(column) for column in read_schema(path).names]


@contextmanager
def writing(file: BinaryIO, _name: str = "") -> Iterator[Callable[[pd.DataFrame], None]]:
    """Give a function that writes more rows of the same columns."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise DataError("Parquet needs pyarrow: pip install pyarrow, or write CSV.") from error
    with writing_arrow(partial(pq.ParquetWriter, file)) as write:
        yield write


@contextmanager
def writing_arrow(writer_of: Callable[[Any], Any]) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Give a function that writes more rows with a writer of Arrow's, made of the first schema."""
    import pyarrow as pa

    writer: Any = None
    schema: Any = None

    def write(table: pd.DataFrame) -> None:
        nonlocal writer, schema
        rows = pa.Table.from_pandas(table, preserve_index=False)
        if writer is None:
            schema = rows.schema
            writer = writer_of(schema)
        writer.write_table(rows.cast(schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def frame_of(table: Any, columns: list[str]) -> pd.DataFrame:
    """Return these columns of an Arrow table, under names of text, with rows numbered from 0.

    They may be labels of rows that pandas wrote.
    """
    # Text is decoded only on access, so damaged text would be detected too late.
    table.validate(full=True)
    frame: pd.DataFrame = table.to_pandas()
    labels = [name for name in frame.index.names if name in columns and name not in frame]
    frame = frame.reset_index(level=labels) if labels else frame
    frame.index = pd.RangeIndex(len(frame))
    frame.columns = pd.Index([str(name) for name in frame.columns])
    # A choice of columns copies them.
    return frame if [*frame.columns] == columns else frame[columns]


def _is_name(label: Any) -> bool:
    return isinstance(label, str)


@contextmanager
def readable_by_arrow(path: Path, kind: str = "Parquet") -> Iterator[None]:
    """Turn errors of Arrow's reader of a kind of file, or its absence, into a ``DataError``."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise DataError(
            f"Reading {path.name} needs pyarrow: pip install pyarrow, or save as CSV."
        ) from error
    with readable_as(path, kind):
        yield


def _kind(values: Any) -> str:
    """Return the kind of an Arrow type's values, in words; empty if it has none."""
    from pyarrow import types

    if types.is_dictionary(values):
        return _kind(values.value_type)
    kinds = {
        "numbers": (types.is_integer, types.is_floating, types.is_decimal),
        "text": (types.is_string, types.is_large_string, types.is_string_view),
        "dates": (types.is_timestamp, types.is_date),
        "truth values": (types.is_boolean,),
        "": (types.is_null,),
        "records": (types.is_struct, types.is_map),
        "lists": (types.is_nested,),
    }
    matching = (kind for kind, tests in kinds.items() if any(test(values) for test in tests))
    return next(matching, str(values))
