"""Support vector machine solvers: libsvm on similarities or features, liblinear on many rows.

This module keeps them from drawing from NumPy's global state, turns their failures into errors of
this library, and returns an early stop as a value instead of a warning.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from mklkit.errors import DataError
from mklkit.numerics.library_warnings import held_back
from mklkit.protocols import Array

__all__ = ["MOST_STEPS", "DualSolution", "PrimalSolution", "solve_dual", "solve_primal"]

MOST_STEPS = 1_000_000
"""libsvm's steps, O(N) each; a limit, as kernels of very large values could take hours."""
LIBSVM_ROWS = 5000
"""The size up to which libsvm's cache of 200 MB holds all inner products; beyond, it recomputes."""
STEPS_A_PASS = 200
"""The number of steps of ``max_iter`` that one pass of liblinear over the rows counts for."""


FIRST_SHARE = 8
"""The fraction of the allowed passes that liblinear is given first."""


class _QuietSVC(SVC):
    """libsvm without the warning about an early stop."""

    def _warn_from_fit_status(self) -> None:
        """Do nothing: an early stop is read from ``n_iter_``."""


@attrs.frozen(eq=False)
class DualSolution:
    """The dual solution of a support vector machine.

    Attributes
    ----------
    coefficients : ndarray of shape (N,)
        α∘y: the dual solution with the labels' signs, 0 except for support vectors.
    bias : float
    ended : bool
        False if it was stopped before it reached its tolerance.
    """

    coefficients: Array
    bias: float
    ended: bool


@attrs.frozen(eq=False)
class PrimalSolution:
    """The hyperplane of a support vector machine: weights (p,), bias, and whether it converged."""

    weights: Array
    bias: float
    ended: bool


def solve_dual(
    gram: Array, y: Array, C: float = 1.0, tol: float = 1e-3, max_iter: int = MOST_STEPS
) -> DualSolution:
    """Return the α of max 1ᵀα − ½(α∘y)ᵀK(α∘y) with 0 ≤ α ≤ C and αᵀy = 0, by libsvm.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
        K.
    y : ndarray of shape (N,)
        −1 and +1.
    C, tol : float
    max_iter : int, default=1_000_000
        The number of steps after which it stops without a warning; the caller should give advice.

    Raises
    ------
    DataError
        If kernel values are too large for the solver, infinite or NaN.

    Notes
    -----
    Between O(N²) and O(N³).

    Examples
    --------
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> found = solve_dual(rows @ rows.T, np.sign(rows[:, 0]))
    >>> found.coefficients, found.bias, found.ended
    (array([ 0. , -0.5,  0.5,  0. ]), -0.0, True)
    """
    svc = _libsvm("precomputed", gram, y, C, tol, max_iter)
    coefficients = np.zeros(len(y))
    coefficients[svc.support_] = svc.dual_coef_[0]
    ended = bool(svc.n_iter_[0] < max_iter)
    return DualSolution(coefficients, float(svc.intercept_[0]), ended)


def solve_primal(
    features: Array, y: Array, C: float = 1.0, tol: float = 1e-3, max_iter: int = MOST_STEPS
) -> PrimalSolution:
    """Return the w and b of min ½‖w‖² + CΣ max(0, 1 − y(wᵀx + b)) on features (N, p).

    Notes
    -----
    libsvm up to 5,000 rows, O(pN²) or more; beyond, liblinear, O(pN) per pass over the rows and at
    most ``max_iter / 200`` passes. liblinear penalises the bias, unlike the problem; where the bias
    is zero this makes no difference. So features are first centred on their mean, then on the
    hyperplane found, with twice the passes if all were used, until liblinear's bias is close to
    zero or the objective changes by no more than ``tol / 2`` of itself.

    Measured against libsvm: with C times the rows' mean squared norm up to 200 its objective is at
    most 1e-3 higher, for most problems 1e-4. In the thousands it stops at up to 2e-2 higher and
    reports it; scaled features or a smaller C help there.
    """
    if len(y) <= LIBSVM_ROWS:
        svc = _libsvm("linear", features, y, C, tol, max_iter)
        bias = float(svc.intercept_[0])
        return PrimalSolution(svc.coef_[0], bias, bool(svc.n_iter_[0] < max_iter))
    centre = features.mean(axis=0, dtype=np.float64)
    left = max(max_iter // STEPS_A_PASS, 1)
    passes = max(left // FIRST_SHARE, 1)
    best, least, before = PrimalSolution(np.zeros(features.shape[1]), 0.0, False), np.inf, np.inf
    while True:
        centred = features - centre
        svc = _liblinear(centred, y, C, tol, passes)
        weights, shrunk = svc.coef_[0], float(svc.intercept_[0])
        outputs = centred @ weights
        bias = best_bias(outputs, y)
        objective = 0.5 * weights @ weights + C * np.maximum(0, 1 - y * (outputs + bias)).sum()
        if objective <= least:
            best = PrimalSolution(weights, bias - float(centre @ weights), False)
            least = objective
        penalty = 0.5 * (shrunk / svc.intercept_scaling) ** 2
        ended = svc.n_iter_ < passes and penalty <= tol * tol * objective
        if ended or abs(before - objective) <= 0.5 * tol * objective:
            return attrs.evolve(best, ended=True)
        left -= int(svc.n_iter_)
        passes = 2 * passes if svc.n_iter_ == passes else passes
        if passes > left:
            return best
        length = float(weights @ weights)
        centre = centre - (bias / length if length else 0.0) * weights
        before = objective


def _liblinear(centred: Array, y: Array, C: float, tol: float, passes: int) -> Any:
    size = float(np.sqrt((centred**2).sum() / len(y))) or 1.0
    svc = LinearSVC(
        loss="hinge", C=C, tol=tol, max_iter=passes, intercept_scaling=size, random_state=0
    )
    with held_back(ConvergenceWarning):
        _fit(svc, centred, y)
    return svc


def best_bias(outputs: Array, y: Array) -> float:
    """Return the b that minimises Σ max(0, 1 − y(f + b)) for outputs f (N,); O(N log N).

    If an interval does, return its midpoint.

    Examples
    --------
    >>> best_bias(np.array([-2.0, -1.5, 0.5]), np.array([-1.0, -1.0, 1.0]))
    0.5
    """
    # The sum is convex and piecewise linear: its slope starts at minus the number of positive
    # rows and rises by one where a row reaches its margin.
    kinks, n_positive = np.sort(y - outputs), int((y > 0).sum())
    return float((kinks[n_positive - 1] + kinks[n_positive]) / 2)


def _libsvm(kernel: str, given: Array, y: Array, C: float, tol: float, max_iter: int) -> Any:
    # libsvm uses no seed here, but scikit-learn would draw one from NumPy's global state.
    svc = _QuietSVC(C=C, tol=tol, max_iter=max_iter, kernel=kernel, random_state=0)
    _fit(svc, given, y)
    return svc


def _fit(svc: Any, given: Array, y: Array) -> None:
    try:
        svc.fit(given, y)
    except ValueError:
        # Labels and parameters are checked already, so the values must be at fault.
        size = float(np.abs(given).max())
        found = f"as large as {size:.2g}" if np.isfinite(size) else "that are not finite"
        raise DataError(
            f"The support vector machine can't be solved with kernel values or features {found}:"
            f" scale the data (mklkit fit --scale, or StandardScaler), or use kernels"
            " with bounded values, such as 'rbf' or 'cosine(polynomial)'."
        ) from None
