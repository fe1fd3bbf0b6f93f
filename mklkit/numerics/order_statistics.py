"""Exact order statistics of values that arrive in tiles, in constant memory.

A radix selection: float64 values, read as integers of the same order, are counted in 2^16 parts of
an interval that contains the requested rank, at first that of all numbers, or one guessed from a
sample. Then only the values in that rank's part are processed again, either gathered (if they are
few) or counted in its parts. At most four passes over the tiles, or five where the guess was
wrong; usually two.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled
from mklkit.numerics.threads import each

Values = NDArray[np.floating[Any]]
Keys = NDArray[np.uint64]
Tile = tuple[Values | Callable[[], Values], int]
Passes = Callable[[], Iterable[Tile]]
"""A new pass over the values: tiles, and the multiplicity of each tile's values.

A tile may be a function that computes it, called from one of several threads; the next tile of the
same thread may use the same memory."""

DIGIT_BITS = 16
N_DIGITS = 1 << DIGIT_BITS
GATHER_LIMIT = 1 << 20
SIGN = 1 << 63
MARGIN = 0.04
"""The share of a sample on each side of a rank's place that bounds the guess of its value."""


@compiled()
def _keys_within(
    values: Values, least: float, most: float, keys: Keys
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Write the keys, sorted like floats, of values in an interval; count them and those below."""
    sign = np.uint64(SIGN)
    count = below = 0
    for i in range(values.size):
        # Adding zero turns -0.0 into 0.0, which must sort as an equal value.
        value = np.float64(values[i]) + 0.0
        bits = np.float64(value).view(np.uint64)
        keys[count] = ~bits if bits & sign else bits | sign
        count += int((value >= least) & (value <= most))
        below += int(value < least)
    return count, below


@compiled()
def _count(
    keys: Keys, low: np.uint64, shift: np.uint64, weight: int, counts: NDArray[np.int64]
) -> None:  # pragma: no cover - compiled
    for i in range(keys.size):
        counts[(keys[i] - low) >> shift] += weight


def _to_float(key: int) -> float:
    bits = key & ~SIGN if key & SIGN else ~key & (2**64 - 1)
    return float(np.array(bits, dtype=np.uint64).view(np.float64))


@attrs.frozen
class _Interval:
    """The values with keys from ``low`` to ``high``, inclusive."""

    low: int = 0
    high: int = 2**64 - 1

    @classmethod
    def around(cls, place: float, sample: Keys) -> Self:
        """Return a guess, from a sorted sample, of the interval at this relative place."""
        at = round(place * (len(sample) - 1))
        margin = int(MARGIN * len(sample)) + 1
        low = int(sample[at - margin]) if at >= margin else 0
        high = int(sample[at + margin]) if at + margin < len(sample) else 2**64 - 1
        return cls(low, max(high, low + 1))

    @property
    def shift(self) -> int:
        """The number of a key's last bits that do not determine its part of the interval."""
        return max(0, (self.high - self.low).bit_length() - DIGIT_BITS)

    def part(self, digit: int) -> _Interval:
        low = self.low + (digit << self.shift)
        return _Interval(low, min(self.high, low + (1 << self.shift) - 1))

    def keys(self, values: Values, memory: _KeyMemory) -> tuple[Keys, int]:
        """Return the keys of the values in the interval, in memory, and the number below."""
        keys = memory.of(values.size + 1)
        least, most = _to_float(self.low), _to_float(self.high)
        # The keys at both ends are those of NaN, and the one before zero's is that of -0.0.
        least = -np.inf if np.isnan(least) else least
        most = np.inf if np.isnan(most) else -5e-324 if self.high == SIGN - 1 else most
        count, below = _keys_within(np.ascontiguousarray(values).reshape(-1), least, most, keys)
        return keys[:count], below


class _KeyMemory(threading.local):
    """Memory of each thread for keys: new memory for each tile costs more than the search."""

    def __init__(self) -> None:
        self._keys = np.empty(0, dtype=np.uint64)

    def of(self, size: int) -> Keys:
        if self._keys.size < size:
            self._keys = np.empty(size, dtype=np.uint64)
        return self._keys


@attrs.define
class _Search:
    """A rank, its value's interval, and the numbers of values before and (once known) in that."""

    rank: int
    interval: _Interval
    before: int = 0
    population: int | None = None

    def narrow(self, below: int, counts: NDArray[np.int64]) -> None:
        """Narrow to the part that contains the rank, or to all numbers if the guess failed."""
        upto = below + np.cumsum(counts)
        if not below <= self.rank < upto[-1]:
            if self.interval == _Interval():
                raise IndexError(f"rank {self.rank} is not below the number of values, {upto[-1]}")
            self.interval = _Interval()
            return
        digit = int(np.searchsorted(upto, self.rank, side="right"))
        self.interval = self.interval.part(digit)
        self.population = int(counts[digit])
        self.before = int(upto[digit]) - self.population


def select_ranks(
    tiles: Passes, ranks: Iterable[int], sample: Values | None = None, count: int = 0
) -> dict[int, float]:
    """Return the exact value of each zero-based rank among all (finite) values of the tiles.

    A sample of the values, about evenly drawn, saves a pass; it takes their ``count`` too. O(n)
    time per pass, at most five passes, a few megabytes of memory.

    >>> values = np.array([5.0, -1.0, 3.0, 1e300, 1e-300])
    >>> select_ranks(lambda: [(values, 1)], [0, 2, 4])
    {0: -1.0, 2: 3.0, 4: 1e+300}
    """
    searches = [_Search(rank, _Interval()) for rank in sorted(set(ranks))]
    if sample is not None and sample.size and count > 1:
        keys = np.sort(_Interval().keys(sample, _KeyMemory())[0])
        for search in searches:
            search.interval = _Interval.around(search.rank / (count - 1), keys)
    while wanted := {
        s.interval: s.population for s in searches if s.interval.low < s.interval.high
    }:
        known = [size for size in wanted.values() if size is not None]
        if len(known) == len(wanted) and sum(known) <= GATHER_LIMIT:
            _finish_by_sorting(tiles, list(wanted), searches)
            break
        below, counts = _count_parts(tiles, list(wanted))
        for place, interval in enumerate(wanted):
            for search in [s for s in searches if s.interval == interval]:
                search.narrow(int(below[place]), counts[place])
    return {search.rank: _to_float(search.interval.low) for search in searches}


def _count_parts(
    tiles: Passes, intervals: Sequence[_Interval]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of values below each interval (G,) and in each of its parts (G, 2^16)."""
    none = np.zeros((len(intervals), 1 + N_DIGITS), dtype=np.int64)
    spare = [none]
    memory = _KeyMemory()

    def count(item: Tile) -> None:
        values, weight = _evaluated(item)
        try:
            counts = spare.pop()
        except IndexError:  # one array per thread suffices
            counts = np.zeros_like(none)
        for digits, interval in zip(counts, intervals, strict=True):
            keys, below = interval.keys(values, memory)
            digits[0] += weight * below
            _count(keys, np.uint64(interval.low), np.uint64(interval.shift), weight, digits[1:])
        spare.append(counts)

    for _ in each(count, tiles()):
        pass
    total = np.sum(spare, axis=0)
    return total[:, 0], total[:, 1:]


def _finish_by_sorting(
    tiles: Passes, intervals: Sequence[_Interval], searches: Sequence[_Search]
) -> None:
    """Narrow each search to one value, from the sorted values of its interval."""
    memory = _KeyMemory()

    def gather(item: Tile) -> tuple[list[Keys], int]:
        values, weight = _evaluated(item)
        return [interval.keys(values, memory)[0].copy() for interval in intervals], weight

    gathered = list(each(gather, tiles()))
    for place, interval in enumerate(intervals):
        parts = [keys[place] for keys, _ in gathered]
        keys = np.concatenate(parts)
        weights = np.repeat([weight for _, weight in gathered], [len(part) for part in parts])
        order = np.argsort(keys)
        upto = np.cumsum(weights[order])
        for search in [s for s in searches if s.interval == interval]:
            at = np.searchsorted(upto, search.rank - search.before, side="right")
            key = int(keys[order[at]])
            search.interval = _Interval(key, key)


def _evaluated(item: Tile) -> tuple[Values, int]:
    tile, weight = item
    return (tile() if callable(tile) else tile), weight


def quantiles(tiles: Passes, count: int, fractions: Sequence[float]) -> list[float]:
    """Return quantiles of ``count`` values with linear interpolation, as ``numpy.quantile`` does.

    >>> quantiles(lambda: [(np.arange(4.0), 1)], 4, [0.25, 0.75])
    [0.75, 2.25]
    """
    places = quantile_places(count, fractions)
    return between(places, select_ranks(tiles, [rank for *pair, _ in places for rank in pair]))


def quantile_places(count: int, fractions: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return, per quantile, the ranks on both sides and its relative position between them."""
    positions = [fraction * (count - 1) for fraction in fractions]
    return [(int(p), min(int(p) + 1, count - 1), p - int(p)) for p in positions]


def between(
    places: Iterable[tuple[int, int, float]], values: Mapping[int, float] | Values
) -> list[float]:
    """Return the quantiles at the places, for values by rank."""
    quantiles = []
    for first, second, part in places:
        low, high = float(values[first]), float(values[second])
        # Not low + part * (high - low): the difference of -1e308 and 1e308 overflows.
        quantiles.append(low if low == high else low * (1 - part) + high * part)
    return quantiles
