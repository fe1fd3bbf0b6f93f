"""The nearest points of the classes' convex hulls: the quadratic program of EasyMKL and KOMD."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mklkit.plugin import Array, solve_cone_program, solve_dual

NEARLY_SINGULAR = 1e-3
"""Problems with a smaller ridge go to the interior-point solver."""
HARD_MARGIN = 1e10
"""C for a Gram matrix whose diagonal is about 1."""
TOLERANCE = 1e-3
"""libsvm's tolerance, relative to the margin, which gets EasyMKL's weights to within 1e-4."""
TINY, USED = 1e-9, 1e-6
"""Relative tolerances: of projections, for equally near samples; and of γ."""
PATIENCE = 30
"""libsvm's step limit per sample: a step is O(N), and few are needed unless the ridge is tiny."""


def nearest_points(
    gram: Array, y: Array, alpha: float, row_weights: Array | float = 1.0, tol: float = TOLERANCE
) -> Array:
    """Return the γ (N,) that minimises γᵀ((1−λ)YKY + λV⁻¹)γ, a probability distribution per class.

    K is overwritten; λ is ``alpha``, between 0 and 1, V the sample weights.

    Examples
    --------
    >>> rows = np.array([[-3.0], [-1.0], [1.0], [4.0]])
    >>> nearest_points(rows @ rows.T, np.sign(rows[:, 0]), alpha=0.0).round(3) + 0.0
    array([0., 1., 1., 0.])
    """
    gram *= 1 - alpha
    gram.flat[:: len(gram) + 1] += alpha / row_weights
    return by_clarabel(gram, y) if alpha < NEARLY_SINGULAR else HardMargin(y, tol).points(gram)


@attrs.define
class HardMargin:
    """The γ (N,) of least γᵀYKYγ for several K, by libsvm or, with hardly any margin, by Clarabel.

    libsvm's state at its step limit, and later the solution for the previous K, tell which
    ``rows`` to start with.
    """

    y: Array
    tol: float = TOLERANCE
    rows: NDArray[np.intp] | None = None

    def points(self, gram: Array) -> Array:
        """Return γ for one K."""
        if self.rows is None:
            gamma, ended = by_libsvm(gram, self.y, self.tol)
            if ended:
                return gamma
            self.rows = np.flatnonzero(gamma)
        gamma = by_clarabel(gram, self.y, self.rows)
        self.rows = np.flatnonzero(gamma > USED * gamma.max())
        return gamma


def by_libsvm(gram: Array, y: Array, tol: float = TOLERANCE) -> tuple[Array, bool]:
    """Return γ as the scaled dual of the hard-margin machine on (N, N), and whether it ended.

    The nearest points of two convex hulls solve this dual (Bennett and Bredensteiner 2000). With a
    ridge well above zero the solution exists, and libsvm finds it in less time than the kernels
    took. With kernels of large values the same ridge is negligible, and libsvm reaches its step
    limit.
    """
    size = float(np.trace(gram)) / len(y)
    solution = solve_dual(gram, y, HARD_MARGIN / size, tol, PATIENCE * len(y))
    gamma = np.abs(solution.coefficients)
    for side in (y > 0, y < 0):
        gamma[side] /= gamma[side].sum()
    return gamma, solution.ended


def by_clarabel(gram: Array, y: Array, start: NDArray[np.intp] | None = None) -> Array:
    """Return γ by an interior-point solver, in O(N³), also for hulls that meet (no margin).

    In O(n³) for the n relevant samples, if it starts from some: nearer samples are added until
    there are none.
    """
    rows = np.arange(len(y)) if start is None else start
    while True:
        gamma = np.zeros(len(y))
        gamma[rows] = _solved(gram[np.ix_(rows, rows)], y[rows])
        slopes = y * (gram @ (y * gamma))
        slack = np.where(y > 0, slopes[rows][y[rows] > 0].min(), slopes[rows][y[rows] < 0].min())
        slack -= slopes
        slack[rows] = 0
        apart = max(float(gamma @ slopes), 0.0)
        nearer = np.flatnonzero(slack > TOLERANCE * apart + TINY * np.abs(slopes).max())
        if not len(nearer):
            return gamma
        worst = np.argsort(-slack[nearer], kind="stable")[: max(len(rows) // 2, 50)]
        rows = np.sort(np.append(rows, nearer[worst]))


def _solved(gram: Array, y: Array) -> Array:
    n_rows = len(y)
    size = float(np.trace(gram)) / n_rows or 1.0
    classes = np.vstack([y > 0, y < 0]).astype(np.float64)
    solution = solve_cone_program(
        2 * gram / size * np.outer(y, y),
        np.zeros(n_rows),
        sparse.vstack([classes, -sparse.identity(n_rows)]),
        np.append(np.ones(2), np.zeros(n_rows)),
        [("zero", 2), ("nonnegative", n_rows)],
        name="the program of the nearest points",
        remedy="the kernels may not be positive semi-definite, or a larger alpha is needed",
    )
    return np.maximum(solution.values, 0.0)
