"""A table in one or several files that need not fit into memory, read in chunks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Self

import attrs
import pandas as pd
from pandas.api.types import is_numeric_dtype, union_categoricals

from mklkit.datasets.csv_file import CSVFile
from mklkit.datasets.files import READERS, checked_ending, files_of
from mklkit.datasets.parquet_file import ParquetFile
from mklkit.datasets.values import plain_values
from mklkit.errors import DataError, quoted
from mklkit.views.stored_rows import signature_of

__all__ = ["CHUNKED", "ChunkedTable", "LateText", "joined"]

CHUNKED = ("CSV", "Parquet")
"""The formats that are read in chunks."""
CHUNK_CELLS = 1 << 20
CHUNK_ROWS = (100, 100_000)
Progress = Callable[[int, int], object]


class LateText(Exception):
    """Text follows numbers in a column of a CSV file, which is read as text from now on."""


@attrs.define(eq=False)
class ChunkedTable:
    """The rows of one or several CSV or Parquet files, file after file.

    ``columns`` are those of the first file, which all others have; ``wanted`` those to read, all by
    default; those in ``as_text`` are read as they are written. ``decimal`` is the decimal mark of
    CSV files, and ``chunk_rows`` are read at a time.
    """

    files: list[CSVFile] | list[ParquetFile]
    columns: list[str]
    name: str
    origin: str
    decimal: str | None
    chunk_rows: int
    notes: list[str] = attrs.field(factory=list)
    wanted: list[str] | None = None
    as_text: set[str] = attrs.field(factory=set)

    @classmethod
    def opened(cls, source: str | PathLike[str], chunk_rows: int | None = None) -> Self:
        """Open the CSV or Parquet files of a path, a glob or a folder."""
        paths = files_of(source)
        kind, ending = READERS[checked_ending(paths[0])][0], checked_ending(paths[0])
        if kind not in CHUNKED:
            raise DataError(
                f"{paths[0].name} is a {kind} file, which can't be read in parts: save it as"
                f" {' or '.join(CHUNKED)}."
            )
        name, origin = paths[0].name[: -len(ending)], f"{kind} file {paths[0].name}"
        if len(paths) > 1:
            name, origin = Path(source).name, f"{len(paths)} {kind} files, {source}"
        name = name or paths[0].name
        fewest, most = CHUNK_ROWS
        if kind == "Parquet":
            parquet = [ParquetFile.opened(path) for path in paths]
            table = cls(parquet, parquet[0].columns, name, origin, None, most)
        else:
            texts = [CSVFile.opened(path) for path in paths]
            table = cls(texts, texts[0].columns, name, origin, texts[0].dialect.decimal, most)
            table.as_text = set().union(*(file.text for file in texts))
        fitting = min(most, max(fewest, CHUNK_CELLS // max(1, len(table.columns))))
        table.chunk_rows = fitting if chunk_rows is None else chunk_rows
        for file in table.files:
            table._say(file.notes)
        return table

    @property
    def bytes_in_memory(self) -> int:
        """About how much memory the whole table takes."""
        return sum(file.bytes_in_memory for file in self.files)

    def check_agreement(self, columns: Sequence[str]) -> None:
        """Check that all files have these columns, with values of the same kind."""
        first = self.files[0]
        for file in self.files[1:]:
            for name in columns:
                if name not in file.columns:
                    raise DataError(
                        f"{file.path} lacks the column {quoted(name)}, which {first.path} has."
                    )
                here, there = file.kinds.get(name, ""), first.kinds.get(name, "")
                if here and there and here != there:
                    raise DataError(
                        f"Column {quoted(name)} holds {here} in {file.path}, but {there} in"
                        f" {first.path}."
                    )

    def check_unchanged(self) -> None:
        """Raise a ``DataError`` if a file has changed since it was opened."""
        for file in self.files:
            if signature_of(file.path) != file.signature:
                raise DataError(f"{file.path} has changed since it was first read: start again.")

    def chunks(
        self, progress: Progress | None = None, uniform: bool = True
    ) -> Iterator[pd.DataFrame]:
        """Yield the rows in chunks, indexed from 0 by their number in the table.

        ``progress`` is called with the bytes read and their total. Raises ``LateText`` if a column
        has to be ``uniform`` and is not read alike in all chunks; it will be in the next pass.
        """
        self.check_unchanged()
        total = sum(file.signature[0] for file in self.files)
        kinds: dict[str, str] = {}
        start = before = 0
        for file in self.files:
            parts = file.chunks(self.chunk_rows, self.wanted, self.as_text)
            with closing(parts):
                for frame, done in parts:
                    if uniform and isinstance(file, CSVFile):
                        self._check_kinds(kinds, frame)
                    chunk, notes = plain_values(frame)
                    self._say(notes)
                    chunk.index = pd.RangeIndex(start, start + len(chunk))
                    start += len(chunk)
                    yield chunk
                    if progress is not None:
                        progress(before + done, total)
            before += file.signature[0]
        self.check_unchanged()

    def _check_kinds(self, kinds: dict[str, str], frame: pd.DataFrame) -> None:
        late = {
            name
            for name in map(str, frame)
            if name not in self.as_text
            and (kind := _kind(frame[name]))
            and kinds.setdefault(name, kind) != kind
        }
        if late:
            self.as_text |= late
            raise LateText

    def _say(self, notes: Sequence[str]) -> None:
        self.notes += [note for note in notes if note not in self.notes]


def _kind(column: pd.Series) -> str:
    """Return the kind of values that pandas has read from a part of a CSV file."""
    if column.isna().all():
        return ""
    if pd.api.types.infer_dtype(column, skipna=True) == "boolean":
        return "truth values"
    return "numbers" if is_numeric_dtype(column) else "text"


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of several chunks; categories of one column may differ between chunks."""
    for name in frames[0].select_dtypes("category").columns:
        every = union_categoricals([frame[name] for frame in frames], ignore_order=True)
        frames = [
            frame.assign(**{name: frame[name].cat.set_categories(every.categories)})
            for frame in frames
        ]
    return pd.concat(frames)
