"""The support vector machine's solvers: libsvm on similarities or features, liblinear on many rows.

What every use of them needs stands here once: no draw from NumPy's global state, their words for
failure in ours, and an early end told by a number and not by a warning of theirs.
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
"""libsvm's steps, O(N) each: on kernels of very large values it would not end for hours."""
LIBSVM_ROWS = 5000
"""Up to here libsvm's cache of 200 MB holds all inner products; beyond, it makes them anew."""
STEPS_A_PASS = 200
"""Of ``max_iter``, what a pass of liblinear over the rows counts for."""


FIRST_SHARE = 8
"""Of the passes allowed, the part that liblinear is first given."""


class _Machine(SVC):
    """libsvm without a warning where it was stopped."""

    def _warn_from_fit_status(self) -> None:
        """Leave it to ``n_iter_`` to tell."""


@attrs.frozen(eq=False)
class DualSolution:
    """A support vector machine on similarities to its training rows.

    Attributes
    ----------
    coefficients : ndarray of shape (N,)
        α∘y: the dual solution with the rows' signs, 0 for all but support vectors.
    bias : float
    ended : bool
        False where it was stopped before its tolerance was reached.
    """

    coefficients: Array
    bias: float
    ended: bool


@attrs.frozen(eq=False)
class PrimalSolution:
    """A support vector machine's hyperplane: weights (p,) and bias, and whether it was reached."""

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
        Steps after which it is stopped, without a warning: the caller knows what helps.

    Raises
    ------
    DataError
        If kernel values are too large to calculate with, infinite or NaN.

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
    machine = _libsvm("precomputed", gram, y, C, tol, max_iter)
    coefficients = np.zeros(len(y))
    coefficients[machine.support_] = machine.dual_coef_[0]
    ended = bool(machine.n_iter_[0] < max_iter)
    return DualSolution(coefficients, float(machine.intercept_[0]), ended)


def solve_primal(
    features: Array, y: Array, C: float = 1.0, tol: float = 1e-3, max_iter: int = MOST_STEPS
) -> PrimalSolution:
    """Return the w and b of min ½‖w‖² + CΣ max(0, 1 − y(wᵀx + b)) on features (N, p).

    Notes
    -----
    libsvm up to 5,000 rows, O(pN²) or more; beyond, liblinear, O(pN) a pass over the rows and at
    most ``max_iter / 200`` passes. liblinear shrinks the bias, which the problem does not; where
    the bias is zero that is no difference. So features are centred on their mean first, then on the
    plane that was found, with twice the passes if it took them all, until liblinear ends with a
    bias next to zero or the objective moves by no more than ``tol / 2`` of itself.

    Measured beside libsvm: with C times the rows' mean squared norm up to 200 its objective is at
    most 1e-3 above, for most problems 1e-4. In the thousands it is stopped at up to 2e-2 above, and
    says so; scaled features or a smaller C help there.
    """
    if len(y) <= LIBSVM_ROWS:
        machine = _libsvm("linear", features, y, C, tol, max_iter)
        bias = float(machine.intercept_[0])
        return PrimalSolution(machine.coef_[0], bias, bool(machine.n_iter_[0] < max_iter))
    centre = features.mean(axis=0, dtype=np.float64)
    left = max(max_iter // STEPS_A_PASS, 1)
    passes = max(left // FIRST_SHARE, 1)
    best, least, before = PrimalSolution(np.zeros(features.shape[1]), 0.0, False), np.inf, np.inf
    while True:
        centred = features - centre
        machine = _liblinear(centred, y, C, tol, passes)
        weights, shrunk = machine.coef_[0], float(machine.intercept_[0])
        outputs = centred @ weights
        bias = best_bias(outputs, y)
        objective = 0.5 * weights @ weights + C * np.maximum(0, 1 - y * (outputs + bias)).sum()
        if objective <= least:
            best = PrimalSolution(weights, bias - float(centre @ weights), False)
            least = objective
        price = 0.5 * (shrunk / machine.intercept_scaling) ** 2
        ended = machine.n_iter_ < passes and price <= tol * tol * objective
        if ended or abs(before - objective) <= 0.5 * tol * objective:
            return attrs.evolve(best, ended=True)
        left -= int(machine.n_iter_)
        passes = 2 * passes if machine.n_iter_ == passes else passes
        if passes > left:
            return best
        length = float(weights @ weights)
        centre = centre - (bias / length if length else 0.0) * weights
        before = objective


def _liblinear(centred: Array, y: Array, C: float, tol: float, passes: int) -> Any:
    size = float(np.sqrt((centred**2).sum() / len(y))) or 1.0
    machine = LinearSVC(
        loss="hinge", C=C, tol=tol, max_iter=passes, intercept_scaling=size, random_state=0
    )
    with held_back(ConvergenceWarning):
        _fit(machine, centred, y)
    return machine


def best_bias(outputs: Array, y: Array) -> float:
    """Return the b that minimises Σ max(0, 1 − y(f + b)) for outputs f (N,); O(N log N).

    Where an interval does, its middle.

    Examples
    --------
    >>> best_bias(np.array([-2.0, -1.5, 0.5]), np.array([-1.0, -1.0, 1.0]))
    0.5
    """
    # The sum is convex and piecewise linear: its slope starts at minus the number of positive
    # rows and rises by one where a row meets its margin.
    kinks, n_positive = np.sort(y - outputs), int((y > 0).sum())
    return float((kinks[n_positive - 1] + kinks[n_positive]) / 2)


def _libsvm(kernel: str, given: Array, y: Array, C: float, tol: float, max_iter: int) -> Any:
    # libsvm uses no seed here, but scikit-learn would draw one from NumPy's global state.
    machine = _Machine(C=C, tol=tol, max_iter=max_iter, kernel=kernel, random_state=0)
    _fit(machine, given, y)
    return machine


def _fit(machine: Any, given: Array, y: Array) -> None:
    try:
        machine.fit(given, y)
    except ValueError:
        # The labels are ours and the parameters checked, so that it is the values.
        size = float(np.abs(given).max())
        found = f"as large as {size:.2g}" if np.isfinite(size) else "that are no finite numbers"
        raise DataError(
            f"The support vector machine can't calculate with kernel values or features {found}:"
            f" scale the data (mklkit fit --scale, or StandardScaler), or take kernels"
            " of bounded values, such as 'rbf' or 'cosine(polynomial)'."
        ) from None
