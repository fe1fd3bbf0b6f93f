"""What a critical-difference diagram consists of, whatever it is drawn with."""

from __future__ import annotations

import numpy as np

from mklkit.evaluation.rank_tests import indistinguishable
from mklkit.protocols import Array

__all__ = ["OVERHANG", "limits_of_ranks", "rank_bars", "sides"]

OVERHANG = 0.008
"""Of a bar beyond the ranks that it joins, as a share of the axis."""


def limits_of_ranks(ranks: Array) -> tuple[float, float]:
    """Return the ends of the axis: whole ranks around all."""
    low = float(np.floor(ranks.min()))
    return low, max(float(np.ceil(ranks.max())), low + 1)


def rank_bars(ranks: Array, difference: float) -> list[tuple[float, float, int]]:
    """Return best rank, worst rank and level of each bar; those on one level do not meet."""
    low, high = limits_of_ranks(ranks)
    apart = 4 * OVERHANG * (high - low)
    ends_of_levels: list[float] = []
    bars = []
    for group in indistinguishable(ranks, difference):
        start, end = ranks[group[0]], ranks[group[-1]]
        free = (i for i, last in enumerate(ends_of_levels) if last + apart < start)
        level = next(free, len(ends_of_levels))
        ends_of_levels[level : level + 1] = [end]
        bars.append((float(start), float(end), level))
    return bars


def sides(ranks: Array) -> tuple[list[int], list[int]]:
    """Return the methods named on the left, where the worst are, and on the right.

    Each from the outside to the inside, so that no line of a name crosses another.
    """
    order = np.argsort(-ranks, kind="stable").tolist()
    half = (len(order) + 1) // 2
    return order[: len(order) - half], order[len(order) - half :][::-1]
