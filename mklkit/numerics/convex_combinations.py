"""Points of convex hulls in a kernel's feature space, by steps between two rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled

Array = NDArray[np.float64]


@compiled()
def least_combination(
    gram: Array, signs: Array, linear: Array, tol: float, floor: float, most_steps: int
) -> tuple[float, bool]:  # pragma: no cover - compiled
    """Return min ½αᵀQα − bᵀα for Q = (s sᵀ)∘K, α ≥ 0 with sum 1 for each sign, and if it is known.

    Known to ``tol`` of itself, or to be below the ``floor``. Each step moves weight between two
    rows of a sign, to the one of least gradient from the one by which the value falls most: O(N).
    """
    n = signs.size
    alpha, gradient = np.zeros(n), -linear
    for sign in (-1.0, 1.0):
        members = np.flatnonzero(signs == sign)
        if members.size:
            alpha[members[0]] = 1.0
            gradient += sign * signs * gram[members[0]]
    value = 0.0
    for _ in range(most_steps):
        value, gap, widest, low = 0.0, 0.0, 0.0, -1
        for sign in (-1.0, 1.0):
            lowest, width, fall, part = _slopes(gradient, alpha, signs, linear, sign)
            value += part
            gap += fall
            if width > widest:
                widest, low = width, lowest
        if low < 0 or gap <= tol * abs(value) or 0 <= value < floor:
            return value, True  # the optimum is at most ``gap`` below
        high, step = _partner(gram, gradient, alpha, signs, low)
        alpha[high] -= step
        alpha[low] += step
        for k in range(n):
            gradient[k] += step * signs[low] * signs[k] * (gram[low, k] - gram[high, k])
    return value, False


@compiled()
def _slopes(
    gradient: Array, alpha: Array, signs: Array, linear: Array, sign: float
) -> tuple[int, float, float, float]:  # pragma: no cover - compiled
    """Return a sign's row of least gradient, by how much the greatest and the mean exceed it, f."""
    lowest, highest, mean, value = -1, -np.inf, 0.0, 0.0
    for i in range(signs.size):
        if signs[i] == sign:
            if lowest < 0 or gradient[i] < gradient[lowest]:
                lowest = i
            if alpha[i] > 0:
                highest = max(highest, gradient[i])
                mean += alpha[i] * gradient[i]
                value += alpha[i] * (gradient[i] - linear[i]) / 2
    if lowest < 0:
        return lowest, 0.0, 0.0, 0.0
    return lowest, highest - gradient[lowest], mean - gradient[lowest], value


@compiled()
def _partner(
    gram: Array, gradient: Array, alpha: Array, signs: Array, low: int
) -> tuple[int, float]:  # pragma: no cover - compiled
    """Return the row from which weight moves to the row ``low``, and how much."""
    best, high, step = 0.0, -1, 0.0
    for i in range(signs.size):
        slope = gradient[i] - gradient[low]
        if alpha[i] > 0 and signs[i] == signs[low] and slope > 0:
            curvature = max(gram[i, i] + gram[low, low] - 2 * gram[i, low], 1e-300)
            if high < 0 or slope * slope / curvature > best:
                best, high, step = slope * slope / curvature, i, slope / curvature
    return high, min(step, alpha[high])
