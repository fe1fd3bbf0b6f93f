"""The files of a study, one a source, whose samples are joined by an identifier.

``Join`` (``study_join.py``) alone matches the samples of the files and names their columns. In
memory they become one table; as a ``StudyInParts`` (``study_in_parts.py``) they are chunks, like a
table of one file: the identifiers of all files are read first, and files whose samples come in
another order are written once to a temporary file of pieces, each of which holds the rows of a
range of places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.datasets.columns import plain_values
from mklkit.datasets.file_contents import UNNAMED, in_rows
from mklkit.datasets.files import RawTable, read_whole, title_of
from mklkit.datasets.study_join import FileOfSamples, Join, identifiers
from mklkit.errors import DataError, counted, listed, named, quoted, suggest, type_name
from mklkit.estimators.sources import NOT_IN_NAMES, as_source_name, may_name_source
from mklkit.numerics.sparse import as_matrix, is_sparse_frame, sparse_frame, values_of

Part = str | PathLike[str] | pd.DataFrame
"""A file, or a frame of a program."""

OUTCOMES = "outcomes"
"""The source beside the outcomes of a frame, which has no name."""


@attrs.frozen
class StudyFiles:
    """A file with the outcomes of samples, and perhaps a file a source, joined by an identifier.

    Parameters
    ----------
    outcomes : str, path or DataFrame
        The file or frame with the outcomes. Its other columns keep their names and are one source.
    sources : mapping of str to str, path or DataFrame
        The others, by the name of their source, with which the names of their columns begin;
        without any, the columns of the first may belong to any sources.
    by : str
        The column that identifies a sample in every file; of a frame it may be the index.

    Raises
    ------
    DataError
        If a name can't be that of a source; and by :meth:`read`.

    See Also
    --------
    load_study : Reads them with a target.

    Examples
    --------
    >>> StudyFiles("clinical.csv", {"mrna": "mrna.csv"}, "patient").names
    ['clinical', 'mrna']
    """

    outcomes: Part
    sources: Mapping[str, Part]
    by: str

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.sources, Mapping) or not isinstance(self.by, str):
            raise DataError(
                "Sources are a mapping of names to files, as in {'mrna': 'mrna.csv'}, and by= is"
                f" the name of a column; got {type_name(self.sources)} and {type_name(self.by)}."
            )
        for part in [self.outcomes, *self.sources.values()]:
            if not isinstance(part, str | PathLike | pd.DataFrame):
                raise DataError(f"A source is a file or a data frame; got {type_name(part)}.")
        for name in self.sources:
            if (
                not isinstance(name, str)
                or not name
                or NOT_IN_NAMES & {*name}
                or not may_name_source(name)
            ):
                raise DataError(
                    f"{quoted(name)} can't be the name of a source: choose a word that is no kernel"
                    " and has no blanks, brackets or other signs of a kernel's columns."
                )
        if self.own_name in self.sources:
            raise DataError(
                f"Two files are the source {quoted(self.own_name)}: that of the outcomes, which is"
                " named so, and another. Give the second one another name."
            )

    @property
    def own_name(self) -> str:
        """The name of the source that is beside the outcomes: that of the file, or outcomes."""
        if isinstance(self.outcomes, pd.DataFrame):
            return OUTCOMES
        return as_source_name(Path(self.outcomes).name.partition(".")[0], OUTCOMES)

    @property
    def names(self) -> list[str]:
        """The names of all sources, in their order."""
        return [self.own_name, *self.sources]

    @property
    def parts(self) -> dict[str, Part]:
        """All files and frames, by the name of their source."""
        return {self.own_name: self.outcomes, **self.sources}

    @property
    def files(self) -> list[str]:
        """The paths of all files; frames have none."""
        return [str(part) for part in self.parts.values() if not isinstance(part, pd.DataFrame)]

    def __str__(self) -> str:
        return self.own_name if isinstance(self.outcomes, pd.DataFrame) else str(self.outcomes)

    def read(self, as_text: Collection[str] = (), only_first: bool = False) -> RawTable:
        """Return the samples of all files as one table.

        Those of the first file come first, in its order; then those that only others have. A sample
        that is not in a file has no values in its columns.

        Parameters
        ----------
        as_text : collection of str, optional
            Names or globs of columns of CSV files to leave as text.
        only_first : bool, default=False
            Whether samples that are not in the first file are dropped.

        Returns
        -------
        RawTable
            The joined table, with the identifiers of its rows and each source's columns.

        Raises
        ------
        DataError
            If a file lacks the identifier or has one twice, or identifiers hardly match.
        """
        parts: dict[str, WholeFile] = {}
        for name in self.names:
            parts[name] = whole_file(self, name, [*parts.values()], as_text)
        join = Join.of(self.by, parts, only_first)
        frames = [
            in_rows(part.frame.set_axis(join.columns[name], axis=1), join.ids)
            for name, part in parts.items()
        ]
        return RawTable(
            pd.concat(frames, axis=1).reset_index(drop=True),
            self.own_name,
            join.origin,
            [*join.notes, *(note for part in parts.values() for note in part.notes)],
            next((part.decimal for part in parts.values() if part.decimal), None),
            ids=pd.Series(join.ids, name=self.by),
            sources=join.sources,
            of_files=join.columns,
        )


@attrs.frozen(eq=False)
class WholeFile:
    """A file's columns in memory, indexed by the identifiers as text.

    ``notes`` say how it was read, and ``sources`` are the columns of each of its sources, if the
    file divides them.
    """

    frame: pd.DataFrame
    path: str
    notes: list[str]
    decimal: str | None
    sources: Mapping[str, Sequence[str]] | None = None

    @property
    def ids(self) -> pd.Index:
        """The identifiers of the samples."""
        return self.frame.index

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(column) for column in self.frame]

    @property
    def bytes_in_memory(self) -> int:
        """The memory of the table."""
        return int(self.frame.memory_usage().sum())

    def ordered(self, places: NDArray[np.intp], columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield the rows, indexed by their places in a table in increasing order, at once."""
        frame = self.frame[[*columns]]
        if is_sparse_frame(frame):
            frame = pd.DataFrame(values_of(frame), columns=frame.columns)
        yield frame.set_axis(pd.Index(places), axis=0).sort_index()

    @classmethod
    def of(cls, raw: RawTable, by: str, path: str, may_be_turned: bool) -> WholeFile:
        """Return a table that was read, indexed by a column of identifiers."""
        if by not in raw.frame:
            names = [str(name) for name in raw.frame]
            turned = ", and no samples in its columns" * may_be_turned
            raise DataError(
                f"{path} has no column {quoted(by)} to join its samples by{turned}."
                f"{suggest(by, names)} Its columns: {listed(names)}."
            )
        if not len(raw.frame):
            raise DataError(f"{path} has no rows.")
        ids, notes = identifiers(raw.frame[by], path)
        frame = raw.frame.drop(columns=by).set_axis(ids, axis=0)
        if may_be_turned:
            check_is_source(path, frame.columns.tolist(), by)
        notes = [f"{path}: {note}" for note in [*notes, *raw.notes]]
        sources = raw.sources and {
            source: [column for column in columns if column != by]
            for source, columns in raw.sources.items()
        }
        return cls(frame, path, notes, raw.decimal, sources)


def check_is_source(path: str, columns: Sequence[str], by: str) -> None:
    """Raise an error for a file of identifiers alone."""
    if not columns:
        raise DataError(f"{path} has no column besides {quoted(by)}: it is no source.")


def read_data(source: str | PathLike[str] | StudyFiles, as_text: Collection[str] = ()) -> RawTable:
    """Read a built-in table, a file, or the files of a study."""
    return source.read(as_text) if isinstance(source, StudyFiles) else read_whole(source, as_text)


def _of_frame(frame: pd.DataFrame, by: str, name: str) -> RawTable:
    """Return a frame of a program as if it had been read from a file."""
    if by not in frame and frame.index.name == by:
        frame = frame.reset_index()
    frame, notes = plain_values(frame.set_axis([str(column) for column in frame], axis=1), name)
    return RawTable(frame, name, "a frame", notes)


def _with_ids(raw: RawTable, by: str) -> RawTable:
    """Return a table with the names of its samples as a column, if these are the identifiers.

    They are if they have this name or none, and no column has it.
    """
    if by in raw.frame or raw.ids is None or raw.ids.name not in (by, UNNAMED):
        return raw
    frame = raw.frame.copy(deep=False)
    frame.insert(0, by, raw.ids.to_numpy())
    return attrs.evolve(raw, frame=frame)


def _beside(raw: RawTable, by: str, before: Sequence[FileOfSamples]) -> RawTable:
    """Return the table of a source, with its identifiers and without outcomes of its own.

    Rows without names are those of the first file, if there are as many. Samples are in columns if
    these are named like those of files before.
    """
    first = before[0]
    if raw.unnamed:
        n_rows, expected = len(raw.frame), len(first.ids)
        if n_rows != expected:
            raise DataError(
                f"{raw.name} holds {counted(n_rows, 'row')} without identifiers, and {first.path}"
                f" {expected}: rows without them are taken in the same order. Give both the same"
                " rows, or write a file that names its samples, such as AnnData's (.h5ad)."
            )
        ids = pd.Series(first.ids, name=by)
        told = f"rows have no identifiers and are taken in the order of {first.path}"
        return _with_ids(attrs.evolve(raw, ids=ids, notes=[told, *raw.notes]), by)
    known = {label for file in before for label in file.ids}
    if raw.sources is None:
        raw = _with_ids(raw, by)
        return raw if by in raw.frame else _turned(raw, by, known)
    outcomes, *others = raw.sources
    left_out = [column for column in raw.sources[outcomes] if column != by]
    if raw.ids is not None and len(others) == 1:
        features = raw.frame.drop(columns=raw.sources[outcomes])
        features.insert(0, raw.ids.name, raw.ids.to_numpy(), allow_duplicates=True)
        turned = _turned(attrs.evolve(raw, frame=features, sources=None), by, known)
        if by in turned.frame:
            return turned
    notes = [f"{named(left_out)} dropped: columns of {outcomes} describe samples"]
    return _with_ids(
        attrs.evolve(
            raw,
            frame=raw.frame.drop(columns=left_out),
            notes=[*(notes if left_out else []), *raw.notes],
            sources={source: raw.sources[source] for source in others},
        ),
        by,
    )


def _own_globs(name: str, as_text: Collection[str]) -> list[str]:
    """Return names and globs of columns of a joined table as a source's own file has them."""
    return [*as_text, *(glob.removeprefix(f"{name}_") for glob in as_text)]


def _turned(raw: RawTable, by: str, known: Collection[str]) -> RawTable:
    """Return a table with features in rows and samples in columns the other way round.

    It is such a table if half of the names of its columns but the first are known identifiers.
    """
    first, *names = [str(name) for name in raw.frame]
    shared = sum(name in known for name in names)
    if not names or 2 * shared < len(names):
        return raw
    features = raw.frame.iloc[:, 0].astype(str)
    twice = features[features.duplicated()].unique()
    if len(twice):
        raise DataError(
            f"{raw.name} has features in its rows, and {quoted(twice[0])} in several"
            f" ({len(twice)} such): give each feature one row."
        )
    values = raw.frame.iloc[:, 1:]
    if is_sparse_frame(values):
        frame = sparse_frame(as_matrix(values).T.tocsc(), features.tolist())
    else:
        frame = values.T.set_axis(features.tolist(), axis=1).infer_objects()
    frame.insert(0, by, names)
    frame, notes = plain_values(frame.reset_index(drop=True), raw.name)
    told = (
        f"features are in rows (named by {quoted(first)}) and samples in columns: {shared} of"
        f" {len(names)} columns are known samples"
    )
    return attrs.evolve(raw, frame=frame, notes=[told, *raw.notes, *notes])


def whole_file(
    study: StudyFiles, name: str, before: Sequence[FileOfSamples], as_text: Collection[str] = ()
) -> WholeFile:
    """Return a file by the name of its source; without identifiers, samples may be in columns.

    These, and samples without names, are those of the files ``before``.
    """
    part = study.parts[name]
    if isinstance(part, pd.DataFrame):
        raw, title = _of_frame(part, study.by, name), name
    else:
        raw = read_whole(part, [study.by, *_own_globs(name, as_text)], study.by)
        title = title_of(part)
    raw = _beside(raw, study.by, before) if before else _with_ids(raw, study.by)
    return WholeFile.of(raw, study.by, title, bool(before))
