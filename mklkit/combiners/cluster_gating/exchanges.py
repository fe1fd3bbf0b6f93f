"""Exchanges of weight between two kernels of one cluster, each in O(CM) (001, section 5.2).

They raise θᵀS_Bθ / (θᵀS_Lθ + fᵀθ) over Θ (C, M) with rows on the simplex; θ is Θ flattened row by
row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled

__all__ = ["Exchanges", "best_step"]

Array = NDArray[np.floating[Any]]


class Exchanges:
    """Weights under way, and the ratio that exchanges of weight raise.

    Parameters
    ----------
    weights : ndarray of shape (C, M)
        Θ to start from, rows on the simplex; M is at least 2.
    upper, lower : ndarray of shape (CM, CM)
    linear : ndarray of shape (CM,)
    pairs : {"gradient", "random"}
    max_steps : int
        Exchanges to try, of all calls of :meth:`run` together.
    tolerance : float
        An exchange that raises the ratio by at most this fraction of itself is idle.
    rng : Generator
        Draws the random pairs.

    Attributes
    ----------
    theta : ndarray of shape (CM,)
    products : ndarray of shape (3, CM)
        S_Bθ and S_Lθ, and workspace for the slopes.
    ratio : float
    steps : int
        Exchanges tried so far.
    """

    def __init__(
        self,
        weights: Array,
        upper: Array,
        lower: Array,
        linear: Array,
        pairs: str,
        max_steps: int,
        tolerance: float,
        rng: np.random.Generator,
    ) -> None:
        self.n_kernels = weights.shape[1]
        self.theta = np.array(weights, dtype=np.float64, order="C").reshape(-1)
        self.upper, self.lower, self.linear = (
            np.ascontiguousarray(part, dtype=np.float64) for part in (upper, lower, linear)
        )
        self.max_steps = max_steps
        self.tolerance = tolerance
        self.steps = 0
        self.products = np.zeros((3, self.theta.size))
        self.multiply()
        self.ratio = self.ratio_now()
        self._draws = np.empty((0, 2), dtype=np.int64)
        if pairs == "random":
            self._draws = random_pairs(len(weights), self.n_kernels, max_steps, rng)

    def multiply(self) -> None:
        """Compute S_Bθ and S_Lθ anew."""
        self.products[0], self.products[1] = self.upper @ self.theta, self.lower @ self.theta

    def ratio_now(self) -> float:
        """Return θᵀS_Bθ / (θᵀS_Lθ + fᵀθ) from S_Bθ and S_Lθ, zero where both are."""
        below = float(self.theta @ (self.products[1] + self.linear))
        return float(self.theta @ self.products[0]) / below if below > 0.0 else 0.0

    def run(self, n_steps: int, patience: int, calm: int = 0) -> int:
        """Exchange until ``patience`` idle exchanges in a row, of which there were ``calm``.

        Returns
        -------
        int
            How many there are now.
        """
        self.ratio, taken, calm = _exchange_pairs(
            self.theta,
            self.n_kernels,
            self.ratio,
            self.upper,
            self.lower,
            self.linear,
            self.products,
            self._draws[self.steps :],
            min(n_steps, self.max_steps - self.steps),
            self.tolerance,
            calm,
            patience,
        )
        self.steps += taken
        return calm

    def weights(self) -> Array:
        """Return Θ (C, M) without the rounding of many exchanges."""
        kept = np.maximum(self.theta, 0).reshape(-1, self.n_kernels)
        return kept / kept.sum(axis=1, keepdims=True)


def random_pairs(
    n_clusters: int, n_kernels: int, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return pairs (size, 2) of places in θ: two kernels of one cluster each (Algorithm 2)."""
    cluster = rng.integers(n_clusters, size=size) * n_kernels
    first = rng.integers(n_kernels, size=size)
    second = (first + 1 + rng.integers(n_kernels - 1, size=size)) % n_kernels
    return np.stack([cluster + first, cluster + second], axis=1)


@compiled()
def best_step(
    curvature: float, slope: float, low: float, high: float
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return the ξ in [low, high] that maximises aξ² + 2bξ, and that maximum (001, eq. 15)."""
    best, gain = 0.0, 0.0
    for candidate in (low, high):
        value = candidate * (curvature * candidate + 2.0 * slope)
        if value > gain:
            best, gain = candidate, value
    if curvature < 0.0:
        top = -slope / curvature
        if low < top < high:
            value = top * (curvature * top + 2.0 * slope)
            if value > gain:
                best, gain = top, value
    return best, gain


@compiled()
def _exchange(
    theta: Array,
    up: int,
    down: int,
    ratio: float,
    upper: Array,
    lower: Array,
    slopes: Array,
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return the optimal weight to move from ``down`` to ``up``, and the gain."""
    curvature = (
        upper[up, up]
        + upper[down, down]
        - 2.0 * upper[up, down]
        - ratio * (lower[up, up] + lower[down, down] - 2.0 * lower[up, down])
    )
    low = max(-theta[up], theta[down] - 1.0)
    high = min(1.0 - theta[up], theta[down])
    return best_step(curvature, slopes[up] - slopes[down], low, high)


@compiled()
def _steepest_pair(
    theta: Array, first: int, n_kernels: int, slopes: Array
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Return the weights of one cluster to raise and to lower: the steepest that still can."""
    up, down = -1, -1
    for k in range(first, first + n_kernels):
        if theta[k] < 1.0 and (up < 0 or slopes[k] > slopes[up]):
            up = k
        if theta[k] > 0.0 and (down < 0 or slopes[k] < slopes[down]):
            down = k
    return up, down


@compiled()
def _shift(
    theta: Array,
    up: int,
    down: int,
    move: float,
    upper: Array,
    lower: Array,
    linear: Array,
    products: Array,
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Move weight from ``down`` to ``up``, in place; return what the ratio divides, and by what."""
    theta[up] += move
    theta[down] -= move
    above, below = 0.0, 0.0
    for k in range(theta.size):
        products[0, k] += move * (upper[k, up] - upper[k, down])
        products[1, k] += move * (lower[k, up] - lower[k, down])
        above += theta[k] * products[0, k]
        below += theta[k] * (products[1, k] + linear[k])
    return above, below


@compiled()
def _exchange_pairs(
    theta: Array,
    n_kernels: int,
    ratio: float,
    upper: Array,
    lower: Array,
    linear: Array,
    products: Array,
    draws: NDArray[np.int64],
    max_steps: int,
    tolerance: float,
    calm: int,
    patience: int,
) -> tuple[float, int, int]:  # pragma: no cover - compiled
    """Exchange weight between pairs in place; return the ratio, the steps, and the idle steps.

    ``products`` (3, CM) are S_Bθ and S_Lθ, kept up to date, and workspace for the slopes. ``draws``
    (max_steps, 2) are random pairs, empty for ``pairs="gradient"``.
    """
    upper_theta, lower_theta, slopes = products[0], products[1], products[2]
    steps = 0
    while steps < max_steps and calm < patience:
        for k in range(theta.size):
            slopes[k] = upper_theta[k] - ratio * (lower_theta[k] + 0.5 * linear[k])
        gain, move, up, down = 0.0, 0.0, 0, 0
        if draws.shape[0] == 0:
            for first in range(0, theta.size, n_kernels):
                rising, falling = _steepest_pair(theta, first, n_kernels, slopes)
                if rising < 0 or falling < 0 or rising == falling:
                    continue
                its_move, its_gain = _exchange(theta, rising, falling, ratio, upper, lower, slopes)
                if its_gain > gain:
                    gain, move, up, down = its_gain, its_move, rising, falling
        else:
            up, down = draws[steps, 0], draws[steps, 1]
            move, gain = _exchange(theta, up, down, ratio, upper, lower, slopes)
        steps += 1
        grown = 0.0
        if gain > 0.0:
            above, below = _shift(theta, up, down, move, upper, lower, linear, products)
            if below > 0.0:
                grown = max(above / below - ratio, 0.0)
                ratio += grown
            else:  # Where kernels are zero there is nothing to divide by.
                _shift(theta, up, down, -move, upper, lower, linear, products)
        # Stop if the steepest pair gains nothing; random pairs stop only after many idle draws.
        calm = calm + 1 if grown <= tolerance * abs(ratio) else 0
    return ratio, steps, calm
