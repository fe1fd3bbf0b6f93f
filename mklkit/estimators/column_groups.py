"""Columns of one source, recognised by their names: ``mrna_1``, ``mrna_2``, ``clin.age`` …"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array

__all__ = ["ColumnGroup", "column_groups"]

SEPARATED = re.compile(r"(.+[_.:/|-])[^_.:/|-]+")
"""A prefix up to the last separator, and the rest of a name."""

MOST_GROUPS = 8
"""Larger numbers of groups would leave fewer than five candidates to each of them."""


@attrs.frozen(eq=False)
class ColumnGroup:
    """Columns that belong together.

    Attributes
    ----------
    name : str
        For messages: a glob (``mrna_*``), or ``others``.
    columns : ndarray of int
        Their positions, in order.
    """

    name: str
    columns: NDArray[np.intp]


def column_groups(names: Sequence[str] | None, rows: Array) -> list[ColumnGroup]:
    """Return the groups of columns by the common beginning of their names, or none.

    A beginning ends with the last separator of a name (one of ``_ . : / | -``), and makes a group
    if several columns have it; one that continues another, as ``clin_site_`` does ``clin_``,
    belongs to that. Indicator columns of a single text column are no source of their own. They,
    columns without a group, and the smallest of more than eight groups are one group, ``others``.

    Parameters
    ----------
    names : sequence of str or None
        The names of the d columns.
    rows : ndarray of shape (n, d)
        Some rows, by which indicator columns are recognised.

    Returns
    -------
    list of ColumnGroup
        At least two of at least two columns each (except ``others``), or none at all.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.arange(12.0).reshape(2, 6)
    >>> found = column_groups(["mrna_1", "mrna_2", "clin.age", "clin.bmi", "dose", "img:1"], rows)
    >>> [(group.name, group.columns.tolist()) for group in found]
    [('mrna_*', [0, 1]), ('clin.*', [2, 3]), ('others', [4, 5])]
    """
    if names is None:
        return []
    groups = _by_beginning(names)
    sources = {
        beginning: np.array(places)
        for beginning, places in groups.items()
        if len(places) > 1 and not _are_indicators(rows[:, places])
    }
    if len(sources) < 2:
        return []
    largest = sorted(sources, key=lambda beginning: -len(sources[beginning]))[:MOST_GROUPS]
    found = [ColumnGroup(f"{name}*", sources[name]) for name in sources if name in largest]
    rest = np.setdiff1d(np.arange(len(names)), np.concatenate([one.columns for one in found]))
    return [*found, ColumnGroup("others", rest)] if len(rest) else found


def _by_beginning(names: Sequence[str]) -> Mapping[str, list[int]]:
    """Return the places of the names that share a beginning."""
    found: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        match = SEPARATED.fullmatch(name)
        if match is not None:
            found[match.group(1)].append(place)
    shared = {beginning for beginning, places in found.items() if len(places) > 1}
    joined: dict[str, list[int]] = defaultdict(list)
    for beginning, places in found.items():
        shorter = (other for other in shared if beginning.startswith(other))
        joined[min(shorter, key=len, default=beginning)] += places
    return {beginning: sorted(places) for beginning, places in joined.items()}


def _are_indicators(rows: Array) -> bool:
    """Return whether exactly one column is high in each row and all columns have two values."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    two_valued = ((rows == low) | (rows == high)).all()
    # A rare value may be absent from these rows.
    is_high = (rows == high) & (low < high)
    return bool(two_valued and (is_high.sum(axis=1) == 1).all())
