"""A table in one or several files that need not fit into memory, read in chunks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from glob import glob, has_magic
from os import PathLike
from pathlib import Path
from typing import Self

import attrs
import pandas as pd
from pandas.api.types import union_categoricals

from mklkit.datasets.chunk_files import ChunkFile, CSVFile, EncodingError, ParquetFile
from mklkit.datasets.files import READERS, checked_ending, ending_of
from mklkit.datasets.paths import status, user_path
from mklkit.datasets.values import plain_values
from mklkit.errors import DataError, listed, quoted
from mklkit.views.stored_rows import signature_of

__all__ = ["CHUNKED", "ChunkedTable", "files_of", "joined"]

CHUNKED = ("CSV", "Parquet")
"""The formats that are read in chunks."""
CHUNK_CELLS = 1 << 20
CHUNK_ROWS = (100, 100_000)
SNIFFED_ROWS = 10_000
SEPARATE = ("text", "truth values")
Progress = Callable[[int, int], object]


def files_of(source: str | PathLike[str]) -> list[Path]:
    """Return the data files that a path, a glob (``rows/*.parquet``) or a folder stands for.

    Raises
    ------
    DataError
        If there are none, or they are of several formats.
    """
    path = user_path(source)
    found = status(path)
    if found is None and has_magic(str(path)):
        files = [Path(name) for name in sorted(glob(str(path)))]
    elif path.is_dir():
        inside = (one for one in sorted(path.iterdir()) if one.is_file())
        files = [one for one in inside if ending_of(one) is not None]
    else:
        return [path]
    if not files:
        raise DataError(f"There is no data file {path}.")
    formats = {READERS[checked_ending(file)][0] for file in files}
    if len(formats) > 1:
        raise DataError(f"{path} holds files of several formats: {listed(sorted(formats))}.")
    return files


@attrs.define(eq=False)
class ChunkedTable:
    """The rows of one or several CSV or Parquet files, file after file.

    Attributes
    ----------
    columns : list of str
        The columns of the first file, which all others have.
    name, origin : str
        As of a ``Table``.
    notes : list of str
        Remarks on the data as read.
    decimal : str or None
        The decimal mark that a CSV file suggests; None for Parquet.
    wanted : list of str or None
        The columns to read; None for all.
    as_text : set of str
        The columns of CSV files that are read as they are written.
    chunk_rows : int
        The rows that are read at a time.
    settled : bool
        Whether the last pass ended with columns read as it had begun to read them. If not, as
        where text follows numbers in a column of a CSV file, it has to be repeated.
    """

    files: list[ChunkFile]
    columns: list[str]
    name: str
    origin: str
    decimal: str | None
    chunk_rows: int
    notes: list[str] = attrs.field(factory=list)
    wanted: list[str] | None = None
    as_text: set[str] = attrs.field(factory=set)
    settled: bool = False

    @classmethod
    def opened(cls, source: str | PathLike[str], chunk_rows: int | None = None) -> Self:
        """Open the files of a path, a glob or a folder.

        Raises
        ------
        DataError
            If there are none, or some can't be read, or they are not CSV or Parquet files.
        """
        paths = files_of(source)
        kind, ending = READERS[checked_ending(paths[0])][0], checked_ending(paths[0])
        if kind not in CHUNKED:
            raise DataError(
                f"{paths[0].name} is a {kind} file, which can't be read in parts: save it as"
                f" {' or '.join(CHUNKED)}."
            )
        for path in paths[1:]:
            checked_ending(path)
        files: list[ChunkFile] = [
            ParquetFile.opened(path) if kind == "Parquet" else CSVFile.opened(path, SNIFFED_ROWS)
            for path in paths
        ]
        first = files[0]
        if len(files) == 1:
            name, origin = paths[0].name[: -len(ending)], f"{kind} file {paths[0].name}"
        else:
            name, origin = Path(source).name, f"{len(files)} {kind} files, {source}"
        decimal = first.dialect.decimal if isinstance(first, CSVFile) else None
        fewest, most = CHUNK_ROWS
        fitting = min(most, max(fewest, CHUNK_CELLS // max(1, len(first.columns))))
        rows = fitting if chunk_rows is None else chunk_rows
        table = cls(files, first.columns, name or paths[0].name, origin, decimal, rows)
        table._say(note for file in files for note in file.notes)
        return table

    @property
    def bytes_in_memory(self) -> int:
        """About how much memory the whole table takes."""
        return sum(file.bytes_in_memory for file in self.files)

    def check_agreement(self, columns: Sequence[str]) -> None:
        """Check that all files have these columns, with values of the same kind.

        Raises
        ------
        DataError
            If not; it names the first file that has others.
        """
        first = self.files[0]
        for file in self.files[1:]:
            missing = [name for name in columns if name not in file.columns]
            if missing:
                raise DataError(
                    f"{file.path} lacks the column {quoted(missing[0])}, which {first.path} has."
                )
            for name in columns:
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

    def chunks(self, progress: Progress | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows in chunks, indexed from 0 by their number in the table.

        Parameters
        ----------
        progress : callable, optional
            Called with the bytes read and their total.

        Raises
        ------
        DataError
            If a file has changed, or can't be read.
        """
        self.check_unchanged()
        total = sum(file.signature[0] for file in self.files)
        kinds: dict[str, set[str]] = {}
        start = before = 0
        self.settled = False
        for file in self.files:
            try:
                for frame, done in file.chunks(self.chunk_rows, self.wanted, self.as_text):
                    if isinstance(file, CSVFile):
                        _add_kinds(kinds, frame)
                    chunk, said = plain_values(frame)
                    self._say(said)
                    chunk.index = pd.RangeIndex(start, start + len(chunk))
                    start += len(chunk)
                    yield chunk
                    if progress is not None:
                        progress(before + done, total)
            except EncodingError:
                self._say(file.notes)
                return
            before += file.signature[0]
        self.check_unchanged()
        mixed = {name for name, held in kinds.items() if len(held) > 1 and held & {*SEPARATE}}
        self.settled = mixed <= self.as_text
        self.as_text |= mixed

    def _say(self, notes: Iterable[str]) -> None:
        self.notes += [note for note in notes if note not in self.notes]


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of several chunks; categories of one column may differ between chunks."""
    for name in frames[0].select_dtypes("category").columns:
        every = union_categoricals([frame[name] for frame in frames], ignore_order=True)
        frames = [
            frame.assign(**{name: frame[name].cat.set_categories(every.categories)})
            for frame in frames
        ]
    return pd.concat(frames)


def _add_kinds(kinds: dict[str, set[str]], frame: pd.DataFrame) -> None:
    """Add the kinds of values that pandas has read from a part of a CSV file."""
    for name, dtype in frame.dtypes.items():
        if frame[name].isna().all():
            continue
        inferred = "text" if dtype == "str" else pd.api.types.infer_dtype(frame[name], skipna=True)
        kind = {"boolean": "truth values", "integer": "numbers", "floating": "numbers"}
        kinds.setdefault(str(name), set()).add(kind.get(inferred, "text"))
