"""The files of a study, one a source, whose samples are joined by an identifier."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path

import attrs
import numpy as np
import pandas as pd

from mklkit.datasets.columns import plain_values
from mklkit.datasets.file_contents import UNNAMED, in_rows
from mklkit.datasets.files import RawTable, read_whole
from mklkit.errors import DataError, counted, listed, named, quoted, suggest, type_name
from mklkit.estimators.sources import NOT_IN_NAMES, as_source_name, may_name_source

Part = str | PathLike[str] | pd.DataFrame
"""A file, or a frame of a program."""

HARDLY = 0.1
"""Files in which a smaller share of identifiers is the same are not joined."""

SHOWN_IDS = 3
"""The number of identifiers that a message shows."""

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
    def files(self) -> list[str]:
        """The paths of all files; frames have none."""
        parts = [self.outcomes, *self.sources.values()]
        return [str(part) for part in parts if not isinstance(part, pd.DataFrame)]

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
            Whether samples that are not in the first file are left out.

        Returns
        -------
        RawTable
            The joined table, with the identifiers of its rows and each source's columns.

        Raises
        ------
        DataError
            If a file lacks the identifier or has one twice, or identifiers hardly match.
        """
        parts = dict(zip(self.names, self._files(as_text), strict=True))
        first = parts[self.own_name]
        others = [*parts.values()][1:]
        for part in others:
            _check_match(part, first)
        every = (label for part in parts.values() for label in part.frame.index)
        ids = first.frame.index if only_first else pd.Index(dict.fromkeys(every))
        there = pd.DataFrame(
            {name: ids.isin(part.frame.index) for name, part in parts.items()}, index=ids
        )
        of_files = {name: self._sources(name, part) for name, part in parts.items()}
        columns = {name: list(chain(*of_file.values())) for name, of_file in of_files.items()}
        sources = _all_sources(of_files)
        counts = Counter(column for names in columns.values() for column in names)
        if counts and max(counts.values()) > 1:
            twice = max(counts, key=lambda name: counts[name])
            files = [parts[name].path for name in columns if twice in columns[name]]
            raise DataError(
                f"Two columns would be named {quoted(twice)}: rename one of them in"
                f" {' or '.join(files)}, or give a source another name."
            )
        frames = [
            in_rows(part.frame.set_axis(columns[name], axis=1), ids) for name, part in parts.items()
        ]
        table = pd.concat(frames, axis=1).reset_index(drop=True)
        notes = [note for part in others for note in _near_misses(part, first)]
        notes += [note for part in parts.values() for note in part.notes]
        several = len(parts) > 1
        origin = f"{counted(len(parts), 'file')} joined by {quoted(self.by)}"
        return RawTable(
            table,
            self.own_name,
            origin if several else f"{next(iter(parts.values())).path}, named by {quoted(self.by)}",
            [*(self._numbers(parts, there) if several else ()), *notes],
            next((part.decimal for part in parts.values() if part.decimal), None),
            ids=pd.Series(ids, name=self.by),
            sources=sources if several or len(sources) > 1 else None,
        )

    def _files(self, as_text: Collection[str]) -> Iterator[_File]:
        """Read the files; one without the identifier may have samples in columns."""
        known: set[str] = set()
        first: _File | None = None
        for name, part in zip(self.names, [self.outcomes, *self.sources.values()], strict=True):
            if isinstance(part, pd.DataFrame):
                raw, title = _of_frame(part, self.by, name), name
            else:
                raw = read_whole(part, [self.by, *_own_globs(name, as_text)])
                title = Path(part).name
            raw = _with_ids(raw, self.by) if first is None else _beside(raw, self.by, first)
            if self.by not in raw.frame and first is not None:
                raw = _turned(raw, self.by, known)
            file = _File.of(raw, self.by, title, first is not None)
            known |= {*file.frame.index}
            first = first or file
            yield file

    def _sources(self, name: str, part: _File) -> dict[str, list[str]]:
        """Return the names of a file's columns in the joined table, by source.

        They begin with that of their source, except those of the first file.
        """
        sources = part.sources or {name: [str(column) for column in part.frame]}
        if name == self.own_name:
            return {source: [*columns] for source, columns in sources.items()}
        if len(sources) == 1:
            (names,) = sources.values()
            begun = f"{name}_"
            return {name: [each if each.startswith(begun) else begun + each for each in names]}
        return {
            f"{name}_{source}": [f"{name}_{each}" for each in columns]
            for source, columns in sources.items()
        }

    def _numbers(self, parts: Mapping[str, _File], there: pd.DataFrame) -> list[str]:
        """Return notes on how many samples each file has, all have, and only one has."""
        notes = [
            f"{part.path}: {counted(len(part.frame), 'sample')},"
            f" {counted(part.frame.shape[1], 'column')}"
            for part in parts.values()
        ]
        every = int(there.all(axis=1).sum())
        notes.append(
            f"joined by {quoted(self.by)}: {counted(len(there), 'sample')}, of which {every} are in"
            f" all {len(parts)} files"
        )
        alone = there.sum(axis=1) == 1
        for name, part in parts.items():
            only = there.index[alone & there[name]].tolist()
            if only:
                notes.append(f"{counted(len(only), 'sample')} only in {part.path}: {listed(only)}")
        return notes


@attrs.frozen(eq=False)
class _File:
    """A file's columns, indexed by the identifiers as text, with notes on how it was read.

    ``sources`` are the columns of each of its sources, if the file divides them.
    """

    frame: pd.DataFrame
    path: str
    notes: list[str]
    decimal: str | None
    sources: Mapping[str, Sequence[str]] | None = None

    @classmethod
    def of(cls, raw: RawTable, by: str, path: str, may_be_turned: bool) -> _File:
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
        ids, blanks = _as_text(raw.frame[by])
        if ids.isna().any():
            place = int(np.flatnonzero(ids.isna())[0])
            raise DataError(
                f"{path} has no {quoted(by)} in row {place + 1}"
                f" ({counted(int(ids.isna().sum()), 'row')} without it): leave such rows out."
            )
        twice = ids[ids.duplicated()].unique()
        if len(twice):
            raise DataError(
                f"{path} has {quoted(by)} {quoted(twice[0])} in"
                f" {counted(int((ids == twice[0]).sum()), 'row')} ({len(twice)} such): a sample has"
                " one row in each file. Keep one of them, or their means."
            )
        frame = raw.frame.drop(columns=by).set_axis(pd.Index(ids), axis=0)
        if may_be_turned and not len(frame.columns):
            raise DataError(f"{path} has no column besides {quoted(by)}: it is no source.")
        ignored = f"blanks around {counted(blanks, 'identifier')} ignored"
        notes = [f"{path}: {note}" for note in ([ignored] if blanks else []) + raw.notes]
        sources = raw.sources and {
            source: [column for column in columns if column != by]
            for source, columns in raw.sources.items()
        }
        return cls(frame, path, notes, raw.decimal, sources)


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


def _beside(raw: RawTable, by: str, first: _File) -> RawTable:
    """Return the table of a source, with its identifiers and without outcomes of its own.

    Rows without names are those of the first file, if there are as many.
    """
    if raw.unnamed:
        n_rows, expected = len(raw.frame), len(first.frame)
        if n_rows != expected:
            raise DataError(
                f"{raw.name} holds {counted(n_rows, 'row')} without identifiers, and {first.path}"
                f" {expected}: rows without them are taken in the same order. Give both the same"
                " rows, or write a file that names its samples, such as AnnData's (.h5ad)."
            )
        ids = pd.Series(first.frame.index, name=by)
        told = f"rows have no identifiers and are taken in the order of {first.path}"
        return _with_ids(attrs.evolve(raw, ids=ids, notes=[told, *raw.notes]), by)
    if raw.sources is None:
        return _with_ids(raw, by)
    outcomes, *others = raw.sources
    left_out = [column for column in raw.sources[outcomes] if column != by]
    notes = [f"{named(left_out)} left out: columns of {outcomes} describe samples"]
    return _with_ids(
        attrs.evolve(
            raw,
            frame=raw.frame.drop(columns=left_out),
            notes=[*(notes if left_out else []), *raw.notes],
            sources={source: raw.sources[source] for source in others},
        ),
        by,
    )


def _all_sources(of_files: Mapping[str, Mapping[str, list[str]]]) -> dict[str, list[str]]:
    """Return the columns of each source of all files, which must have different names."""
    sources: dict[str, list[str]] = {}
    for of_file in of_files.values():
        twice = [source for source in of_file if source in sources]
        if twice:
            raise DataError(
                f"Two sources are named {quoted(twice[0])}: give that of --source another name."
            )
        sources |= of_file
    return sources


def _own_globs(name: str, as_text: Collection[str]) -> list[str]:
    """Return names and globs of columns of a joined table as a source's own file has them."""
    return [*as_text, *(glob.removeprefix(f"{name}_") for glob in as_text)]


def _as_text(ids: pd.Series) -> tuple[pd.Series, int]:
    """Return identifiers as text, and how many had blanks around them; gaps as gaps.

    Whole numbers have no fraction.
    """
    if ids.dtype.kind == "f" and (ids.dropna() % 1 == 0).all() and ids.abs().max() < 2**53:
        ids = ids.astype("Int64")
    text = ids.astype("string").astype(object).where(ids.notna(), None)
    stripped = text.str.strip()
    return stripped, int((stripped != text)[ids.notna()].sum())


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
    frame = raw.frame.iloc[:, 1:].T.set_axis(features.tolist(), axis=1).infer_objects()
    frame.insert(0, by, names)
    frame, notes = plain_values(frame.reset_index(drop=True), raw.name)
    told = (
        f"features are in rows (named by {quoted(first)}) and samples in columns: {shared} of"
        f" {len(names)} columns are known samples"
    )
    return attrs.evolve(raw, frame=frame, notes=[told, *raw.notes, *notes])


Form = Callable[[str], str]

FORMS: tuple[tuple[str, Form], ...] = (
    ("without leading zeros", lambda text: text.lstrip("0")),
    ("in one case", str.casefold),
    ("with letters and digits alone", lambda text: re.sub(r"[\W_]", "", text).casefold()),
    (
        "without what follows their last separator",
        lambda text: re.sub(r"[-_.:/ ][^-_.:/ ]*$", "", text),
    ),
)
"""How identifiers of one sample may differ, and the form in which they are the same."""


def _check_match(part: _File, first: _File) -> None:
    """Raise an error if few identifiers are the same, or many would be in another form."""
    a, b = part.frame.index, first.frame.index
    same, few = int(a.isin(b).sum()), min(len(a), len(b))
    mine, others = a[~a.isin(b)].tolist(), b[~b.isin(a)].tolist()
    for words, form in FORMS:
        pairs = _pairs_in_form(mine, others, form)
        if len(pairs) > HARDLY * few:
            x, y = pairs[0]
            raise DataError(
                f"Of {counted(few, 'sample')}, {same} have the same identifier in {part.path} and"
                f" {first.path}; {words}, {len(pairs)} more would:"
                f" {quoted(x)} beside {quoted(y)}. Write them alike in both files."
            )
    if same < max(1, HARDLY * few):
        raise DataError(
            f"The identifiers of {part.path} hardly match those of {first.path}: {same} of {few}"
            f" are the same. They look like {_examples(a)} in the first and {_examples(b)} in the"
            " second; join by a column that both files have."
        )


def _near_misses(part: _File, first: _File) -> Iterator[str]:
    """Yield notes on samples that are in both files under identifiers that differ a little."""
    a, b = part.frame.index, first.frame.index
    mine, others = a[~a.isin(b)].tolist(), b[~b.isin(a)].tolist()
    for words, form in FORMS:
        pairs = _pairs_in_form(mine, others, form)
        if pairs:
            shown = ", ".join(f"{quoted(x)} beside {quoted(y)}" for x, y in pairs[:SHOWN_IDS])
            taken = "is taken for another sample" if len(pairs) == 1 else "are taken for others"
            yield (
                f"{counted(len(pairs), 'identifier')} of {part.path} would be in {first.path}"
                f" {words}, and {taken}: {shown}"
            )
            mine = [label for label in mine if label not in {x for x, _ in pairs}]


def _pairs_in_form(a: Sequence[str], b: Sequence[str], form: Form) -> list[tuple[str, str]]:
    """Return the identifiers of two files that are the same in a form, of either or of both."""
    plain = {label: label for label in b}
    best: list[tuple[str, str]] = []
    changed = {form(label): label for label in b}
    for others, of_mine in ((plain, form), (changed, form), (changed, str)):
        pairs = [(label, others[of_mine(label)]) for label in a if of_mine(label) in others]
        distinct = {other for _, other in pairs}
        if len(distinct) == len(pairs) > len(best):
            best = pairs
    return best


def _examples(ids: Iterable[str]) -> str:
    return ", ".join(quoted(label) for label in [*ids][:SHOWN_IDS])
