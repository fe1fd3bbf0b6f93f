"""The leave-one-out error of ridge regression on Σ_m η_m K_m, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["LooError", "least_loo_error"]

Array = NDArray[np.floating[Any]]

FARTHEST = 15.0
"""How far the logarithm of a factor may rise in the descent."""


@attrs.frozen(eq=False)
class LooError:
    """The mean squared leave-one-out error of targets, as a function of the kernels' factors.

    With A = I + Σ_m η_m K_m, and P = A⁻¹ − A⁻¹11ᵀA⁻¹/(1ᵀA⁻¹1) for the intercept, the error of row i
    is (Py)_i/P_ii: the ridge is one, and the factors η hold its inverse. In the logarithms of η the
    gradient takes one more product of matrices for all kernels together.

    Attributes
    ----------
    grams : sequence of ndarray of shape (N, N)
        M of them.
    targets : ndarray of shape (N, T)

    Notes
    -----
    O(N³ + (M + T)N²) for a value with its gradient.

    Source: Cawley and Talbot, "Preventing over-fitting during model selection via Bayesian
    regularisation of the hyper-parameters", JMLR 8 (2007), for one kernel.
    """

    grams: Sequence[Array]
    targets: Array

    def __call__(self, logarithms: Array) -> tuple[float, Array]:
        """Return the error and its gradient (M,) for log η (M,)."""
        factors = np.exp(logarithms)
        matrix = np.eye(len(self.targets))
        for factor, gram in zip(factors, self.grams, strict=True):
            matrix += factor * gram
        projected = self._projected(matrix)
        if projected is None:
            return np.inf, np.zeros(len(factors))
        dual = projected @ self.targets
        diagonal = np.diagonal(projected)[:, None]
        errors = dual / diagonal
        size = errors.size
        slopes = 2 * errors / diagonal
        middle = np.sqrt(np.sum(slopes * errors, axis=1))
        scaled = projected * middle
        # Of symmetric matrices only products with K_m are taken.
        change = scaled @ scaled.T - (projected @ slopes) @ dual.T
        gradient = np.array([np.vdot(gram, change) for gram in self.grams])
        return float(np.sum(errors**2) / size), factors * gradient / size

    @staticmethod
    def _projected(matrix: Array) -> Array | None:
        """Return P, or None where A is not positive definite."""
        factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1)
        if failed:
            return None
        inverse, failed = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
        if failed:
            return None
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        sums = inverse.sum(axis=0)
        inverse -= np.outer(sums, sums / sums.sum())
        return inverse


def least_loo_error(
    grams: Sequence[Array],
    targets: Array,
    starts: Sequence[Array],
    max_iter: int,
    tol: float,
    only_if_lower: bool = False,
) -> tuple[Array, bool]:
    """Return the factors η (M,) of least leave-one-out error, and whether the descent ended.

    By L-BFGS in log η, until the error's logarithm falls by less than ``tol``; of several starts
    the lowest end is taken.

    Parameters
    ----------
    grams : sequence of ndarray of shape (N, N)
    targets : ndarray of shape (N, T)
        Of about the same size, as all count the same.
    starts : sequence of ndarray of shape (M,)
    max_iter : int
    tol : float
    only_if_lower : bool, default=False
        Whether a later start is taken only where the error is below the lowest end so far.

    Examples
    --------
    >>> rows = np.linspace(-1, 1, 20)
    >>> linear, other = np.outer(rows, rows), np.cos(9 * np.subtract.outer(rows, rows))
    >>> factors, _ = least_loo_error([linear, other], rows[:, None], [np.ones(2)], 50, 1e-6)
    >>> bool(factors[0] > 10 * factors[1])
    True
    """
    error = LooError(grams, targets)

    def logarithm(at: Array) -> tuple[float, Array]:
        value, gradient = error(at)
        least = max(value, np.finfo(np.float64).tiny)
        return np.log(least), gradient / least

    best: Any = None
    for start in starts:
        logarithms = np.log(start)
        if only_if_lower and best is not None and logarithm(logarithms)[0] >= best.fun:
            continue
        # Bounds on one side only: between two, the first step has the gradient's own length.
        found = minimize(
            logarithm,
            logarithms,
            jac=True,
            method="L-BFGS-B",
            bounds=[(None, value + FARTHEST) for value in logarithms],
            options={"maxiter": max_iter, "ftol": tol},
        )
        if best is None or found.fun < best.fun:
            best = found
    return np.exp(best.x), bool(best.status != 1)
