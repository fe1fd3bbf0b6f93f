"""Support vector machine solvers: libsvm on similarities or features, sums over many rows.

This module keeps libsvm from drawing from NumPy's global state, turns its failures into errors of
this library, and returns an early stop as a value instead of a warning.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from sklearn.svm import SVC, OneClassSVM

from mklkit.learners.smoothed_hinge import PrimalSolution, solve_smoothed, too_large
from mklkit.protocols import Array, TrainingView

__all__ = ["MOST_STEPS", "DualSolution", "solve_dual", "solve_one_class", "solve_primal"]

MOST_STEPS = 1_000_000
"""libsvm's steps, O(N) each; a limit, as kernels of very large values could take hours."""
LIBSVM_ROWS = 5000
"""The size up to which libsvm's cache of 200 MB holds all inner products; beyond, it recomputes."""
STEPS_A_PASS = 200
"""The number of steps of ``max_iter`` that one pass over the rows counts for."""
SHARE_OF_TOL = 0.2
"""The share of ``tol`` by which the objective on many rows may be above the optimum."""


class _QuietSVC(SVC):
    """libsvm without the warning about an early stop."""

    def _warn_from_fit_status(self) -> None:
        """Do nothing: an early stop is read from ``n_iter_``."""


class _QuietOneClassSVM(OneClassSVM):
    """libsvm's one-class machine without the warning about an early stop."""

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


def solve_dual(
    gram: Array,
    y: Array,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
    row_weights: Array | None = None,
) -> DualSolution:
    """Return the α of max 1ᵀα − ½(α∘y)ᵀK(α∘y) with 0 ≤ α ≤ Cv and αᵀy = 0, by libsvm.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
        K.
    y : ndarray of shape (N,)
        −1 and +1.
    C, tol : float
    max_iter : int, default=1_000_000
        The number of steps after which it stops without a warning; the caller should give advice.
    row_weights : ndarray of shape (N,), optional
        v, above 0; 1 where not given.

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
    svc = _libsvm("precomputed", gram, y, C, tol, max_iter, row_weights)
    coefficients = np.zeros(len(y))
    coefficients[svc.support_] = svc.dual_coef_[0]
    ended = bool(svc.n_iter_[0] < max_iter)
    return DualSolution(coefficients, float(svc.intercept_[0]), ended)


def solve_primal(
    side: TrainingView,
    y: Array,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
    row_weights: Array | None = None,
) -> PrimalSolution:
    """Return the w and b of min ½‖w‖² + CΣ v_i max(0, 1 − y(wᵀφ + b)) on features.

    Notes
    -----
    libsvm up to 5,000 rows, O(pN²) or more. Beyond, sums over blocks of rows
    (:func:`mklkit.learners.smoothed_hinge.solve_smoothed`): O(Np + np²) per step for the n rows
    near the margin, and at most ``max_iter / 200`` passes over the rows. Its objective is at most
    ``tol / 5`` of itself above the optimum, whatever C and the size of the features.
    """
    if side.n_rows <= LIBSVM_ROWS:
        svc = _libsvm("linear", side.features(), y, C, tol, max_iter, row_weights)
        bias = float(svc.intercept_[0])
        return PrimalSolution(svc.coef_[0], bias, bool(svc.n_iter_[0] < max_iter))
    passes = max(max_iter // STEPS_A_PASS, 1)
    return solve_smoothed(side, y, C, SHARE_OF_TOL * tol, passes, row_weights)


def solve_one_class(
    given: Array,
    on_features: bool,
    nu: float,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
    row_weights: Array | None = None,
) -> DualSolution:
    """Return the α of min ½αᵀKα with 0 ≤ α ≤ c and 1ᵀα = ν1ᵀc, by libsvm; −bias is the threshold.

    Parameters
    ----------
    given : ndarray of shape (N, N) or (N, p)
        K, or the features of which it is the inner product; of these the coefficients are Φᵀα.
    on_features : bool
    nu, tol : float
    max_iter : int, default=1_000_000
    row_weights : ndarray of shape (N,), optional
        c, ones where not given.

    Raises
    ------
    DataError
        If kernel values are too large for the solver, infinite or NaN.

    Notes
    -----
    Between O(N²) and O(N³), times p on features.

    Examples
    --------
    >>> found = solve_one_class(np.eye(2), False, nu=0.5)
    >>> found.coefficients, found.bias
    (array([0.5, 0.5]), -0.5)
    """
    kernel = "linear" if on_features else "precomputed"
    machine = _QuietOneClassSVM(kernel=kernel, nu=nu, tol=tol, max_iter=max_iter)
    machine.random_state = 0  # libsvm uses none, but scikit-learn would draw one
    _fit(machine, given, None, row_weights)
    bias, ended = float(machine.intercept_[0]), bool(machine.n_iter_ < max_iter)
    if on_features:
        return DualSolution(machine.coef_[0], bias, ended)
    coefficients = np.zeros(len(given))
    coefficients[machine.support_] = machine.dual_coef_[0]
    return DualSolution(coefficients, bias, ended)


def _libsvm(
    kernel: str,
    given: Array,
    y: Array,
    C: float,
    tol: float,
    max_iter: int,
    row_weights: Array | None,
) -> Any:
    # libsvm uses no seed here, but scikit-learn would draw one from NumPy's global state.
    svc = _QuietSVC(C=C, tol=tol, max_iter=max_iter, kernel=kernel, random_state=0)
    _fit(svc, given, y, row_weights)
    return svc


def _fit(svc: Any, given: Array, y: Array | None, row_weights: Array | None = None) -> None:
    try:
        svc.fit(given, y, sample_weight=row_weights)
    except ValueError:
        # Labels and parameters are checked already, so the values must be at fault.
        raise too_large(float(np.abs(given).max())) from None
