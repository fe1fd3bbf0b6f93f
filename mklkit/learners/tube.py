"""Support vector regression by libsvm, from a Gram matrix or from features."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from sklearn.svm import SVR as LibsvmSVR

from mklkit.learners.smoothed_hinge import too_large
from mklkit.learners.support_vectors import MOST_STEPS
from mklkit.protocols import Array

__all__ = ["TubeSolution", "solve_tube"]


class _QuietSVR(LibsvmSVR):
    """libsvm without the warning about an early stop."""

    def _warn_from_fit_status(self) -> None:
        """Do nothing: an early stop is read from ``n_iter_``."""


@attrs.frozen(eq=False)
class TubeSolution:
    """A support vector regression.

    Attributes
    ----------
    coefficients : ndarray of shape (N,) or (p,)
        β = α − α*, 0 except for support vectors; on features their weights instead.
    bias : float
    ended : bool
        False if it was stopped before it reached its tolerance.
    """

    coefficients: Array
    bias: float
    ended: bool


def solve_tube(
    given: Array,
    y: Array,
    C: float,
    epsilon: float,
    *,
    explicit: bool = False,
    row_weights: Array | None = None,
    tol: float = 1e-3,
    max_iter: int = MOST_STEPS,
) -> TubeSolution:
    """Return the function of least ½‖w‖² + C Σ_i s_i max(0, |f(x_i) − y_i| − ε), by libsvm.

    Parameters
    ----------
    given : ndarray of shape (N, N) or (N, p)
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
        The number of steps after which it stops without a warning; the caller should give advice.

    Raises
    ------
    DataError
        If kernel values are too large for the solver, infinite or NaN.

    Notes
    -----
    Between O(N²) and O(N³), times p for features.

    Examples
    --------
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> found = solve_tube(rows @ rows.T, 3 * rows[:, 0], C=100, epsilon=0.5)
    >>> (found.coefficients @ rows).round(2), np.flatnonzero(found.coefficients).tolist()
    (array([2.75]), [0, 3])
    """
    # libsvm's tolerance is absolute, so the target is divided by its spread and the rest with it.
    unit = float(np.std(y)) or 1.0
    svr = _QuietSVR(
        C=C / unit,
        epsilon=epsilon / unit,
        tol=tol,
        max_iter=max_iter,
        kernel="linear" if explicit else "precomputed",
    )
    # libsvm uses no seed here, but scikit-learn would draw one from NumPy's global state.
    svr.random_state = 0
    _fit(svr, given, y / unit, row_weights)
    if explicit:
        coefficients = svr.coef_[0]
    else:
        coefficients = np.zeros(len(y))
        coefficients[svr.support_] = svr.dual_coef_[0]
    ended = bool(np.max(svr.n_iter_) < max_iter)
    return TubeSolution(unit * coefficients, unit * float(svr.intercept_[0]), ended)


def _fit(svr: Any, given: Array, y: Array, row_weights: Array | None) -> None:
    try:
        svr.fit(given, y, row_weights)
    except ValueError:
        # Targets and parameters are checked already, so the values must be at fault.
        raise too_large(float(np.abs(given).max())) from None
