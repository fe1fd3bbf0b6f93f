"""Support vector machine solvers: libsvm on similarities or features, sums over many rows.

This module keeps libsvm from drawing from NumPy's global state, turns its failures into errors of
this library, and returns an early stop as a value instead of a warning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR, OneClassSVM

from mklkit.learners.smoothed_hinge import SVMSolution, solve_smoothed, too_large
from mklkit.protocols import Array, TrainingView

__all__ = [
    "MOST_STEPS",
    "SVMSolution",
    "solve_dual",
    "solve_one_class",
    "solve_primal",
    "solve_svr",
]

MOST_STEPS = 1_000_000
"""libsvm's steps, O(N) each; a limit, as kernels of very large values could take hours."""
LIBSVM_ROWS = 5000
"""The size up to which libsvm's cache of 200 MB holds all inner products; beyond, it recomputes."""
STEPS_A_PASS = 200
"""The number of steps of ``max_iter`` that one pass over the rows counts for."""
SHARE_OF_TOL = 0.2
"""The share of ``tol`` by which the objective on many rows may be above the optimum."""


class _Quiet:
    """libsvm without the warning about an early stop."""

    def _warn_from_fit_status(self) -> None:
        """Do nothing: an early stop is read from ``n_iter_``."""


class _Classifier(_Quiet, SVC):
    pass


class _Regressor(_Quiet, SVR):
    pass


class _OneClass(_Quiet, OneClassSVM):
    pass


def solve_dual(
    gram: Array,
    y: Array,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
    row_weights: Array | None = None,
) -> SVMSolution:
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

    Returns
    -------
    SVMSolution
        Its coefficients (N,) are α∘y: the dual solution with the labels' signs.

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
    >>> solution = solve_dual(rows @ rows.T, np.sign(rows[:, 0]))
    >>> solution.coefficients, solution.bias, solution.ended
    (array([ 0. , -0.5,  0.5,  0. ]), -0.0, True)
    """
    machine = _Classifier(C=C, tol=tol, max_iter=max_iter, kernel="precomputed")
    return _solved(machine, gram, y, row_weights)


def solve_primal(
    side: TrainingView,
    y: Array,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
    row_weights: Array | None = None,
) -> SVMSolution:
    """Return the w and b of min ½‖w‖² + CΣ v_i max(0, 1 − y(wᵀφ + b)) on features.

    Notes
    -----
    libsvm up to 5,000 rows, O(pN²) or more. Beyond, sums over blocks of rows
    (:func:`mklkit.learners.smoothed_hinge.solve_smoothed`): O(Np + np²) per step for the n rows
    near the margin, and at most ``max_iter / 200`` passes over the rows. Its objective is at most
    ``tol / 5`` of itself above the optimum, whatever C and the size of the features.
    """
    if side.n_rows <= LIBSVM_ROWS:
        machine = _Classifier(C=C, tol=tol, max_iter=max_iter, kernel="linear")
        return _solved(machine, side.features(), y, row_weights)
    passes = max(max_iter // STEPS_A_PASS, 1)
    return solve_smoothed(side, y, C, SHARE_OF_TOL * tol, passes, row_weights)


def solve_svr(
    columns: Array,
    y: Array,
    C: float,
    epsilon: float,
    *,
    explicit: bool = False,
    row_weights: Array | None = None,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
) -> SVMSolution:
    """Return the function of least ½‖w‖² + C Σ_i s_i max(0, |f(x_i) − y_i| − ε), by libsvm.

    Parameters
    ----------
    columns : ndarray of shape (N, N) or (N, p)
        K, or features where ``explicit``.
    y : ndarray of shape (N,)
    C, epsilon : float
        In the units of y, as in scikit-learn's ``SVR``.
    explicit : bool, default=False
    row_weights : ndarray of shape (N,), optional
        s; ones where not given.
    tol : float, default=1e-3
        In units of the spread of y.
    max_iter : int, default=1_000_000
        As in :func:`solve_dual`, whose errors and costs these are; times p for features.

    Examples
    --------
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> solution = solve_svr(rows @ rows.T, 3 * rows[:, 0], C=100, epsilon=0.5)
    >>> (solution.coefficients @ rows).round(2), np.flatnonzero(solution.coefficients).tolist()
    (array([2.75]), [0, 3])
    """
    # libsvm's tolerance is absolute, so the target is divided by its spread and the rest with it.
    unit = float(np.std(y)) or 1.0
    kernel = "linear" if explicit else "precomputed"
    machine = _Regressor(
        C=C / unit, epsilon=epsilon / unit, tol=tol, max_iter=max_iter, kernel=kernel
    )
    solution = _solved(machine, columns, y / unit, row_weights)
    return SVMSolution(unit * solution.coefficients, unit * solution.bias, solution.ended)


def solve_one_class(
    columns: Array,
    explicit: bool,
    nu: float,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
    row_weights: Array | None = None,
) -> SVMSolution:
    """Return the α of min ½αᵀKα with 0 ≤ α ≤ c and 1ᵀα = ν1ᵀc, by libsvm; −bias is the threshold.

    Parameters are those of :func:`solve_svr`; c are the rows' weights.

    Examples
    --------
    >>> solution = solve_one_class(np.eye(2), False, nu=0.5)
    >>> solution.coefficients, solution.bias
    (array([0.5, 0.5]), -0.5)
    """
    kernel = "linear" if explicit else "precomputed"
    machine = _OneClass(nu=nu, tol=tol, max_iter=max_iter, kernel=kernel)
    return _solved(machine, columns, None, row_weights)


def _solved(
    machine: Any, columns: Array, y: Array | None, row_weights: Array | None
) -> SVMSolution:
    """Return what libsvm makes of similarities, or of features where its kernel is linear."""
    machine.random_state = 0  # libsvm uses none, but scikit-learn would draw one
    try:
        machine.fit(columns, y, sample_weight=row_weights)
    except ValueError:
        # Labels and parameters are checked already, so the values must be at fault.
        raise too_large(float(np.abs(columns).max())) from None
    if machine.kernel == "linear":
        coefficients = machine.coef_[0]
    else:
        coefficients = np.zeros(len(columns))
        coefficients[machine.support_] = machine.dual_coef_[0]
    ended = bool(np.max(machine.n_iter_) < machine.max_iter)
    return SVMSolution(coefficients, float(machine.intercept_[0]), ended)
