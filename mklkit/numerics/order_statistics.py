"""Exact order statistics of values that arrive in tiles, in constant memory.

A radix selection: float64 values, read as integers of the same order, are counted by their leading
sixteen bits; then only the values in the few bins that contain a wanted rank are processed again,
either gathered (if they are few) or counted by their next sixteen bits. At most four passes over
the tiles, usually two, whatever the values are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled

__all__ = [
    "Passes",
    "between",
    "interpolate",
    "quantile_places",
    "quantiles",
    "select_ranks",
    "values_at",
]

Passes = Callable[[], Iterable[tuple[NDArray[np.floating[Any]], int]]]
"""A new pass over the values: tiles, and the multiplicity of each tile's values."""

DIGIT_BITS = 16
N_DIGITS = 1 << DIGIT_BITS
GATHER_LIMIT = 1 << 20


@compiled(inline="always")
def _ordered(bits: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """Map a float64's bits to an integer that sorts as the float does."""
    sign = np.uint64(0x8000000000000000)
    if bits & sign:
        return ~bits
    return bits | sign


@compiled()
def _count_digits(
    bits: NDArray[np.uint64],
    prefixes: NDArray[np.uint64],
    depth: int,
    weight: int,
    counts: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Count the digits number ``depth`` of the values that start with a prefix."""
    shift = np.uint64(64 - DIGIT_BITS * (depth + 1))
    prefix_shift = np.uint64(64 - DIGIT_BITS * depth)
    mask = np.uint64(N_DIGITS - 1)
    for i in range(bits.size):
        key = _ordered(bits[i])
        digit = (key >> shift) & mask
        if depth == 0:
            counts[0, digit] += weight
            continue
        prefix = key >> prefix_shift
        for p in range(prefixes.size):
            if prefixes[p] == prefix:
                counts[p, digit] += weight
                break


@compiled()
def _gather(
    bits: NDArray[np.uint64],
    prefixes: NDArray[np.uint64],
    depth: int,
    weight: int,
    keys: NDArray[np.uint64],
    weights: NDArray[np.int64],
    filled: int,
) -> int:  # pragma: no cover - compiled
    """Append the values that start with a prefix; return how many slots are filled."""
    prefix_shift = np.uint64(64 - DIGIT_BITS * depth)
    for i in range(bits.size):
        key = _ordered(bits[i])
        prefix = key >> prefix_shift
        for p in range(prefixes.size):
            if prefixes[p] == prefix:
                keys[filled] = key
                weights[filled] = weight
                filled += 1
                break
    return filled


def _bits(tile: NDArray[np.floating[Any]]) -> NDArray[np.uint64]:
    # Adding zero turns -0.0 into 0.0, which must sort as an equal value.
    return (np.ascontiguousarray(tile, dtype=np.float64).reshape(-1) + 0.0).view(np.uint64)


def _to_float(key: int) -> float:
    sign = 1 << 63
    bits = key & ~sign if key & sign else ~key & (2**64 - 1)
    return float(np.array(bits, dtype=np.uint64).view(np.float64))


def select_ranks(tiles: Passes, ranks: Sequence[int]) -> list[float]:
    """Return the values of the given ranks among all values of the tiles.

    Parameters
    ----------
    tiles : callable
        Called for each pass; returns an iterable of ``(array, weight)``, each value of the array
        counted ``weight`` times. All finite.
    ranks : sequence of int
        Zero-based ranks, smallest first, below the total count.

    Returns
    -------
    list of float
        One exact value per rank.

    Notes
    -----
    O(n) time per pass, at most four passes, a few megabytes of memory.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([5.0, -1.0, 3.0, 1e300, 1e-300])
    >>> select_ranks(lambda: [(values, 1)], [0, 2, 4])
    [-1.0, 3.0, 1e+300]
    """
    searches = [_Search(rank) for rank in ranks]
    if not searches:
        return []
    for depth in range(64 // DIGIT_BITS):
        prefixes = np.array(sorted({s.prefix for s in searches}), dtype=np.uint64)
        population = {s.prefix: s.population for s in searches}
        if depth > 0 and sum(population.values()) <= GATHER_LIMIT:
            return _finish_by_sorting(tiles, searches, prefixes, depth, sum(population.values()))
        counts = np.zeros((len(prefixes), N_DIGITS), dtype=np.int64)
        for tile, weight in tiles():
            _count_digits(_bits(tile), prefixes, depth, weight, counts)
        row_of = {int(prefix): row for row, prefix in enumerate(prefixes)}
        for search in searches:
            search.narrow(counts[row_of[search.prefix]])
    return [_to_float(search.prefix) for search in searches]


class _Search:
    """One wanted rank: its leading digits so far, and its rank among values that share them."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.prefix = 0
        self.population = 0

    def narrow(self, counts: NDArray[np.int64]) -> None:
        upto = np.cumsum(counts)
        digit = int(np.searchsorted(upto, self.rank, side="right"))
        if digit >= N_DIGITS:
            raise IndexError(f"rank {self.rank} is not below the number of values, {upto[-1]}")
        self.population = int(counts[digit])
        self.rank -= int(upto[digit]) - self.population
        self.prefix = (self.prefix << DIGIT_BITS) | digit


def _finish_by_sorting(
    tiles: Passes, searches: list[_Search], prefixes: NDArray[np.uint64], depth: int, size: int
) -> list[float]:
    keys = np.empty(size, dtype=np.uint64)
    weights = np.empty(size, dtype=np.int64)
    filled = 0
    for tile, weight in tiles():
        filled = _gather(_bits(tile), prefixes, depth, weight, keys, weights, filled)
    order = np.argsort(keys[:filled])
    keys, weights = keys[order], weights[order]
    owners = keys >> np.uint64(64 - DIGIT_BITS * depth)
    found = []
    for search in searches:
        start, stop = np.searchsorted(owners, np.uint64(search.prefix), side="left"), len(keys)
        upto = np.cumsum(weights[start:stop])
        found.append(_to_float(int(keys[start + np.searchsorted(upto, search.rank, side="right")])))
    return found


def quantiles(tiles: Passes, count: int, fractions: Sequence[float]) -> list[float]:
    """Return quantiles with linear interpolation, as ``numpy.quantile`` defines them.

    Parameters
    ----------
    tiles : callable
        As for :func:`select_ranks`.
    count : int
        The number of values, counted with their weights.
    fractions : sequence of float
        Between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> quantiles(lambda: [(np.arange(4.0), 1)], 4, [0.25, 0.75])
    [0.75, 2.25]
    """
    places = quantile_places(count, fractions)
    return between(places, values_at(tiles, [rank for *pair, _ in places for rank in pair]))


def quantile_places(count: int, fractions: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return, per quantile, the ranks on both sides and its relative position between them.

    Examples
    --------
    >>> quantile_places(4, [0.25])
    [(0, 1, 0.75)]
    """
    positions = [fraction * (count - 1) for fraction in fractions]
    return [(int(p), min(int(p) + 1, count - 1), p - int(p)) for p in positions]


def values_at(tiles: Passes, ranks: Iterable[int]) -> dict[int, float]:
    """Return the value of each rank, from :func:`select_ranks`."""
    distinct = sorted(set(ranks))
    return dict(zip(distinct, select_ranks(tiles, distinct), strict=True))


def between(places: Iterable[tuple[int, int, float]], values: Any) -> list[float]:
    """Return the quantiles at the places, for values by rank."""
    return [interpolate(float(values[a]), float(values[b]), part) for a, b, part in places]


def interpolate(low: float, high: float, part: float) -> float:
    """Return the linear interpolation between low and high."""
    # Not low + part * (high - low): the difference of -1e308 and 1e308 overflows.
    return low if low == high else low * (1 - part) + high * part
