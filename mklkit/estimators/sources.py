"""Sources of a table: groups of columns, by name, by content, or as the user says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.errors import DataError, SpecError, quoted, suggest
from mklkit.estimators.binding import as_table, column_holds, header
from mklkit.estimators.joining import SEPARATOR, Places, dense_columns
from mklkit.protocols import Reads, RowSource, Source
from mklkit.registry.columns import (
    AUTO_KERNELS,
    bind_kernels,
    kernel_list,
    parts_of,
    proposed_kernels,
    resolve_columns,
    with_unique_labels,
)
from mklkit.registry.readings import MISSING_CATEGORY
from mklkit.registry.registry import get_registry
from mklkit.views.bound_kernels import BoundKernel

NOT_IN_GLOBS = frozenset(",*?[:")
"""Characters of a source's name that mean something else in the columns of a kernel."""

NOT_IN_NAMES = NOT_IN_GLOBS | frozenset("@]()=# \t")
"""Characters of which the name of a source must have none, for kernels to name it."""

MOST_GROUPS = 30
"""More groups, of a few columns each, are rather the names of columns than sources."""

FEWEST_COLUMNS = 10
"""If no group of names has so many, they need not be sources: x_mean, x_std, y_mean, y_std."""

LONE_SOURCE = ("numbers", AUTO_KERNELS, slice(None))
"""The kernels to be chosen for all columns together."""

NO_VALUE_OF_ITS_OWN = (MISSING_CATEGORY, "other")
"""The names of one-hot columns for gaps and for rare values."""

OTHERS = "others"
"""The source of the columns that no name of a source begins."""

FEWEST_TEXTS, FEWEST_WORDS, FEWEST_LETTERS = 20, 3, 20
"""Least distinct values of free text, and words or letters of most of them."""

DATE_PARTS = ("", "_month", "_weekday", "_hour")
"""The suffix that ``TableEncoder`` adds to the name of a date."""


def may_name_source(label: str) -> bool:
    """Return whether the label of a kernel that names no columns may be that of a source.

    It may if the user gave it: else it is the kernel's specification.
    """
    kernels = {entry.name for entry in get_registry().entries("kernel")}
    return label != AUTO_KERNELS and not {"(", "[", "#"} & {*label} and label not in kernels


def as_source_name(text: str, default: str) -> str:
    """Return a text, such as the name of a file, as that of a source, which kernels can name.

    >>> as_source_name("rna counts", "file"), as_source_name("linear", "file")
    ('rna_counts', 'linear_')
    """
    name = re.sub(rf"[{re.escape(''.join(NOT_IN_NAMES))}]", "_", text) or default
    return name if may_name_source(name) else f"{name}_"


def columns_of_labels(labels: Sequence[str], names: Sequence[str]) -> Places:
    """Return the columns of the sources that have these labels, which may be none.

    They are named like the source, or begin with its name and a separator. A column belongs to the
    longest such label. Labels that can't be those of sources have none. A ``SpecError`` is raised
    for a label without columns that is almost the name of a source that names of columns tell.

    Examples
    --------
    >>> columns_of_labels(["gene", "gene_x", "age"], ["gene_1", "gene_x_1", "gene_x.2", "dose"])
    {'gene': array([0]), 'gene_x': array([1, 2])}
    """
    places: dict[str, list[int]] = defaultdict(list)
    known = {label for label in labels if may_name_source(label)}
    for place, name in enumerate(names if known else ()):
        beginnings = [name, *(name[: mark.start()] for mark in SEPARATOR.finditer(name))]
        owners = known.intersection(beginnings)
        if owners:
            places[max(owners, key=len)].append(place)
    if unknown := [label for label in labels if label in known and label not in places]:
        _refuse_near_misses(unknown, [group[:-2] for group in column_groups(names)])
    return {label: np.array(places[label], np.intp) for label in labels if label in places}


def with_columns_of_labels(
    kernels: Sequence[BoundKernel], names: Sequence[str] | None, sources: Places | None
) -> list[BoundKernel]:
    """Return kernels in which one that names no columns reads the source that its label names.

    The sources are those of a mapping, or else told by the names of columns. A ``SpecError``
    is raised for a label that is almost the name of a source.
    """
    labels = [bound.label for bound in kernels if bound.columns is None]
    if sources is not None:
        places = sources
        _refuse_near_misses(labels, sources)
    else:
        places = columns_of_labels(labels, names or ())
    return [
        attrs.evolve(bound, columns=places[bound.label])
        if bound.columns is None and bound.label in places and not _is_any(bound)
        else bound
        for bound in kernels
    ]


def _refuse_near_misses(labels: Sequence[str], sources: Collection[str]) -> None:
    """Raise a ``SpecError`` for a label that is almost the name of a source."""
    for label in labels:
        if label in sources or not may_name_source(label):
            continue
        if advice := suggest(label, sources):
            raise SpecError(
                f"Kernel {quoted(label)} names no columns, and no source.{advice} If it shall read"
                f" other columns, name them, as in {quoted(f'{label}:rbf@*')} for all of them."
            )


def _is_any(bound: BoundKernel) -> bool:
    """Return whether a kernel stands for all sources that no other kernel names."""
    return bound.auto and bound.label == AUTO_KERNELS


def sources_told(frame: pd.DataFrame, sources: Sequence[Source]) -> list[Source]:
    """Return the sources that kernels declare, with the columns that names of a table tell.

    Those of a label are added to it, and one that stands for all sources is replaced by them.
    Sources without columns are none that a sample may miss.
    """
    labels = [source.label for source in sources if source.columns is None]
    names = frame.columns.tolist()
    named = columns_of_labels(labels, names)
    taken = [np.empty(0, np.intp), *named.values()]
    for source in sources:
        if source.columns is not None:
            with suppress(DataError):  # Columns that exist only once the table is encoded.
                columns = resolve_columns(source.columns, len(names), names)
                taken += [] if columns is None else [columns]
    told: list[Source] = []
    for source in sources:
        if source.columns is not None:
            told.append(source)
        elif source.label in named:
            columns = selector_of(source.label, named[source.label], names)
            told.append(attrs.evolve(source, columns=columns, by_name=None))
        elif source.by_name is not None and source.missing is not None:
            contents = Contents.of(frame)
            is_lone = source.by_name == "if large" and not contents.several_by_name()
            groups = {} if is_lone else contents.groups(np.unique(np.concatenate(taken)))
            told += [
                Source(
                    name or source.label,
                    selector_of(name, places, names),
                    None,
                    missing=source.missing,
                )
                for name, places in groups.items()
                if len(groups) > 1
            ]
        else:
            told.append(attrs.evolve(source, missing=None))
    return told


def sources_to_choose(
    kernels: Sequence[BoundKernel], X: Any, sources: Places | None = None
) -> list[BoundKernel]:
    """Return kernels with those to be chosen bound to the columns of one source each.

    A source holds numbers, text or categories, and has the kernel with which it is read until one
    is chosen. A kernel to be chosen that names no columns stands for all ``sources``, by default
    for those that the names of columns tell, without the columns that other kernels name.
    """
    if not any(bound.auto for bound in kernels):
        return list(kernels)
    table = Contents.of(X)
    named = [
        columns
        for bound in kernels
        if bound.columns is not None
        and (columns := resolve_columns(bound.columns, table.n_columns, table.names)) is not None
    ]
    taken = np.unique(np.concatenate([np.empty(0, np.intp), *named]))
    chosen: list[BoundKernel] = []
    for bound in kernels:
        if not bound.auto:
            chosen.append(bound)
        elif bound.columns is None:
            groups = table.groups(taken) if sources is None else sources
            for name, places in groups.items():
                chosen += table.parts(name, np.setdiff1d(places, taken))
        else:
            columns_of = resolve_columns(bound.columns, table.n_columns, table.names)
            every = np.arange(table.n_columns)
            chosen += table.parts(bound.label, every if columns_of is None else columns_of)
    if not chosen:
        raise DataError("No column is left for the kernels to be chosen: others name all of them.")
    return with_unique_labels(chosen)


def kernels_to_choose(X: Any) -> list[Any]:
    """Return the kernels to be chosen for a table of numbers: one a source, or one of all columns.

    Columns are of several sources if their names tell so and one source has ten columns or more.
    The one-hot columns of categories, and the parts of dates, are no source.
    """
    return [AUTO_KERNELS if Contents.of(X).several_by_name() else LONE_SOURCE]


def kernels_of_sources(
    kernels: Any, sources: Places, names: Sequence[str]
) -> list[tuple[str, Any, Any, str | None]]:
    """Return kernels that name the columns of a mapping's sources, which have become one table.

    A kernel to be chosen for all sources is one for each that no other kernel is labelled like.
    ``names`` are those of the table's columns. A ``SpecError`` is raised for a label that is almost
    the name of a source.

    Examples
    --------
    >>> sources = {"lab": np.array([0, 1]), "age": np.array([2])}
    >>> kernels_of_sources(["auto", "lab:rbf"], sources, ["lab_a", "lab_b", "age"])
    [('age', 'auto', ['age'], None), ('lab', 'rbf', 'lab_*', None)]
    """
    selectors = {name: selector_of(name, places, names) for name, places in sources.items()}
    values = kernel_list(kernels)
    bank = bind_kernels(values)
    labels = [bound.label for bound in bank if bound.columns is None]
    _refuse_near_misses(labels, sources)
    named: list[tuple[str, Any, Any, str | None]] = []
    for bound, value in zip(bank, values, strict=True):
        _, spec, columns, scale = parts_of(value)
        if columns is None and _is_any(bound):
            rest = [name for name in sources if name not in labels]
            named += [(name, AUTO_KERNELS, selectors[name], None) for name in rest]
        else:
            chosen = selectors.get(bound.label) if columns is None else columns
            named.append((bound.label, AUTO_KERNELS if bound.auto else spec, chosen, scale))
    return named


def kernels_by_source(X: pd.DataFrame) -> list[tuple[str, Any, Any, str | None]]:
    """Return the kernels to be chosen for a table of numbers that tells several sources; else none.

    They are those that an estimator would choose by default.
    """
    contents = Contents.of(X)
    if not contents.several_by_name():
        return []
    groups = contents.groups(np.empty(0, np.intp))
    return kernels_of_sources(AUTO_KERNELS, groups, X.columns.tolist())


def selector_of(source: str, places: NDArray[np.intp], names: Sequence[str]) -> Any:
    """Return some columns as a user would name them: a glob of the source's, if it chooses these.

    Examples
    --------
    >>> names = ["lab_a", "lab_b", "age"]
    >>> selector_of("lab", np.array([0, 1]), names), selector_of("rest", np.array([2]), names)
    ('lab_*', ['age'])
    """
    chosen = [place for place, name in enumerate(names) if name.startswith(f"{source}_")]
    if np.array_equal(chosen, places) and not NOT_IN_GLOBS & {*source}:
        return f"{source}_*"
    return [names[place] for place in places]


@attrs.frozen(eq=False)
class Contents:
    """What the columns of a table hold: the positions of free text and categories; else numbers."""

    n_columns: int
    names: tuple[str, ...] | None
    texts: NDArray[np.intp]
    categories: NDArray[np.intp]
    frame: pd.DataFrame | None = None

    @classmethod
    def of(cls, X: Any) -> Self:
        """Return the contents of a table; samples that are read in parts hold numbers."""
        n_columns, names = header(X)
        nothing = np.empty(0, np.intp)
        if isinstance(X, RowSource):
            return cls(n_columns, names, nothing, nothing)
        table = as_table(X)
        frame, positions = dense_columns(table)
        odd = [place for place, kind in enumerate(frame.dtypes) if kind.kind not in "iufb"]
        words = [n for n in odd if column_holds(frame.iloc[:, n]) in ("text", "other values")]
        texts = [place for place in words if is_free_text(frame.iloc[:, place])]
        categories = [place for place in words if place not in texts]
        parts = positions[np.array(texts, np.intp)], positions[np.array(categories, np.intp)]
        return cls(n_columns, names, *parts, None if frame is not table else frame)

    def groups(self, taken: NDArray[np.intp]) -> Places:
        """Return the sources that a table has, without some columns; at least one.

        Those that names tell, else all numbers; each date, which is several columns; and free text
        and categories, whose one-hot columns are in none.
        """
        words = np.setdiff1d(np.union1d(self.texts, self.categories), taken)
        numbers, dates = self._numbers_and_dates(taken)
        groups = self.named_groups(numbers) or ({"": numbers} if len(numbers) else {})
        groups |= dates
        if len(words):
            groups["words" if groups else ""] = words
        return groups or {"": np.setdiff1d(np.arange(self.n_columns), taken)}

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The columns of numbers, without one-hot ones and the parts of dates."""
        return self._numbers_and_dates(np.empty(0, np.intp))[0]

    def several_by_name(self) -> bool:
        """Return whether the names of its numbers tell several sources, one of them not small."""
        groups = self.named_groups(self.numbers)
        named = [len(columns) for name, columns in groups.items() if name != OTHERS]
        return max(named, default=0) >= FEWEST_COLUMNS

    def _numbers_and_dates(self, taken: NDArray[np.intp]) -> tuple[NDArray[np.intp], Places]:
        """Return the columns of numbers, without one-hot ones, and those of each date."""
        words = np.union1d(self.texts, self.categories)
        numbers = np.setdiff1d(np.arange(self.n_columns), np.union1d(words, taken))
        if self.names is None:
            return numbers, {}
        one_hot = self._one_hot_names()
        plain = [n for n in numbers.tolist() if self.names[n] not in one_hot]
        dates = _dates({self.names[place]: place for place in plain})
        parts = [n for date in dates.values() for n in date.tolist()]
        return np.setdiff1d(np.array(plain, np.intp), parts), dates

    def _one_hot_names(self) -> set[str]:
        """Return the names that an encoder gives to the one-hot columns of the categories."""
        if self.names is None or self.frame is None:
            return set()
        return {
            f"{self.names[place]}_{value}"
            for place in self.categories.tolist()
            for value in (*self.frame.iloc[:, place].dropna().unique(), *NO_VALUE_OF_ITS_OWN)
        }

    def named_groups(self, numbers: NDArray[np.intp]) -> Places:
        """Return the sources that the names of some columns tell, by name; none, or at least two.

        The one-hot columns of a category, which has no other kernel, are among the others.
        """
        if self.names is None:
            return {}
        groups = column_groups([self.names[n] for n in numbers.tolist()])
        groups = {name: numbers[places] for name, places in groups.items() if name != OTHERS}
        groups = {name: places for name, places in groups.items() if not self._is_one_hot(places)}
        if len(groups) < 2:
            return {}
        others = np.setdiff1d(numbers, np.concatenate([*groups.values()]))
        groups = {name.removesuffix("_*"): places for name, places in groups.items()}
        return {**groups, OTHERS: others} if len(others) else groups

    def _is_one_hot(self, places: NDArray[np.intp]) -> bool:
        """Return whether columns are 0 and 1, at most one of them 1 in each sample."""
        if self.frame is None:
            return False
        values = self.frame.iloc[:, places].to_numpy(np.float64, na_value=0.0)
        return bool(((values == 0) | (values == 1)).all() and values.sum(axis=1).max() <= 1)

    def parts(self, name: str, places: NDArray[np.intp]) -> list[BoundKernel]:
        """Return the parts of a source to choose kernels for: numbers, each text, categories."""
        texts = np.intersect1d(places, self.texts)
        categories = np.intersect1d(places, self.categories)
        numbers = np.setdiff1d(places, np.union1d(texts, categories))
        parts: list[tuple[str, Reads, NDArray[np.intp]]] = []
        if len(numbers):
            parts.append((name or "numbers", "numbers", numbers))
        for place in texts:
            title = name if len(places) == 1 and name else f"{place}"
            if self.names is not None and (name in ("", "words") or len(places) > 1):
                title = self.names[int(place)]
            parts.append((title, "text", np.array([place])))
        if len(categories):
            alone = name not in ("", "words") and not parts
            parts.append((name if alone else "categories", "categories", categories))
        return [
            attrs.evolve(
                proposed_kernels(reads)[0],
                label=label,
                columns=columns,
                auto=True,
            )
            for label, reads, columns in parts
        ]


def _dates(places: dict[str, int]) -> Places:
    """Return the parts of each date among named columns, as the encoder names them."""
    dates = {
        name: [places[name + end] for end in DATE_PARTS if name + end in places] for name in places
    }
    return {name: np.array(columns) for name, columns in dates.items() if len(columns) > 1}


def is_free_text(column: pd.Series) -> bool:
    """Return whether a column holds sentences or sequences, rather than categories.

    At least 20 values differ, and in half of the samples; most have three words or 20 letters.
    """
    if column.dtype.kind in "iufb" or column_holds(column) != "text":
        return False
    texts = column.dropna().unique()
    if len(texts) < max(FEWEST_TEXTS, column.count() / 2):
        return False
    free = [
        len(text.split()) >= FEWEST_WORDS
        or (
            len(text) >= FEWEST_LETTERS
            and all(sign.isalpha() or not sign.isascii() for sign in text)
        )
        for text in texts
    ]
    return 2 * sum(free) > len(free)


def column_groups(names: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """Return the positions of the columns of each source, by the first part of their names.

    The first part ends with the first separator of a name (one of ``_ . : / | -``), or with the
    next one if all columns share it. A source has at least two columns. Columns without a source,
    and the smallest of more than thirty sources, form one group, ``others``. There are at least
    two sources, or no groups at all.

    >>> names = ["mrna_G1.6", "mrna_G2.1", "mirna_hsa-let-7a", "mirna_hsa-let-7b", "dose", "a:1"]
    >>> {name: columns.tolist() for name, columns in column_groups(names).items()}
    {'mrna_*': [0, 1], 'mirna_*': [2, 3], 'others': [4, 5]}
    """
    by_part: dict[str, list[int]] = {}
    start = 0
    while names and len(by_part) < 2:
        ends = [SEPARATOR.search(name, start) for name in names]
        by_part = defaultdict(list)
        for place, (name, end) in enumerate(zip(names, ends, strict=True)):
            by_part[name[: end.end()] if end else ""].append(place)
        if "" in by_part or len(by_part) > 1:
            break
        start = len(next(iter(by_part)))
    by_part.pop("", None)
    sources = {f"{p}*": np.array(places) for p, places in by_part.items() if len(places) > 1}
    if len(sources) < 2:
        return {}
    largest = sorted(sources, key=lambda part: -len(sources[part]))[:MOST_GROUPS]
    groups = {name: columns for name, columns in sources.items() if name in largest}
    return _and_others(groups, len(names))


def _and_others(groups: dict[str, NDArray[np.intp]], n_columns: int) -> dict[str, NDArray[np.intp]]:
    others = np.setdiff1d(np.arange(n_columns), np.concatenate(list(groups.values())))
    return {**groups, OTHERS: others} if len(others) else groups
