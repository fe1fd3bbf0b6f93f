"""The files of a study, joined some rows at a time."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from tempfile import TemporaryFile
from typing import Any, Self
from weakref import finalize

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets.builtin import BUILTIN_NAMES
from mklkit.datasets.files import ChunkedTable, Progress, files_of, joined, rows_at_a_time, title_of
from mklkit.datasets.formats import format_of
from mklkit.datasets.paths import scratch_folder, written_to
from mklkit.datasets.study_files import Part, StudyFiles, WholeFile, check_is_source, whole_file
from mklkit.datasets.study_join import Join, identifiers
from mklkit.errors import DataError

BUCKET_CHUNKS = 2
"""The chunks of a file that are in memory when it is put in another order."""


@attrs.frozen(eq=False)
class ChunkedFile:
    """A file that is read in parts, with the identifiers of all of its rows.

    Rows that are in another order than those of the joined table are written to a temporary file
    once, in pieces that are found by their places.
    """

    table: ChunkedTable
    ids: pd.Index
    names: list[str]
    path: str
    remarks: list[str]
    sources: None = None
    _pieces: dict[tuple[str, ...], Pieces] = attrs.field(factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, table: ChunkedTable, by: str, path: str) -> Self:
        """Read the identifiers of a table that messages call by its path."""
        table.as_text.add(by)
        table.wanted = [by]
        parts = [chunk[by] for chunk in table.chunks() if len(chunk)]
        if not parts:
            raise DataError(f"{path} has no rows.")
        ids, remarks = identifiers(pd.concat(parts), path)
        names = [name for name in table.columns if name != by]
        return cls(table, ids, names, path, remarks)

    @property
    def bytes_in_memory(self) -> int:
        """The approximate memory of the whole file."""
        return self.table.bytes_in_memory

    @property
    def decimal(self) -> str | None:
        """The decimal mark of a CSV file."""
        return self.table.decimal

    @property
    def notes(self) -> list[str]:
        """How the file is read."""
        return [f"{self.path}: {note}" for note in [*self.remarks, *self.table.notes]]

    def ordered(self, places: NDArray[np.intp], columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield the rows, indexed by their places in increasing order, some at a time."""
        self.table.read_only(columns)
        if (np.diff(places) > 0).all():
            for chunk in self.table.chunks():
                chunk.index = pd.Index(places[chunk.index])
                yield chunk
            return
        if (*columns,) not in self._pieces:
            self._pieces.clear()
            self._pieces[*columns,] = Pieces.written(self.table, places)
        yield from self._pieces[*columns,].ordered()


@attrs.frozen(eq=False)
class Pieces:
    """Rows in a temporary file, in pieces: those of a range of places lie in one bucket."""

    file: Any
    buckets: list[list[int]]
    columns: list[str]

    @classmethod
    def written(cls, table: ChunkedTable, places: NDArray[np.intp]) -> Self:
        """Write the rows of a table that has these places, a chunk at a time."""
        size = BUCKET_CHUNKS * table.chunk_rows
        buckets: list[list[int]] = [[] for _ in range(int(places.max()) // size + 1)]
        columns: list[str] | None = None
        folder = scratch_folder()
        file = TemporaryFile(dir=folder)  # noqa: SIM115, as it is read in later passes
        with written_to(folder, f"The rows of {table.name} in another order"):
            for part in table.chunks():
                columns = part.columns.tolist() if columns is None else columns
                # Several files may have the same columns in other orders.
                chunk = part[columns]
                # Names would take more space than a few rows of many columns.
                chunk.columns = pd.RangeIndex(len(columns))
                chunk.index = pd.Index(places[chunk.index])
                of_rows = chunk.index.to_numpy() // size
                for bucket in np.unique(of_rows).tolist():
                    buckets[bucket].append(file.tell())
                    pickle.dump(chunk[of_rows == bucket], file, pickle.HIGHEST_PROTOCOL)
        pieces = cls(file, buckets, columns or [])
        finalize(pieces, file.close)
        return pieces

    def ordered(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of each bucket, in the order of their places."""
        for starts in filter(None, self.buckets):
            frames = []
            for start in starts:
                self.file.seek(start)
                frame = pickle.load(self.file)
                frame.columns = pd.Index(self.columns)
                frames.append(frame)
            yield joined(frames).sort_index()


@attrs.define(eq=False)
class StudyInParts:
    """The joined table of a study's files, of which some rows are in memory at a time.

    It has the rows, columns and notes that :meth:`StudyFiles.read` would return.
    """

    name: str
    by: str
    files: dict[str, ChunkedFile | WholeFile]
    join: Join
    chunk_rows: int
    wanted: list[str]

    @classmethod
    def opened(cls, study: StudyFiles, chunk_rows: int | None = None) -> Self:
        """Read the identifiers of all files, and those files that can't be read in parts."""
        files: dict[str, ChunkedFile | WholeFile] = {}
        for name, part in study.parts.items():
            chunked = _chunked(part, study.by, chunk_rows)
            if chunked is not None:
                file = ChunkedFile.of(chunked, study.by, title_of(str(part)))
                if files:
                    check_is_source(file.path, file.names, study.by)
                files[name] = file
                continue
            whole = whole_file(study, name, [*files.values()])
            if not isinstance(part, pd.DataFrame):
                told = f"{whole.path}: read whole, because it can't be read in parts"
                whole = attrs.evolve(whole, notes=[told, *whole.notes])
            files[name] = whole
        join = Join.of(study.by, files)
        columns = [*chain(*join.columns.values())]
        rows = chunk_rows or rows_at_a_time(len(columns))
        return cls(study.own_name, study.by, files, join, rows, columns)

    @property
    def origin(self) -> str:
        """How many files were joined."""
        return self.join.origin

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return [*chain(*self.join.columns.values())]

    @property
    def sources(self) -> Mapping[str, Sequence[str]] | None:
        """The columns of each source, those of the outcomes first."""
        return self.join.sources

    @property
    def ids(self) -> pd.Series | None:
        """The identifiers of the rows (N,)."""
        return pd.Series(self.join.ids, name=self.by)

    @property
    def notes(self) -> list[str]:
        """What was joined, and how the files are read."""
        return [*self.join.notes, *chain(*(file.notes for file in self.files.values()))]

    @property
    def decimal(self) -> str | None:
        """The decimal mark of the first CSV file."""
        return next((file.decimal for file in self.files.values() if file.decimal), None)

    @property
    def bytes_in_memory(self) -> int:
        """The approximate memory of the whole table."""
        return sum(file.bytes_in_memory for file in self.files.values())

    def read_only(self, columns: Sequence[str]) -> None:
        """Set the columns to read."""
        self.wanted = [*columns]

    def chunks(
        self, progress: Progress | None = None, uniform: bool = True
    ) -> Iterator[pd.DataFrame]:
        """Yield the rows in chunks, indexed from 0 by their number in the joined table.

        ``progress`` is called with the rows read and their total. Raises ``LateText`` as a table of
        one file does.
        """
        n_rows = len(self.join.ids)
        readers = [*self._readers()]
        for start in range(0, n_rows, self.chunk_rows):
            stop = min(n_rows, start + self.chunk_rows)
            yield pd.concat([reader.rows(start, stop) for reader in readers], axis=1)
            if progress is not None:
                progress(stop, n_rows)

    def _readers(self) -> Iterator[_Reader]:
        """Return what reads each file of which columns are wanted."""
        wanted = {*self.wanted}
        for source, file in self.files.items():
            in_table = dict(zip(file.names, self.join.columns[source], strict=True))
            names = {name: title for name, title in in_table.items() if title in wanted}
            if names:
                places = self.join.ids.get_indexer(file.ids)
                gaps = len(places) < len(self.join.ids)
                yield _Reader(file.ordered(places, [*names]), names, gaps)


@attrs.define(eq=False)
class _Reader:
    """The rows of a file, asked for in the order of the joined table.

    Columns get the names that they have there. With ``gaps`` some of its samples are not in the
    file, which decides the types of columns.
    """

    frames: Iterator[pd.DataFrame]
    names: Mapping[str, str]
    gaps: bool
    rest: pd.DataFrame | None = None

    def rows(self, start: int, stop: int) -> pd.DataFrame:
        """Return the rows of a range of places, without values where the file has no sample."""
        frames = [] if self.rest is None else [self.rest]
        while not frames or not len(frames[-1]) or frames[-1].index[-1] < stop - 1:
            frame = next(self.frames, None)
            if frame is None:
                break
            frame.columns = pd.Index([self.names[str(name)] for name in frame])
            frames.append(frame)
        frames = [frame for frame in frames if len(frame)] or frames[:1]
        known = frames[0] if len(frames) == 1 else joined(frames)
        n_rows = int(known.index.searchsorted(stop))
        self.rest = known.iloc[n_rows:]
        places = np.arange(start, stop)
        if not self.gaps:
            return known.iloc[:n_rows]
        # With a place that no row has, types are alike in all chunks.
        return known.iloc[:n_rows].reindex([*places.tolist(), -1]).iloc[:-1]


def _chunked(part: Part, by: str, chunk_rows: int | None) -> ChunkedTable | None:
    """Return a file as a table in chunks, if it can be read so and has the identifier."""
    if isinstance(part, pd.DataFrame) or part in BUILTIN_NAMES:
        return None
    known = format_of(files_of(part)[0])
    if known is None or not known.in_parts:
        return None
    table = ChunkedTable.opened(part, chunk_rows)
    return table if by in table.columns or by in table.labels else None
