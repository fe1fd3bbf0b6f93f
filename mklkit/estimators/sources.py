"""Sources of a table: groups of columns, by their names or as the user gives them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array
from mklkit.registry.columns import resolve_columns

SEPARATOR = re.compile(r"[_.:/|-]")
"""What divides the name of a source from that of its column."""

MOST_GROUPS = 8
"""Larger numbers of groups would leave fewer than five candidates to each of them."""


def named_groups(
    sources: Sequence[str], names: Sequence[str] | None, rows: Array
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
