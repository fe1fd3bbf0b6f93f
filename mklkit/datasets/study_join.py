"""How the samples of several files are matched by an identifier, and their columns named."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Protocol

import attrs
import numpy as np
import pandas as pd

from mklkit.errors import DataError, counted, listed, quoted

HARDLY = 0.1
"""Files in which a smaller share of identifiers is the same are not joined."""

SHOWN_IDS = 3
"""The number of identifiers that a message shows."""

Form = Callable[[str], str]

FORMS: tuple[tuple[str, Form], ...] = (
    ("without the fraction .0", lambda text: re.sub(r"^(\d+)\.0+$", r"\1", text)),
    ("without leading zeros", lambda text: text.lstrip("0")),
    ("in one case", str.casefold),
    ("with letters and digits alone", lambda text: re.sub(r"[\W_]", "", text).casefold()),
    (
        "without what follows their last separator",
        lambda text: re.sub(r"[-_.:/ ][^-_.:/ ]*$", "", text),
    ),
)
"""How identifiers of one sample may differ, and the form in which they are the same."""


class FileOfSamples(Protocol):
    """A file of a study: its identifiers, its other columns, and how it divides these."""

    @property
    def path(self) -> str:
        """The name of the file in messages."""

    @property
    def ids(self) -> pd.Index:
        """The identifiers of its samples, as text."""

    @property
    def names(self) -> list[str]:
        """The names of its columns but the identifiers."""

    @property
    def sources(self) -> Mapping[str, Sequence[str]] | None:
        """The columns of each of its sources, if the file divides them."""


@attrs.frozen(eq=False)
class Join:
    """The samples of several files, and what their columns are named in one table.

    Attributes
    ----------
    ids : Index of shape (N,)
        The identifiers: those of the first file, in its order, then those that only others have.
    columns : dict of str to list of str
        The columns of each file in the joined table, in the file's order.
    sources : dict of str to list of str, optional
        Those of each source; None if there is only one.
    origin : str
    notes : list of str
        How many samples each file has, all have, and only one has, and identifiers that differ a
        little.
    """

    ids: pd.Index
    columns: dict[str, list[str]]
    sources: dict[str, list[str]] | None
    origin: str
    notes: list[str]

    @classmethod
    def of(cls, by: str, files: Mapping[str, FileOfSamples], only_first: bool = False) -> Join:
        """Match files, by the name of their source, the one with the outcomes first.

        A ``DataError`` is raised if identifiers hardly match, or two columns have one name.
        """
        first, *others = files.values()
        near_misses = [note for file in others for note in _matched(file, first)]
        every = (label for file in files.values() for label in file.ids)
        ids = first.ids if only_first else pd.Index(dict.fromkeys(every))
        of_outcomes = next(iter(files))
        of_files = {name: _sources(name, file, name == of_outcomes) for name, file in files.items()}
        columns = {name: list(chain(*of_file.values())) for name, of_file in of_files.items()}
        _check_names(columns, files)
        sources = _all_sources(of_files)
        if len(files) == 1:
            origin = f"{first.path}, named by {quoted(by)}"
            return cls(ids, columns, sources if len(sources) > 1 else None, origin, near_misses)
        notes = [*_numbers(by, files, ids), *near_misses]
        return cls(ids, columns, sources, f"{len(files)} files joined by {quoted(by)}", notes)


def identifiers(column: pd.Series, path: str) -> tuple[pd.Index, list[str]]:
    """Return the identifiers of a file's samples as text, and notes.

    Whole numbers have no fraction, and blanks around identifiers are ignored. A ``DataError``
    is raised for gaps, and an identifier that is there twice.
    """
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all() and column.abs().max() < 2**53:
        column = column.astype("Int64")
    text = column.astype("string").astype(object).where(column.notna(), None)
    ids = text.str.strip()
    if ids.isna().any():
        place = int(np.flatnonzero(ids.isna())[0])
        raise DataError(
            f"{path} has no {quoted(str(column.name))} in row {place + 1}"
            f" ({counted(int(ids.isna().sum()), 'row')} without it): leave such rows out."
        )
    twice = ids[ids.duplicated()].unique()
    if len(twice):
        raise DataError(
            f"{path} has {quoted(str(column.name))} {quoted(twice[0])} in"
            f" {counted(int((ids == twice[0]).sum()), 'row')} ({len(twice)} such): a sample has"
            " one row in each file. Keep one of them, or their means."
        )
    blanks = int((ids != text).sum())
    notes = [f"blanks around {counted(blanks, 'identifier')} ignored"] if blanks else []
    return pd.Index(ids), notes


def _sources(name: str, file: FileOfSamples, first: bool) -> dict[str, list[str]]:
    """Return the names of a file's columns in the joined table, by source.

    They begin with that of their source, except those of the first file.
    """
    sources = file.sources or {name: file.names}
    if first:
        return {source: [*columns] for source, columns in sources.items()}
    if len(sources) == 1:
        (names,) = sources.values()
        begun = f"{name}_"
        return {name: [each if each.startswith(begun) else begun + each for each in names]}
    return {
        f"{name}_{source}": [f"{name}_{each}" for each in columns]
        for source, columns in sources.items()
    }


def _check_names(columns: Mapping[str, list[str]], files: Mapping[str, FileOfSamples]) -> None:
    """Raise an error if two columns would have the same name."""
    counts = Counter(chain(*columns.values()))
    twice = next((column for column, count in counts.items() if count > 1), None)
    if twice is not None:
        paths = [files[name].path for name in columns if twice in columns[name]]
        raise DataError(
            f"Two columns would be named {quoted(twice)}: rename one of them in"
            f" {' or '.join(paths)}, or give a source another name."
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


def _numbers(by: str, files: Mapping[str, FileOfSamples], ids: pd.Index) -> list[str]:
    """Return notes on how many samples each file has, all have, and only one has."""
    notes = [
        f"{file.path}: {counted(len(file.ids), 'sample')}, {counted(len(file.names), 'column')}"
        for file in files.values()
    ]
    there = {name: ids.isin(file.ids) for name, file in files.items()}
    n_files = np.sum([*there.values()], axis=0)
    notes.append(
        f"joined by {quoted(by)}: {counted(len(ids), 'sample')}, of which"
        f" {int((n_files == len(files)).sum())} are in all {len(files)} files"
    )
    for name, file in files.items():
        only = ids[(n_files == 1) & there[name]].tolist()
        if only:
            notes.append(f"{counted(len(only), 'sample')} only in {file.path}: {listed(only)}")
    return notes


def _matched(file: FileOfSamples, first: FileOfSamples) -> list[str]:
    """Return notes on samples of two files whose identifiers differ a little.

    An error tells if few are the same, or many would be in another form.
    """
    a, b = file.ids, first.ids
    same, few = int(a.isin(b).sum()), min(len(a), len(b))
    mine, others = a[~a.isin(b)].tolist(), b[~b.isin(a)].tolist()
    notes, told = [], set[str]()
    for words, form in FORMS:
        pairs = _pairs_in_form(mine, others, form)
        if len(pairs) > HARDLY * few:
            x, y = pairs[0]
            raise DataError(
                f"Of {counted(few, 'sample')}, {same} have the same identifier in {file.path} and"
                f" {first.path}; {words}, {len(pairs)} more would:"
                f" {quoted(x)} beside {quoted(y)}. Write them alike in both files."
            )
        new = [(x, y) for x, y in pairs if x not in told]
        told |= {x for x, _ in new}
        if new:
            shown = ", ".join(f"{quoted(x)} beside {quoted(y)}" for x, y in new[:SHOWN_IDS])
            taken = "is taken for another sample" if len(new) == 1 else "are taken for others"
            notes.append(
                f"{counted(len(new), 'identifier')} of {file.path} would be in {first.path}"
                f" {words}, and {taken}: {shown}"
            )
    if same < max(1, HARDLY * few):
        raise DataError(
            f"The identifiers of {file.path} hardly match those of {first.path}: {same} of {few}"
            f" are the same. They look like {_examples(a)} in the first and {_examples(b)} in the"
            " second; join by a column that both files have."
        )
    return notes


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
