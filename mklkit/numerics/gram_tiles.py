"""Gram matrices by tiles: sums, mirrored triangles, centring, means, spreads, compiled."""

from __future__ import annotations

from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled

Array = NDArray[np.floating[Any]]

MIRROR_ROWS = 64

CHUNK = 1024
"""Values to read twice, for mean and standard deviation, while they are in the cache."""

LEAST, MOST = 1e-200, 1e200
"""Sums of squares between these have neither overflowed nor lost significant digits."""


@compiled()
def mirror_tile(
    matrix: Array, first: int, last: int, start: int, stop: int
) -> None:  # pragma: no cover - compiled
    """Copy the part of a tile of a symmetric matrix that is above the diagonal to below it.

    Works on small squares: if rows are a power of two apart, writing column by column reuses the
    same cache lines, and transposing a whole tile takes ten times as long.
    """
    for top in range(first, last, MIRROR_ROWS):
        for left in range(start, stop, MIRROR_ROWS):
            for j in range(left, min(left + MIRROR_ROWS, stop)):
                for i in range(top, min(top + MIRROR_ROWS, last, j)):
                    matrix[j, i] = matrix[i, j]


@compiled()
def add_scaled(matrix: Array, tile: Array, weight: float) -> None:  # pragma: no cover - compiled
    """Add a tile (n, m), times a weight, to a part of a matrix of the same size."""
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            matrix[i, j] += weight * tile[i, j]


@compiled()
def take_square(
    matrix: Array, members: NDArray[np.intp], out: Array
) -> None:  # pragma: no cover - compiled
    """Write a matrix (N, N) of some rows (n,), which are below N, to ``out`` (n, n)."""
    for i in range(members.size):
        row = matrix[members[i]]
        for j in range(members.size):
            out[i, j] = row[members[j]]


@compiled()
def part_means(
    matrix: Array, members: NDArray[np.intp], ends: NDArray[np.intp]
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the mean of a matrix (N, N) over the pairs of each part: rows up to its end (P,)."""
    means = np.empty(ends.size)
    first = 0
    for part in range(ends.size):
        places = members[first : ends[part]]
        total = 0.0
        for i in range(places.size):
            row = matrix[places[i]]
            for j in range(places.size):
                total += row[places[j]]
        means[part] = total / places.size**2
        first = ends[part]
    return means


def centered_gram(
    gram: NDArray[Any], dtype: Any = None, row_weights: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return HKH of a Gram matrix, H = I − 11ᵀ/N; with sample weights v HKHᵀ, H = I − 1vᵀ/Σv."""
    if row_weights is None:
        means = gram.mean(axis=0, dtype=dtype)
        centered = gram - means
        centered -= centered.mean(axis=1)[:, None]
        return centered
    share = row_weights / row_weights.sum()
    centered = gram - (share @ gram).astype(dtype or gram.dtype)
    centered -= (centered @ share)[:, None]
    return centered


@compiled(inexact=["contract", "reassoc"])
def margin_sums(
    tile: Array,
    unit: float,
    columns: NDArray[np.float64],
    row_weights: NDArray[np.float64],
    column_weights: NDArray[np.float64],
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the weighted sums (n,) of a tile's rows times a unit; add those of columns to (m,)."""
    rows = np.empty(tile.shape[0])
    for i in range(tile.shape[0]):
        total = 0.0
        for j in range(tile.shape[1]):
            value = tile[i, j] * unit
            total += value * column_weights[j]
            columns[j] += value * row_weights[i]
        rows[i] = total
    return rows


@compiled()
def _centered(
    value: float, unit: float, row: float, column: float
) -> float:  # pragma: no cover - compiled
    return (value * unit - row) - column


@compiled()
def center_tile(
    tile: Array,
    unit: float,
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:  # pragma: no cover - compiled
    """Write a tile (n, m) times a unit, minus the means of rows (n,) and then of columns (m,)."""
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            out[i, j] = _centered(np.float64(tile[i, j]), unit, rows[i], columns[j])


@compiled(inexact=["contract", "reassoc"])
def product_sums(
    tile: Array,
    unit: float,
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    left: tuple[NDArray[np.float64], NDArray[np.float64]],
    right: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return ``l @ T @ r`` and ``v @ T**2 @ w`` of a centred tile T for (l, v) and (r, w)."""
    product = squares = 0.0
    for i in range(tile.shape[0]):
        mean = rows[i]
        total = square = 0.0
        for j in range(tile.shape[1]):
            value = _centered(np.float64(tile[i, j]), unit, mean, columns[j])
            total += value * right[0][j]
            square += value * value * right[1][j]
        product += left[0][i] * total
        squares += left[1][i] * square
    return product, squares


@attrs.frozen
class Moments:
    """Count, mean and (population) standard deviation of values.

    These are stored unsquared: values of 1e300 or 1e-300, whose squares a float64 cannot
    represent, give correct results.
    """

    count: int = 0
    mean: float = 0.0
    deviation: float = 0.0

    @classmethod
    def of(cls, values: Array, weight: int = 1) -> Self:
        """Return the moments of an array, each value counted ``weight`` times."""
        flat = values.reshape(-1)
        if flat.size == 0:
            return cls()
        mean, squares = _mean_and_squares(flat)
        if LEAST < squares < MOST:
            return cls(flat.size * weight, mean, float(np.sqrt(squares / flat.size)))
        return cls._of_extreme(flat, weight)

    @classmethod
    def _of_extreme(cls, flat: Array, weight: int) -> Self:
        """Return the moments of values that are equal, not finite, or have extreme squares."""
        low, high = float(flat.min()), float(flat.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            return cls(flat.size * weight, float("nan"), float("nan"))
        if low == high:
            # The computed mean of equal values is often slightly off, with a deviation above 0.
            return cls(flat.size * weight, low, 0.0)
        # A power of two rescales exactly; the sum of a tile then can't overflow.
        exponent = int(np.frexp(max(-low, high))[1])
        near_one = np.ldexp(flat.astype(np.float64, copy=False), -exponent)
        mean = float(near_one.mean())
        near_one -= mean
        spread = float(np.max(np.abs(near_one)))
        near_one /= spread
        deviation = spread * float(np.sqrt(near_one @ near_one / flat.size))
        return cls(
            flat.size * weight,
            float(np.ldexp(mean, exponent)),
            float(np.ldexp(deviation, exponent)),
        )

    def merge(self, moments: Moments) -> Moments:
        """Return the moments of both sets of values together (Chan et al.)."""
        if self.count == 0 or moments.count == 0:
            return moments if self.count == 0 else self
        count = self.count + moments.count
        share = moments.count / count
        gap = moments.mean - self.mean
        deviation = np.hypot(
            np.hypot(self.deviation * np.sqrt(1 - share), moments.deviation * np.sqrt(share)),
            gap * np.sqrt(share * (1 - share)),
        )
        return Moments(count, self.mean + gap * share, float(deviation))


@compiled()
def _difference(value: float, less: float) -> float:  # pragma: no cover - compiled
    """Subtract first, where sums may be reordered."""
    return value - less


@compiled(inexact=["contract", "reassoc"])
def _mean_and_squares(values: Array) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return the mean of values (n,) and the sum of squared deviations from it."""
    mean = squares = 0.0
    for start in range(0, values.size, CHUNK):
        chunk = values[start : start + CHUNK]
        first = np.float64(chunk[0])
        total = squares_of_chunk = 0.0
        for i in range(chunk.size):
            total += _difference(np.float64(chunk[i]), first)
        center = first + total / chunk.size
        for i in range(chunk.size):
            gap = _difference(np.float64(chunk[i]), center)
            squares_of_chunk += gap * gap
        share = chunk.size / (start + chunk.size)
        apart = center - mean
        mean += apart * share
        squares += squares_of_chunk + apart * apart * share * start
    return mean, squares
