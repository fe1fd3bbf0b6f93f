"""Pairwise element updating: a ratio of quadratics over a product of simplices (001, section 5).

Maximises θᵀS_Bθ / (θᵀS_Lθ + fᵀθ) over Θ (C, M) with rows on the simplex; θ is Θ flattened row by
row. Each step moves the optimal weight between two kernels of one cluster, in O(CM) per step.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.combiners.cluster_gating.exchanges import Exchanges, best_step

__all__ = ["PairwiseResult", "update_pairs"]

Array = NDArray[np.floating[Any]]

RATIO_TOLERANCE = 1e-12
MAX_STEPS = 10_000

IN_USE = 1e-12
"""Weights above this take part in a Newton step."""


@attrs.frozen(eq=False)
class PairwiseResult:
    """The weights Θ (C, M), the ratio after each pass or round, and the exchanges tried."""

    weights: Array
    history: tuple[float, ...]
    steps: int


def update_pairs(
    weights: Array,
    upper: Array,
    lower: Array,
    linear: Array,
    pairs: str = "gradient",
    max_steps: int = MAX_STEPS,
    tolerance: float = RATIO_TOLERANCE,
    rng: np.random.Generator | None = None,
    max_rounds: int | None = None,
) -> PairwiseResult:
    """Maximise the ratio from a starting point.

    Parameters
    ----------
    weights : ndarray of shape (C, M)
        Θ to start from, rows on the simplex.
    upper, lower : ndarray of shape (CM, CM)
        S_B and S_L, symmetric; lower positive semi-definite.
    linear : ndarray of shape (CM,)
        f.
    pairs : {"gradient", "random"}, default="gradient"
        Which two kernels exchange weight: the best of each cluster's steepest pairs (001,
        footnote 1), with a Newton step on the non-zero weights after every C·M exchanges and
        before the last; or random pairs, as published.
    max_steps : int
    tolerance : float
        Stop when a step raises the ratio by at most this fraction of itself; with random pairs,
        when 4·C·M² of them in a row do.
    rng : Generator, optional
        Draws the random pairs.
    max_rounds : int, optional
        T_max: run Algorithms 1 and 2 as printed. A round is Algorithm 2, exchanges until one is
        idle; Algorithm 1 ends with a round that does not raise the ratio.

    Returns
    -------
    PairwiseResult
        The ratio never decreases; ``history`` has it after each pass of C·M exchanges, or round.

    Notes
    -----
    Source: paper 001, Algorithms 1 and 2, λ updated after every step. The Newton step is our
    addition: with near-equal kernels, or strong smoothness across clusters, exchanges alone take
    thousands of steps or stop far from the maximum. It costs O((CM)³), for few kernels no more
    than a pass.

    Examples
    --------
    >>> import numpy as np
    >>> theta = np.full((1, 2), 0.5)
    >>> update_pairs(theta, np.diag([2.0, 1.0]), np.eye(2), np.zeros(2)).weights
    array([[1., 0.]])
    """
    if weights.shape[1] == 1:
        return PairwiseResult(weights.copy(), (), 0)
    rng = np.random.default_rng(0) if rng is None else rng
    state = Exchanges(weights, upper, lower, linear, pairs, max_steps, tolerance, rng)
    history, calm, size = [state.ratio], 0, state.theta.size
    if max_rounds is not None:
        for _ in range(max_rounds):
            state.run(max_steps, patience=1)
            history.append(state.ratio)
            if history[-1] - history[-2] <= tolerance * abs(history[-1]):
                break
        return PairwiseResult(state.weights(), tuple(history), state.steps)
    by_gradient = pairs == "gradient"
    patience = 1 if by_gradient else 4 * size * weights.shape[1]
    while state.steps < max_steps and calm < patience:
        calm = state.run(size - state.steps % size, patience, calm)
        # Near-equal kernels form a narrow ridge, along which exchanges alone zigzag.
        if by_gradient and (calm > 0 or state.steps % size == 0) and _newton_step(state):
            calm = 0
        if state.steps % size == 0:
            history.append(state.ratio)
    history.append(state.ratio)
    return PairwiseResult(state.weights(), tuple(history), state.steps)


def _newton_step(state: Exchanges) -> bool:
    """Take a Newton step; return whether the ratio rises."""
    before = state.ratio
    slopes = state.products[0] - before * (state.products[1] + 0.5 * state.linear)
    way = _newton_way(state.theta, state.n_kernels, before, state.upper, state.lower, slopes)
    _follow(state.theta, way, before, state.upper, state.lower, slopes)
    state.multiply()
    now = state.ratio_now()
    state.ratio = max(before, now)
    return now - before > state.tolerance * abs(before)


def _newton_way(
    theta: Array, n_kernels: int, ratio: float, upper: Array, lower: Array, slopes: Array
) -> Array:
    """Return the Newton direction among the non-zero weights, with curvatures made negative.

    The coordinates are each cluster's non-zero weights except its largest, which balances them.
    """
    by_cluster = theta.reshape(-1, n_kernels)
    largest = by_cluster.argmax(axis=1) + np.arange(0, theta.size, n_kernels)
    head_of = np.repeat(largest, n_kernels)
    moved = np.flatnonzero((theta > IN_USE) & (head_of != np.arange(theta.size)))
    heads = head_of[moved]
    way = np.zeros(theta.size)
    if moved.size == 0:
        return way
    difference = lower * ratio - upper
    by_row = difference[moved] - difference[heads]
    values, vectors = np.linalg.eigh(by_row[:, moved] - by_row[:, heads])
    values = np.abs(values)
    values = np.maximum(values, 1e-12 * values.max() + 1e-300)
    step = vectors @ ((vectors.T @ (slopes[moved] - slopes[heads])) / values)
    way[moved] = step
    np.subtract.at(way, heads, step)
    return way


def _follow(
    theta: Array, way: Array, ratio: float, upper: Array, lower: Array, slopes: Array
) -> None:
    """Move theta in place along a direction by the optimal step."""
    falling = way < 0.0
    if not falling.any():
        return
    farthest = float(np.min(-theta[falling] / way[falling]))
    curvature = float(way @ (upper @ way)) - ratio * float(way @ (lower @ way))
    move, gain = best_step(curvature, float(slopes @ way), 0.0, farthest)
    if gain > 0.0:
        np.maximum(theta + move * way, 0.0, out=theta)
