"""The nearest points of the classes' convex hulls: the quadratic program inside EasyMKL."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mklkit.plugin import Array, solve_cone_program, solve_dual

NEARLY_SINGULAR = 1e-3
"""Problems with a smaller ridge go to the interior-point solver."""
HARD_MARGIN = 1e10
"""C for a Gram matrix whose diagonal is about 1."""
TOLERANCE = 1e-3
"""libsvm's, relative to the margin. It brings EasyMKL's weights within 1e-4 of their limit."""
PATIENCE = 300
"""libsvm's step limit per row: a step is O(N), and few are needed unless the ridge is tiny."""


def nearest_points(gram: Array, y: Array, alpha: float) -> Array:
    """Return the γ (N,) that minimises γᵀ((1−λ)YKY + λI)γ, a probability distribution per class.

    K is overwritten; λ is ``alpha``, between 0 and 1.

    Examples
    --------
    >>> rows = np.array([[-3.0], [-1.0], [1.0], [4.0]])
    >>> nearest_points(rows @ rows.T, np.sign(rows[:, 0]), alpha=0.0).round(3) + 0.0
    array([0., 1., 1., 0.])
    """
    gram *= 1 - alpha
    gram.flat[:: len(gram) + 1] += alpha
    gamma = by_libsvm(gram, y) if alpha >= NEARLY_SINGULAR else None
    return by_clarabel(gram, y) if gamma is None else gamma


def by_libsvm(gram: Array, y: Array, tol: float = TOLERANCE) -> Array | None:
    """Return γ as the scaled dual of the hard-margin support vector machine on (N, N).

    The nearest points of two convex hulls solve this dual (Bennett and Bredensteiner 2000). With a
    ridge well above zero the solution exists, and libsvm finds it in less time than the kernels
    took. With kernels of large values the same ridge is negligible: None is returned if libsvm
    reaches its step limit.
    """
    size = float(np.trace(gram)) / len(y)
    solution = solve_dual(gram, y, HARD_MARGIN / size, tol, PATIENCE * len(y))
    if not solution.ended:
        return None
    gamma = np.abs(solution.coefficients)
    for side in (y > 0, y < 0):
        gamma[side] /= gamma[side].sum()
    return gamma


def by_clarabel(gram: Array, y: Array) -> Array:
    """Return γ by an interior-point solver, in O(N³), also for hulls that meet (no margin)."""
    n_rows = len(y)
    size = float(np.trace(gram)) / n_rows or 1.0
    classes = np.vstack([y > 0, y < 0]).astype(np.float64)
    solution = solve_cone_program(
        2 * gram / size * np.outer(y, y),
        np.zeros(n_rows),
        sparse.vstack([classes, -sparse.identity(n_rows)]),
        np.append(np.ones(2), np.zeros(n_rows)),
        [("zero", 2), ("nonnegative", n_rows)],
        name="easymkl's quadratic program",
        remedy="the kernels may not be positive semi-definite; take a larger alpha",
    )
    return np.maximum(solution.values, 0.0)
