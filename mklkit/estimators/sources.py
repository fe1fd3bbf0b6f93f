"""Sources of a table: groups of columns, by their names, by what they hold, or as the user says."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.estimators.table_reading import as_table, column_holds
from mklkit.protocols import Array, Reads, RowSource, TableRows
from mklkit.registry.columns import bind_kernels, proposed_specs, resolve_columns
from mklkit.views.bound_kernels import BoundKernel

SEPARATOR = re.compile(r"[_.:/|-]")
"""What divides the name of a source from that of its column."""

MOST_GROUPS = 8
"""Larger numbers of groups would leave fewer than five candidates to each of them."""

FEWEST_TEXTS, FEWEST_WORDS, SEQUENCE = 20, 3, 20
"""Free text has as many different values, most of as many words or one run of as many letters."""

FEWEST_COUNTS = 5
"""Fewer columns of counts are not compared as such."""

DATE_PARTS = ("_month", "_weekday", "_hour")
"""What ``TableEncoder`` adds to the name of a date."""


@attrs.frozen(eq=False)
class Source:
    """Columns that belong together (None for all), what kernels read in them, and how it is told.

    ``told`` is empty where the others tell it.
    """

    name: str
    columns: NDArray[np.intp] | None
    reads: Reads = "numbers"
    told: str = ""


def kernels_by_kind(X: Any) -> list[BoundKernel]:
    """Return the kernels by which a table is read where ``fit`` is to propose some.

    Those that are proposed for free text, categories and counts, bound to such columns, and the
    default ones, on numbers, where there are others.
    """
    usual = bind_kernels(None)
    table = X if isinstance(X, pd.DataFrame | RowSource) else np.asarray(X)
    if isinstance(table, RowSource) or table.ndim != 2:
        return usual
    frame = as_table(table)
    words = [
        place
        for place, kind in enumerate(frame.dtypes)
        if kind.kind not in "iufb"
        and column_holds(frame.iloc[:, place]) in ("text", "other values")
    ]
    texts = [place for place in words if is_free_text(frame.iloc[:, place])]
    counts = counts_in(frame)
    read: list[tuple[Reads, list[int]]] = [("text", [place]) for place in texts]
    read += [("categories", [place for place in words if place not in texts]), ("amounts", counts)]
    special = [
        (spec, spec, columns)
        for reads, columns in read
        if columns
        for spec in proposed_specs(reads)
    ]
    every = len(words) + len(counts) == frame.shape[1]
    return [*([] if special and every else usual), *(bind_kernels(special) if special else [])]


def is_free_text(column: pd.Series) -> bool:
    """Return whether a column holds sentences or sequences, rather than categories.

    At least 20 values differ, and in half of the rows; most have three words or 20 letters.

    >>> is_free_text(pd.Series([f"slept {hours} hours" for hours in range(20)]))
    True
    >>> is_free_text(pd.Series([f"ward {number}" for number in range(20)]))
    False
    """
    if column.dtype.kind in "iufb" or column_holds(column) != "text":
        return False
    texts = column.dropna().unique()
    if len(texts) < max(FEWEST_TEXTS, column.count() / 2):
        return False
    free = [
        len(text.split()) >= FEWEST_WORDS
        or (len(text) >= SEQUENCE and all(sign.isalpha() or not sign.isascii() for sign in text))
        for text in texts
    ]
    return 2 * sum(free) > len(free)


def counts_in(frame: pd.DataFrame) -> list[int]:
    """Return the positions of columns of counts.

    They are five or more of whole numbers from 0 to above 2, without gaps, whose names begin alike
    (or all those that do so with too few others). Most of them are 0 in a quarter of the rows, or
    have values above five times their median.

    >>> rows = np.random.default_rng(0).poisson(1, (50, 6))
    >>> counts_in(pd.DataFrame(rows, columns=["a_1", "a_2", "a_3", "a_4", "a_5", "b"]))
    [0, 1, 2, 3, 4]
    """
    places = [place for place, kind in enumerate(frame.dtypes) if kind.kind in "iuf"]
    rows = frame.iloc[:, places].to_numpy(dtype=np.float64, na_value=np.nan)
    if not rows.size:
        return []
    low, high = rows.min(axis=0), rows.max(axis=0)  # NaN where there are gaps
    whole = np.flatnonzero((low >= 0) & (high > 2) & (rows == np.floor(rows)).all(axis=0))
    uneven = (rows == 0).mean(axis=0) >= 0.25
    uneven |= high > 5 * np.median(rows, axis=0)
    firsts = [SEPARATOR.split(str(frame.columns[places[n]]), maxsplit=1)[0] for n in whole]
    sizes = Counter(firsts)
    groups = defaultdict[str, list[int]](list)
    for column, first in zip(whole.tolist(), firsts, strict=True):
        groups[first if sizes[first] >= FEWEST_COUNTS else ""].append(column)
    counts = [
        column
        for columns in groups.values()
        if len(columns) >= FEWEST_COUNTS and uneven[columns].mean() > 0.5
        for column in columns
    ]
    return sorted(places[column] for column in counts)


def sources_of(
    kernels: Sequence[BoundKernel],
    names: Sequence[str] | None,
    rows: Array | TableRows,
    given: Sequence[str] = (),
) -> list[Source]:
    """Return the sources for which kernels are proposed, all numbers together first.

    ``kernels`` are those by which the rows were read (:func:`kernels_by_kind`). The one-hot columns
    of categories are in no other source of numbers.
    """
    every = np.arange(rows.shape[1])

    def read_as(reads: Reads) -> NDArray[np.intp]:
        columns = [every if k.columns is None else k.columns for k in kernels if k.reads == reads]
        return np.unique(np.concatenate([every[:0], *columns]))

    texts, categories, counts = map(read_as, ("text", "categories", "amounts"))
    numbers = np.setdiff1d(every, np.concatenate([texts, categories, counts]))
    labels = [str(name) for name in (every if names is None else names)]
    one_hot = tuple(f"{labels[place]}_" for place in categories)
    plain = [place for place in numbers.tolist() if not labels[place].startswith(one_hot)]
    dates = _dates(labels, plain)
    plain = [place for place in plain if place not in {*chain(*dates.values())}]
    known = np.array(sorted([*plain, *counts]), np.intp)
    if given:
        groups = named_groups(given, names, rows)
    else:
        cells = rows.numbers if isinstance(rows, TableRows) else rows
        parts = column_groups(names and [names[place] for place in known], cells[:, known])
        groups = {name: known[places] for name, places in parts.items()}
    whole = None if len(numbers) == len(every) else numbers
    sources = [Source("", whole)] if len(numbers) else []
    for group, members in (groups or {"": known}).items():
        some, many = np.intersect1d(members, known), np.intersect1d(members, counts)
        some = np.setdiff1d(some, many)
        name, counted = group or "numbers", f"{group} counts".strip()
        if 0 < len(some) == len(numbers):
            sources[0] = Source("", whole, told=f"{name} ({len(some)})")
        elif len(some):
            sources.append(Source(name, some, "numbers", f"{name} ({len(some)})"))
        if len(many):
            sources.append(Source(counted, many, "amounts", f"{counted} ({len(many)})"))
    for name, columns in dates.items():
        sources.append(Source(name, np.array(columns), "numbers", f"date: {name}"))
    for place in texts:
        sources.append(Source(labels[place], np.array([place]), "text", f"text: {labels[place]}"))
    if len(categories):
        told = f"categories ({len(categories)})"
        sources.append(Source("categories", categories, "categories", told))
    return sources


def _dates(labels: Sequence[str], places: Sequence[int]) -> dict[str, list[int]]:
    """Return the columns of each date that varies in month, weekday or hour."""
    place_of = {labels[place]: place for place in places}
    dates = {
        name: [
            place_of[f"{name}{part}"] for part in ("", *DATE_PARTS) if f"{name}{part}" in place_of
        ]
        for name in place_of
    }
    return {name: columns for name, columns in dates.items() if len(columns) > 1}


def named_groups(
    sources: Sequence[str], names: Sequence[str] | None, rows: Array | TableRows
) -> dict[str, NDArray[np.intp]]:
    """Return the positions of the columns of each source that is named, and of the others."""
    every = np.arange(rows.shape[1])
    groups: dict[str, NDArray[np.intp]] = {}
    for source in sources:
        columns = resolve_columns(source, len(every), names)
        groups[source] = every if columns is None else columns
    return _and_others(groups, len(every))


def column_groups(names: Sequence[str] | None, rows: Array) -> dict[str, NDArray[np.intp]]:
    """Return the positions of the columns of each source, by the first part of their names.

    The first part ends with the first separator of a name (one of ``_ . : / | -``); where all
    columns share it, the next one counts. A source has at least two columns. Indicator columns of a
    single text column (as ``rows`` show) are no source of their own. They, columns without a
    source, and the smallest of more than eight sources are one group, ``others``. There are at
    least two sources, or no groups at all.

    >>> rows = np.arange(14.0).reshape(2, 7)
    >>> names = ["mrna_G1.6", "mrna_G2.1", "mirna_hsa-let-7a", "mirna_hsa-let-7b", "dose", "a:1"]
    >>> {name: columns.tolist() for name, columns in column_groups(names, rows[:, :6]).items()}
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
    sources = {
        f"{part}*": np.array(places)
        for part, places in by_part.items()
        if len(places) > 1 and not _are_indicators(rows[:, places])
    }
    if len(sources) < 2:
        return {}
    largest = sorted(sources, key=lambda part: -len(sources[part]))[:MOST_GROUPS]
    groups = {name: columns for name, columns in sources.items() if name in largest}
    return _and_others(groups, rows.shape[1])


def _and_others(groups: dict[str, NDArray[np.intp]], n_columns: int) -> dict[str, NDArray[np.intp]]:
    others = np.setdiff1d(np.arange(n_columns), np.concatenate(list(groups.values())))
    return {**groups, "others": others} if len(others) else groups


def _are_indicators(rows: Array) -> bool:
    """Return whether exactly one column is high in each row and all columns have two values."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    two_valued = ((rows == low) | (rows == high)).all()
    # A rare value may be absent from these rows.
    is_high = (rows == high) & (low < high)
    return bool(two_valued and (is_high.sum(axis=1) == 1).all())
