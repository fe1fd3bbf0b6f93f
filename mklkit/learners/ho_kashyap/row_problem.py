"""Ridge regression on more features than rows, solved in the space of the rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import attrs
import numpy as np
import scipy.linalg

from mklkit.learners.ho_kashyap.centring import CentredFeatures
from mklkit.learners.linear_decision import LinearDecision
from mklkit.numerics.least_squares import SPECTRUM_TOLERANCE, NormalMatrix, rounding
from mklkit.protocols import Array, Subproblem, TrainingSide, Which

__all__ = ["RowCoefficients", "RowProblem"]


@attrs.frozen(eq=False)
class RowCoefficients:
    """A function f = Φw + w₀ by its values on the training rows.

    Attributes
    ----------
    on_rows : ndarray of shape (N, 1) or None
        v with w = Φᵀv; None for a function that was not fitted.
    products : ndarray of shape (N, 1)
        Φw.
    squares : float
        ‖w‖².
    bias : ndarray of shape (1,)
    """

    on_rows: Array | None
    products: Array
    squares: float
    bias: Array


class RowProblem(Subproblem):
    """Ridge regression ``s·‖f − t/s‖² + α‖w‖²`` over f = Φw + w₀ for one α > 0 and N < p.

    By w = Φᵀv and a Cholesky factor of sΦΦᵀ + αI: O(N²p + N³) once and O(N²) per solve, where
    :class:`mklkit.learners.ho_kashyap.ridge.FeatureProblem` takes O(Np² + p³) and O(p² + Np).

    Parameters
    ----------
    side : TrainingSide
    alpha : float
        Must be above the rounding errors of the products; see :meth:`suits`.
    row_weights : ndarray of shape (N,), optional
        v; the squares are then Σ v_i(f_i − t_i/s)², and the matrix sΦΦᵀ + αV⁻¹.
    """

    def __init__(self, side: TrainingSide, alpha: float, row_weights: Array | None = None) -> None:
        self._ridges = alpha if row_weights is None else alpha / row_weights
        self._alpha = alpha
        self._features = side.features()
        self._centre: Array | float = 0.0
        squares = np.einsum("np,np->p", self._features, self._features)
        sums = self._features.sum(axis=0)
        if NormalMatrix(squares, sums, len(self._features)).far_from_zero:
            centred = CentredFeatures(side, row_weights)
            self._features, self._centre = centred.features(), centred.centre
        self._products = self._features @ self._features.T
        self._solvers: dict[float, tuple[Callable[[Array], Array], Array]] = {}

    @staticmethod
    def suits(side: TrainingSide, alphas: Array) -> bool:
        """Return whether there are fewer rows than features, and one ridge of sufficient size."""
        if len(alphas) > 1:
            return False
        if side.n_rows >= side.n_features:
            return False
        features = side.features()
        tolerance = max(SPECTRUM_TOLERANCE, rounding(features))
        return bool(alphas[0] > tolerance * np.vdot(features, features))

    @property
    def n_coefficients(self) -> int:
        """The number of weights plus one for the bias."""
        return self._features.shape[1] + 1

    def filled(self, values: Array) -> RowCoefficients:
        """Return the function with the weights and bias (p + 1,)."""
        weights = values[:-1, None]
        bias = values[-1:] + np.sum(self._centre * values[:-1])
        return RowCoefficients(None, self._features @ weights, float(np.sum(weights**2)), bias)

    def solve(
        self, targets: Array, data_weights: Array, columns: Which = slice(None)
    ) -> RowCoefficients:
        """Return the minimiser for targets (N, 1) and a data weight (1,)."""
        weight = float(data_weights[0])
        if weight not in self._solvers:
            self._solvers[weight] = self._solver(weight)
        solve, ones = self._solvers[weight]
        found = solve(targets)
        # The bias makes the coefficients sum to zero.
        shift = found.sum(axis=0) / ones.sum()
        found -= ones[:, None] * shift
        products = self._products @ found
        return RowCoefficients(found, products, float(np.vdot(found, products)), shift / weight)

    def _solver(self, weight: float) -> tuple[Callable[[Array], Array], Array]:
        matrix = weight * self._products
        matrix[np.diag_indices_from(matrix)] += self._ridges
        # Symmetric, so that its transpose is the same matrix in LAPACK's order.
        factor = scipy.linalg.cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        solve = partial(scipy.linalg.cho_solve, (factor, True), check_finite=False)
        return solve, solve(np.ones(len(matrix), dtype=matrix.dtype))

    def outputs(self, coefficients: RowCoefficients) -> Array:
        """Return the decision values on the training rows."""
        return coefficients.products + coefficients.bias

    def penalty(self, coefficients: RowCoefficients, columns: Which = slice(None)) -> Array:
        """Return α‖w‖²."""
        return np.array([self._alpha * coefficients.squares])

    def finish(self, coefficients: RowCoefficients, column: int = 0) -> LinearDecision:
        """Return the decision function on features."""
        if coefficients.on_rows is None:
            raise ValueError("a function that was not fitted has no coefficients of rows")
        weights = self._features.T @ coefficients.on_rows[:, column]
        return LinearDecision(
            weights, float(coefficients.bias[column] - np.sum(self._centre * weights))
        )
