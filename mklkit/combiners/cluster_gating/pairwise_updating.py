"""Pairwise element updating: a ratio of quadratics over a product of simplices.

Maximises θᵀS_Bθ / (θᵀS_Lθ + fᵀθ) over Θ (C, M) with rows on the simplex; θ is Θ flattened row by
row. Each step moves the optimal weight between two kernels of one cluster, in O(CM) per step.
Source: section 5 of Mu and Zhou 2011.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled
from mklkit.protocols import Array

RATIO_TOLERANCE = 1e-12
MAX_STEPS = 10_000


@attrs.frozen(eq=False)
class QuadraticForms:
    """S_B and S_L (CM, CM), symmetric, and f (CM,): the ratio's quadratics in θ."""

    upper: Array
    lower: Array
    linear: Array


@attrs.frozen(eq=False)
class PairwiseResult:
    """The weights Θ (C, M), the ratio after each pass or round, and the exchanges tried."""

    weights: Array
    history: tuple[float, ...]
    steps: int


def update_pairs(
    weights: Array,
    forms: QuadraticForms,
    pairs: str = "gradient",
    max_steps: int = MAX_STEPS,
    tolerance: float = RATIO_TOLERANCE,
    rng: np.random.Generator | None = None,
    max_rounds: int | None = None,
) -> PairwiseResult:
    """Maximise the ratio from Θ (C, M), rows on the simplex; it never decreases.

    Pairs by gradient are the best of each cluster's steepest ones (footnote 1), with a Newton
    step on the non-zero weights after every C·M exchanges and before the last; random pairs are
    those published. It ends when a step (4·C·M² in succession for random pairs) raises the ratio by
    at most ``tolerance`` of itself. With ``max_rounds``, T_max, Algorithms 1 and 2 run as printed:
    a round is Algorithm 2, exchanges until one is idle; Algorithm 1 ends with a round that does not
    raise the ratio. The Newton step, O((CM)³), is our addition: with near-equal kernels, or strong
    smoothness across clusters, exchanges alone take thousands of steps or stop far from the
    maximum.

    Examples
    --------
    >>> forms = QuadraticForms(np.diag([2.0, 1.0]), np.eye(2), np.zeros(2))
    >>> update_pairs(np.full((1, 2), 0.5), forms).weights
    array([[1., 0.]])
    """
    rng = rng or np.random.default_rng(0)
    state = _Exchanges(weights, forms, pairs, max_steps, tolerance, rng)
    history = [state.ratio]
    idle = 0
    size = state.theta.size
    if max_rounds is not None:
        for _ in range(max_rounds):
            state.run(max_steps, patience=1)
            history.append(state.ratio)
            if history[-1] - history[-2] <= tolerance * abs(history[-1]):
                break
        return state.result(history)
    by_gradient = pairs == "gradient"
    patience = 1 if by_gradient else 4 * size * weights.shape[1]
    while state.steps < max_steps and idle < patience:
        idle = state.run(size - state.steps % size, patience, idle)
        # Near-equal kernels form a narrow ridge, along which exchanges alone zigzag.
        if by_gradient and (idle > 0 or state.steps % size == 0) and state.newton_step():
            idle = 0
        if state.steps % size == 0:
            history.append(state.ratio)
    history.append(state.ratio)
    return state.result(history)


def on_simplices(theta: Array) -> Array:
    """Return weights (C, M) with each row on the simplex, without negative ones."""
    kept = np.maximum(theta, 0)
    return kept / kept.sum(axis=1, keepdims=True)


def random_pairs(
    n_clusters: int, n_kernels: int, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return pairs (size, 2) of places in θ: two kernels of one cluster each (Algorithm 2)."""
    cluster = rng.integers(n_clusters, size=size) * n_kernels
    first = rng.integers(n_kernels, size=size)
    second = (first + 1 + rng.integers(n_kernels - 1, size=size)) % n_kernels
    return np.stack([cluster + first, cluster + second], axis=1)


class _Exchanges:
    """Current weights θ, with S_Bθ, S_Lθ and workspace for the slopes as ``products`` (3, CM)."""

    def __init__(
        self,
        weights: Array,
        forms: QuadraticForms,
        pairs: str,
        max_steps: int,
        tolerance: float,
        rng: np.random.Generator,
    ) -> None:
        self.n_kernels = weights.shape[1]
        self.theta = np.array(weights, dtype=np.float64, order="C").reshape(-1)
        self.upper, self.lower, self.linear = (
            np.ascontiguousarray(part, dtype=np.float64)
            for part in (forms.upper, forms.lower, forms.linear)
        )
        self.max_steps = max_steps
        self.tolerance = tolerance
        self.steps = 0
        self.products = np.zeros((3, self.theta.size))
        self.ratio = self.ratio_now()
        size = max_steps if pairs == "random" else 0
        self._draws = random_pairs(len(weights), self.n_kernels, size, rng)

    def ratio_now(self) -> float:
        """Return θᵀS_Bθ / (θᵀS_Lθ + fᵀθ), zero if both are, from recomputed products."""
        self.products[0], self.products[1] = self.upper @ self.theta, self.lower @ self.theta
        below = float(self.theta @ (self.products[1] + self.linear))
        return float(self.theta @ self.products[0]) / below if below > 0.0 else 0.0

    def run(self, n_steps: int, patience: int, idle: int = 0) -> int:
        """Exchange until ``patience`` exchanges in succession are idle; return how many now are."""
        self.ratio, taken, idle = _exchange_pairs(
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
            idle,
            patience,
        )
        self.steps += taken
        return idle

    def result(self, history: list[float]) -> PairwiseResult:
        """Return Θ (C, M) without the rounding errors of many exchanges."""
        weights = on_simplices(self.theta.reshape(-1, self.n_kernels))
        return PairwiseResult(weights, tuple(history), self.steps)

    def newton_step(self) -> bool:
        """Take a Newton step; return whether the ratio rises."""
        before, theta = self.ratio, self.theta
        slopes = self.products[0] - before * (self.products[1] + 0.5 * self.linear)
        difference = self.lower * before - self.upper
        way = _newton_way(theta, self.n_kernels, difference, slopes)
        falling = way < 0.0
        if falling.any():
            farthest = float(np.min(-theta[falling] / way[falling]))
            curvature = float(way @ (self.upper @ way)) - before * float(way @ (self.lower @ way))
            move, gain = best_step(curvature, float(slopes @ way), 0.0, farthest)
            if gain > 0.0:
                np.maximum(theta + move * way, 0.0, out=theta)
        now = self.ratio_now()
        self.ratio = max(before, now)
        return now - before > self.tolerance * abs(before)


def _newton_way(theta: Array, n_kernels: int, difference: Array, slopes: Array) -> Array:
    """Return the Newton direction among the non-zero weights, with curvatures made negative.

    ``difference`` is λS_L − S_B. The coordinates are each cluster's non-zero weights except its
    largest, which balances them.
    """
    by_cluster = theta.reshape(-1, n_kernels)
    largest = by_cluster.argmax(axis=1) + np.arange(0, theta.size, n_kernels)
    head_of = np.repeat(largest, n_kernels)
    moved = np.flatnonzero((theta > 1e-12) & (head_of != np.arange(theta.size)))
    heads = head_of[moved]
    way = np.zeros(theta.size)
    if moved.size == 0:
        return way
    by_row = difference[moved] - difference[heads]
    values, vectors = np.linalg.eigh(by_row[:, moved] - by_row[:, heads])
    values = np.abs(values)
    values = np.maximum(values, 1e-12 * values.max() + 1e-300)
    step = vectors @ ((vectors.T @ (slopes[moved] - slopes[heads])) / values)
    way[moved] = step
    np.subtract.at(way, heads, step)
    return way


@compiled()
def best_step(
    curvature: float, slope: float, low: float, high: float
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return the ξ in [low, high] that maximises aξ² + 2bξ, and that maximum (eq. 15)."""
    best, gain = 0.0, 0.0
    top = -slope / curvature if curvature < 0.0 else low
    for candidate in (low, high, min(max(top, low), high)):
        value = candidate * (curvature * candidate + 2.0 * slope)
        if value > gain:
            best, gain = candidate, value
    return best, gain


@compiled()
def _exchange(
    theta: Array, up: int, down: int, ratio: float, upper: Array, lower: Array, slopes: Array
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
    """Move weight from ``down`` to ``up``, in place; return numerator and denominator."""
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
    idle: int,
    patience: int,
) -> tuple[float, int, int]:  # pragma: no cover - compiled
    """Exchange in drawn pairs, or the steepest; return ratio, number of steps, and idle ones."""
    upper_theta, lower_theta, slopes = products[0], products[1], products[2]
    steps = 0
    while steps < max_steps and idle < patience:
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
            else:  # If kernels are zero there is nothing to divide by.
                _shift(theta, up, down, -move, upper, lower, linear, products)
        # Stop if the steepest pair gains nothing; random pairs stop only after many idle draws.
        idle = idle + 1 if grown <= tolerance * abs(ratio) else 0
    return ratio, steps, idle
