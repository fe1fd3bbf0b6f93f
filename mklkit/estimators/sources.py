"""Sources of a table: groups of columns, by name, by content, or as the user says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.estimators.binding import as_table, column_holds
from mklkit.protocols import Reads, RowSource
from mklkit.registry.columns import bind_kernels, proposed_specs, resolve_columns
from mklkit.views.bound_kernels import BoundKernel

SEPARATOR = re.compile(r"[_.:/|-]")
"""Characters that separate the name of a source from that of its column."""

MOST_GROUPS = 8
"""More groups would leave each with fewer than five candidates."""

FEWEST_TEXTS, FEWEST_WORDS, FEWEST_LETTERS, FEWEST_COUNTS = 20, 3, 20, 5
"""Least distinct values of free text, words or letters of most of them, and count columns."""

DATE_PARTS = ("", "_month", "_weekday", "_hour")
"""The suffix that ``TableEncoder`` adds to the name of a date."""


@attrs.frozen(eq=False)
class Source:
    """Columns that belong together (None for all), and what kernels read in them."""

    name: str
    columns: Any
    reads: Reads = "numbers"

    def __str__(self) -> str:
        """Return its text in notes."""
        name = self.name
        return f"text: {name}" if self.reads == "text" else f"{name} ({len(self.columns)})"

    def kernels(self) -> list[BoundKernel]:
        """Return the proposed kernels, the most useful first.

        Those on numbers are also proposed for counts, which share a unit.
        """
        specs = proposed_specs(self.reads)
        specs += proposed_specs() if self.reads == "amounts" else []
        at = f"@{self.name}" if self.name and self.columns is not None else ""
        return bind_kernels([(f"{spec}{at}", spec, self.columns) for spec in specs])


def kernels_by_kind(X: Any) -> list[BoundKernel]:
    """Return the kernels for which a table is read before ``fit`` proposes some.

    They are those for columns of free text, categories and counts, and the default ones, on
    numbers, if there are other columns.
    """
    usual = bind_kernels(None)
    table = X if isinstance(X, pd.DataFrame | RowSource) else np.asarray(X)
    if isinstance(table, RowSource) or table.ndim != 2:
        return usual
    frame = as_table(table)
    odd = [place for place, kind in enumerate(frame.dtypes) if kind.kind not in "iufb"]
    words = [n for n in odd if column_holds(frame.iloc[:, n]) in ("text", "other values")]
    texts = [place for place in words if is_free_text(frame.iloc[:, place])]
    categories = [place for place in words if place not in texts]
    counts = counts_in(frame)
    parts = [Source("", [place], "text") for place in texts]
    parts += [Source("", categories, "categories"), Source("", counts, "amounts")]
    special = [bound for part in parts if part.columns for bound in part.kernels()]
    return special if len(words) + len(counts) == frame.shape[1] > 0 else usual + special


def is_free_text(column: pd.Series) -> bool:
    """Return whether a column holds sentences or sequences, rather than categories.

    At least 20 values differ, and in half of the rows; most have three words or 20 letters.
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


def counts_in(frame: pd.DataFrame) -> list[int]:
    """Return the positions of columns of counts.

    They hold whole numbers from 0 to above 1, without gaps, in groups of five or more: columns
    whose names begin alike, or all the rest. Most columns of a group are 0 in a quarter of the
    rows or, if their names begin alike, have values above five times their median.
    """
    places = [place for place, kind in enumerate(frame.dtypes) if kind.kind in "iuf"]
    rows = frame.iloc[:, places].to_numpy(dtype=np.float64, na_value=np.nan)
    if not rows.size:
        return []
    low, high = rows.min(axis=0), rows.max(axis=0)  # NaN where there are gaps
    whole = np.flatnonzero((low >= 0) & (high > 1) & (rows == np.floor(rows)).all(axis=0))
    zeros, tail = (rows == 0).mean(axis=0) >= 0.25, high > 5 * np.median(rows, axis=0)
    names = [str(frame.columns[places[column]]) for column in whole]
    firsts = pd.Series([SEPARATOR.split(name, maxsplit=1)[0] for name in names], dtype=object)
    firsts = firsts.mask(firsts.groupby(firsts).transform("size") < FEWEST_COUNTS, "")
    groups = (zeros[whole] | (tail[whole] & (firsts != ""))).groupby(firsts)
    counts = (groups.transform("size") >= FEWEST_COUNTS) & (groups.transform("mean") > 0.5)
    return [places[column] for column in whole[counts]]


def inferred_sources(
    kernels: Sequence[BoundKernel],
    names: Sequence[str] | None,
    n_columns: int,
    patterns: Sequence[str] = (),
) -> list[Source]:
    """Return the sources to propose kernels for, first all numbers together.

    ``kernels`` are those for which the rows were read (:func:`kernels_by_kind`), ``patterns`` the
    columns of each source; if empty, sources are recognised by name. The one-hot columns of
    categories are in no other source of numbers, and those of a kernel with a fixed share in none.
    """
    every = np.arange(n_columns)

    def read_by(some: Iterable[BoundKernel]) -> NDArray[np.intp]:
        columns = [every if bound.columns is None else bound.columns for bound in some]
        return np.unique(np.concatenate([every[:0], *columns]))

    kept = read_by(bound for bound in kernels if bound.traits.share)
    kinds: tuple[Reads, ...] = ("text", "categories", "amounts")
    texts, categories, counts = (
        np.setdiff1d(read_by(bound for bound in kernels if bound.reads == reads), kept)
        for reads in kinds
    )
    numbers = np.setdiff1d(every, np.concatenate([texts, categories, counts, kept]))
    labels = [str(name) for name in (every if names is None else names)]
    one_hot = tuple(f"{labels[place]}_" for place in categories)
    plain = [place for place in numbers.tolist() if not labels[place].startswith(one_hot)]
    of = {labels[place]: place for place in plain}
    dates = {name: [of[name + end] for end in DATE_PARTS if name + end in of] for name in of}
    dates = {name: columns for name, columns in dates.items() if len(columns) > 1}
    dated = {*chain(*dates.values())}
    plain = [place for place in plain if place not in dated]
    known = np.array(sorted([*plain, *counts]), np.intp)
    parts = column_groups([] if names is None else [names[place] for place in known])
    groups = {part: known[places] for part, places in parts.items()}
    if patterns:
        chosen = {source: resolve_columns(source, len(every), names) for source in patterns}
        groups = _and_others({k: every if c is None else c for k, c in chosen.items()}, len(every))
    sources = [Source("", None if len(numbers) == len(every) else numbers)] if len(numbers) else []
    if not groups and len(plain) == len(numbers):
        sources = [attrs.evolve(source, name="numbers") for source in sources]
        plain = []
    for group, members in (groups or {"": known}).items():
        some, many = np.intersect1d(members, plain), np.intersect1d(members, counts)
        sources += [Source(group or "numbers", some)] if len(some) else []
        sources += [Source(f"{group} counts".strip(), many, "amounts")] if len(many) else []
    sources += [Source(name, np.array(columns)) for name, columns in dates.items()]
    sources += [Source(labels[place], np.array([place]), "text") for place in texts]
    return sources + ([Source("categories", categories, "categories")] if len(categories) else [])


def column_groups(names: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """Return the positions of the columns of each source, by the first part of their names.

    The first part ends with the first separator of a name (one of ``_ . : / | -``), or with the
    next one if all columns share it. A source has at least two columns. Columns without a source,
    and the smallest of more than eight sources, form one group, ``others``. There are at least
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
    return {**groups, "others": others} if len(others) else groups
