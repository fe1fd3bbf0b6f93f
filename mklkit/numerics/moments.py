"""Mean and standard deviation of values that arrive in tiles, without overflow or underflow."""

from __future__ import annotations

from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled

__all__ = ["Moments"]

CHUNK = 1024
"""Values that are read twice, for their mean and their deviation from it, while in the cache."""

LEAST, MOST = 1e-200, 1e200
"""Sums of squares between these have neither overflowed nor lost any digit that matters."""


@attrs.frozen
class Moments:
    """Count, mean and (population) standard deviation of the values seen.

    Deviations are stored unsquared: values of 1e300 or 1e-300, whose squares a float64 cannot
    represent, give correct results.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([1.0, 2.0, 3.0, 4.0])
    >>> halves = Moments.of(values[:1]).merge(Moments.of(values[1:]))
    >>> halves.mean, bool(np.isclose(halves.deviation, values.std()))
    (2.5, True)
    """

    count: int = 0
    mean: float = 0.0
    deviation: float = 0.0

    @classmethod
    def of(cls, values: NDArray[np.floating[Any]], weight: int = 1) -> Self:
        """Return the moments of an array, each value counted ``weight`` times."""
        flat = values.reshape(-1)
        if flat.size == 0:
            return cls()
        mean, squares = _mean_and_squares(flat)
        if LEAST < squares < MOST:
            return cls(flat.size * weight, mean, float(np.sqrt(squares / flat.size)))
        return cls._of_extreme(flat, weight)

    @classmethod
    def _of_extreme(cls, flat: NDArray[np.floating[Any]], weight: int) -> Self:
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
    """Subtract before anything else, where sums may be taken in another order."""
    return value - less


@compiled(inexact=["contract", "reassoc"])
def _mean_and_squares(
    values: NDArray[np.floating[Any]],
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return the mean of values (n,) and the sum of squared deviations from it."""
    mean = squares = 0.0
    for start in range(0, values.size, CHUNK):
        chunk = values[start : start + CHUNK]
        first = np.float64(chunk[0])
        total = squares_of_chunk = 0.0
        for i in range(chunk.size):
            total += _difference(np.float64(chunk[i]), first)
        centre = first + total / chunk.size
        for i in range(chunk.size):
            gap = _difference(np.float64(chunk[i]), centre)
            squares_of_chunk += gap * gap
        share = chunk.size / (start + chunk.size)
        apart = centre - mean
        mean += apart * share
        squares += squares_of_chunk + apart * apart * share * start
    return mean, squares
