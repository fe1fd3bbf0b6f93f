"""Data files, by extension: read whole, or some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from glob import glob, has_magic
from os import PathLike
from pathlib import Path
from typing import Protocol, Self

import attrs
import pandas as pd
from pandas.api.types import is_numeric_dtype, union_categoricals

from mklkit.datasets.builtin import BUILTIN_NAMES, ORIGINS, read_builtin
from mklkit.datasets.columns import plain_values
from mklkit.datasets.csv_file import GZIP_RATIO, CSVFile
from mklkit.datasets.file_contents import FileContents
from mklkit.datasets.formats import (
    ENDINGS,
    IN_PARTS,
    Format,
    ending_of,
    format_of,
    imported,
    path_and_layer,
)
from mklkit.datasets.parquet_file import ParquetFile
from mklkit.datasets.paths import fault_of, status, user_path
from mklkit.errors import DataError, listed, quoted, suggest
from mklkit.views.stored_rows import signature_of

CHUNK_CELLS = 1 << 20
CHUNK_ROWS = (100, 100_000)
SMALL_FILE = 1 << 23
Progress = Callable[[int, int], object]


@attrs.frozen(eq=False)
class RawTable:
    """A table as read, with the decimal mark of a format in which numbers may be text.

    One that is joined from files has the identifiers of its rows (N,), and each source's columns,
    those of the outcomes first; so may a file. ``of_files`` are the columns of each joined file.
    One that is ``unnamed`` has numbers alone.
    """

    frame: pd.DataFrame
    name: str
    origin: str
    notes: list[str] = attrs.field(factory=list)
    decimal: str | None = None
    ids: pd.Series | None = None
    sources: Mapping[str, Sequence[str]] | None = None
    unnamed: bool = False
    of_files: Mapping[str, Sequence[str]] | None = None

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return self.frame.columns.tolist()

    @property
    def joined_by(self) -> str:
        """The name of the identifiers; empty if there are none."""
        return "" if self.ids is None else str(self.ids.name)


def read_whole(
    source: str | PathLike[str], as_text: Collection[str] = (), label: str | None = None
) -> RawTable:
    """Read a built-in table, or a file: features and target side by side, under unique text names.

    The rows of several files, which a glob or a folder stands for, follow each other. Formats that
    keep the target apart (libsvm, NPZ) have it last, as ``target``. ``as_text`` are names or globs
    of columns of a CSV file to leave as text; ``label`` is a name under which the labels of rows
    that pandas wrote are a column.
    """
    text = str(source)
    if text in BUILTIN_NAMES:
        origin = ORIGINS.get(text, "built into scikit-learn")
        return RawTable(read_builtin(text), text, origin)
    path, layer = path_and_layer(user_path(text))
    if not path.suffix and status(path) is None:
        raise DataError(
            f"There is no built-in data set and no file {text!r}.{suggest(text, BUILTIN_NAMES)}"
            f" Built in: {', '.join(BUILTIN_NAMES)}. Files: {', '.join(ENDINGS)}."
        )
    if (files := files_of(source)) != [path]:
        return _one_after_another(
            [read_whole(file, as_text, label) for file in files], files, str(source)
        )
    known = _checked_format(path)
    decimal = None
    if known.in_parts:
        file: CSVFile | ParquetFile = imported(known.reader)(path)
        columns = [label, *file.columns] if label in file.labels else None
        ((frame, _),) = file.chunks(None, columns, as_text)
        contents, decimal = FileContents(frame, file.notes), file.decimal
    else:
        contents = imported(known.reader)(path, *([layer] if known.layers else []))
    frame = contents.frame
    if contents.labels is not None and label in contents.labels:
        frame = pd.concat([contents.labels[[label]], frame], axis=1)
    frame, more = plain_values(frame, path.name)
    return RawTable(
        frame,
        _name_of(path),
        f"{known.name} file {path.name}",
        contents.notes + more,
        decimal,
        contents.ids,
        contents.sources,
        contents.unnamed,
    )


def _one_after_another(tables: Sequence[RawTable], files: Sequence[Path], source: str) -> RawTable:
    """Return the rows of several files, which have the columns of the first in any order."""
    first = tables[0]
    for table, file in zip(tables, files, strict=True):
        absent = [name for name in first.columns if name not in table.frame]
        if absent:
            raise DataError(
                f"{file} lacks the column {quoted(str(absent[0]))}, which {files[0]} has."
            )
    frame, more = plain_values(
        joined([table.frame[first.columns] for table in tables]).reset_index(drop=True), source
    )
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    origin = f"{len(files)} files, {source}"
    return RawTable(frame, Path(source).name, origin, [*notes, *more], first.decimal)


def title_of(source: str | PathLike[str]) -> str:
    """Return what messages call a source: the name of a file, or a glob or folder as it is."""
    is_file = str(source) in BUILTIN_NAMES or len(files_of(source)) == 1
    return Path(source).name if is_file else str(source)


def _name_of(path: Path) -> str:
    """Return the name of a file without its extension, if anything is left."""
    return path.name[: -len(ending_of(path) or "")] or path.name


def _checked_format(path: Path) -> Format:
    """Return the format of a data file that can be read, or raise an error."""
    fault = fault_of(path)
    if fault:
        raise DataError(fault + (_near(path) if status(path) is None else ""))
    known = format_of(path)
    if known is None:
        raise DataError(
            f"{path.name} does not have the extension of a known format: {', '.join(ENDINGS)}."
        )
    return known


def _near(path: Path) -> str:
    try:
        beside = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    except OSError:
        return ""
    return suggest(path.name, beside)


def files_of(source: str | PathLike[str]) -> list[Path]:
    """Return the data files of one format that a path, a glob or a folder stands for."""
    path, _ = path_and_layer(user_path(source))
    if status(path) is None and has_magic(str(path)):
        files = [Path(name) for name in sorted(glob(str(path)))]
    elif path.is_dir():
        files = [file for file in sorted(path.iterdir()) if file.is_file() and ending_of(file)]
    else:
        return [path]
    if not files:
        raise DataError(f"There is no data file {path}.")
    formats = {_checked_format(file).name for file in files}
    if len(formats) > 1:
        raise DataError(f"{path} holds files of several formats: {listed(sorted(formats))}.")
    return files


def rows_at_a_time(n_columns: int) -> int:
    """Return how many rows of a table are read at a time."""
    fewest, most = CHUNK_ROWS
    return min(most, max(fewest, CHUNK_CELLS // max(1, n_columns)))


def is_large(source: str | PathLike[str]) -> bool:
    """Return whether data are several files, or one that is better read in chunks."""
    if str(source) in BUILTIN_NAMES:
        return False
    files = files_of(source)
    known, state = format_of(files[0]), status(files[0])
    if len(files) > 1:
        return True
    if known is None or state is None or not known.in_parts:
        return False
    packed = files[0].suffix.lower() == ".gz"
    return state.st_size * (GZIP_RATIO if packed else 1) > SMALL_FILE


class TableInParts(Protocol):
    """A table of which some rows are in memory at a time: of one or several files, or joined."""

    @property
    def name(self) -> str:
        """The name of the data."""

    @property
    def origin(self) -> str:
        """Where they come from."""

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""

    @property
    def notes(self) -> list[str]:
        """How the table is read."""

    @property
    def decimal(self) -> str | None:
        """The decimal mark of CSV files."""

    @property
    def ids(self) -> pd.Series | None:
        """The identifiers of the rows (N,), if files are joined by them."""

    @property
    def sources(self) -> Mapping[str, Sequence[str]] | None:
        """The columns of each source, those of the outcomes first, if files are joined."""

    def read_only(self, columns: Sequence[str]) -> None:
        """Set the columns to read."""

    def chunks(
        self, progress: Progress | None = None, uniform: bool = True
    ) -> Iterator[pd.DataFrame]:
        """Yield the rows in chunks, indexed from 0."""


class LateText(Exception):
    """Text after numbers in a column of a CSV file, which is read as text from now on."""


@attrs.define(eq=False)
class ChunkedTable:
    """The rows of one or several files that can be read in parts, file after file.

    ``columns`` are those of the first file, which all others have; ``wanted`` those to read, all by
    default; those in ``as_text`` are read as written. ``decimal`` is the decimal mark of
    CSV files, and ``chunk_rows`` are read at a time.
    """

    files: Sequence[CSVFile | ParquetFile]
    name: str
    origin: str
    chunk_rows: int
    as_text: set[str]
    notes: list[str] = attrs.field(factory=list)
    wanted: list[str] | None = None
    ids: pd.Series | None = None
    sources: Mapping[str, Sequence[str]] | None = None

    @classmethod
    def opened(cls, source: str | PathLike[str], chunk_rows: int | None = None) -> Self:
        """Open the files of a path, a glob or a folder, of a format that can be read in parts."""
        paths = files_of(source)
        known = _checked_format(paths[0])
        if not known.in_parts:
            raise DataError(
                f"{paths[0].name} can't be read in parts, as {' and '.join(IN_PARTS)} files can:"
                " save it as such a file."
            )
        name = _name_of(paths[0])
        origin = f"{known.name} file {paths[0].name}"
        if len(paths) > 1:
            name = Path(source).name
            origin = f"{len(paths)} {known.name} files, {source}"
        files = [imported(known.reader)(path) for path in paths]
        fitting = rows_at_a_time(len(files[0].columns))
        text = set().union(*(file.text for file in files))
        table = cls(files, name or paths[0].name, origin, chunk_rows or fitting, text)
        for file in files:
            table._say(file.notes)
        return table

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return self.files[0].columns

    @property
    def labels(self) -> list[str]:
        """The names of labels of rows that pandas wrote, which can be read like columns."""
        return self.files[0].labels

    @property
    def decimal(self) -> str | None:
        """The decimal mark of CSV files."""
        return self.files[0].decimal

    @property
    def bytes_in_memory(self) -> int:
        """The approximate memory of the whole table."""
        return sum(file.bytes_in_memory for file in self.files)

    def read_only(self, columns: Sequence[str]) -> None:
        """Set the columns to read, which all files must have, with values of the same kind."""
        required = {*columns}
        self.wanted = [name for name in self.columns if name in required]
        first = self.files[0]
        for file in self.files[1:]:
            there = {*file.columns}
            for name in self.wanted:
                if name not in there:
                    raise DataError(
                        f"{file.path} lacks the column {quoted(name)}, which {first.path} has."
                    )
                kind, expected = file.kinds.get(name, ""), first.kinds.get(name, "")
                if kind and expected and kind != expected:
                    raise DataError(
                        f"Column {quoted(name)} holds {kind} in {file.path}, but {expected} in"
                        f" {first.path}."
                    )

    def chunks(
        self, progress: Progress | None = None, uniform: bool = True
    ) -> Iterator[pd.DataFrame]:
        """Yield the rows in chunks, indexed from 0 by their number in the table.

        ``progress`` is called with the bytes read and their total. Raises ``LateText`` if a column
        must be ``uniform`` but chunks were read differently; the next pass reads them alike.
        """
        self._check_unchanged()
        total = sum(file.signature[0] for file in self.files)
        kinds: dict[str, str] = {}
        start = before = 0
        for file in self.files:
            with closing(file.chunks(self.chunk_rows, self.wanted, self.as_text)) as parts:
                for frame, done in parts:
                    if uniform and isinstance(file, CSVFile):
                        self._check_kinds(kinds, frame)
                    chunk, notes = plain_values(frame, file.path.name)
                    self._say(notes)
                    chunk.index = pd.RangeIndex(start, start + len(chunk))
                    start += len(chunk)
                    yield chunk
                    if progress is not None:
                        progress(before + done, total)
            before += file.signature[0]
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        for file in self.files:
            if signature_of(file.path) != file.signature:
                raise DataError(f"{file.path} has changed since it was first read: start over.")

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
    """Return the kind of values that pandas read from a part of a CSV file."""
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
