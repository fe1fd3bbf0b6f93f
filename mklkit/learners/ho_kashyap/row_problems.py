"""Ridge regressions solved in the space of the rows: on Gram matrices, or on many features."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import scipy.linalg

from mklkit.learners.ho_kashyap.feature_problems import CentredFeatures, FeatureProblem, GramProblem
from mklkit.learners.linear_decision import LinearDecision
from mklkit.numerics.least_squares import (
    SPECTRUM_TOLERANCE,
    NormalMatrix,
    cholesky_or_none,
    rounding,
)
from mklkit.protocols import Array, ColumnSelector, Subproblem, TrainingView
from mklkit.views.sides import GramSide

__all__ = ["CholeskyProblem", "RowCoefficients", "RowProblem", "ridge_problem"]


def ridge_problem(
    side: TrainingView, alphas: Array, row_weights: Array | None = None
) -> FeatureProblem | CholeskyProblem:
    """Return the ridge regression of one view for ridges (G,), in the form that costs least."""
    single = len(alphas) == 1 and float(alphas[0]) > 0
    if side.explicit:
        if single and RowProblem.suits(side, float(alphas[0])):
            return RowProblem(side, float(alphas[0]), row_weights)
        return FeatureProblem(side, alphas, row_weights)
    if single:
        return CholeskyProblem(side, float(alphas[0]), row_weights)
    return GramProblem(side, alphas, row_weights)


@attrs.frozen(eq=False)
class RowCoefficients:
    """A function f = Kv + w₀ by its coefficients and its values on the training rows.

    Attributes
    ----------
    weights : ndarray of shape (N, 1) or None
        v; None for a function of features that was not fitted.
    products : ndarray of shape (N, 1)
        Kv.
    squares : float
        vᵀKv.
    bias : ndarray of shape (1,)
    """

    weights: Array | None
    products: Array
    squares: float
    bias: Array


class CholeskyProblem(Subproblem):
    """One ridge α > 0 on a Gram matrix: the LS-SVM system of KMHKS by a Cholesky factor.

    It costs a tenth of the eigenpairs; one factor of sK + αI per data weight. With weights v of
    rows (N,), the squares are Σ v_i(f_i − t_i/s)², and the matrix sK + αV⁻¹.
    """

    def __init__(self, side: TrainingView, alpha: float, row_weights: Array | None = None) -> None:
        self._side = side
        self._row_weights = row_weights
        self._ridges = alpha if row_weights is None else alpha / row_weights
        self._alpha = alpha
        # In float32, rounding of the factor reaches α.
        self._gram = np.asarray(side.gram(), np.float64)
        self._spectral: GramProblem | None = None
        self._factors: dict[float, tuple[Array, Array]] = {}

    @property
    def n_coefficients(self) -> int:
        """The number of row coefficients plus one for the bias."""
        return len(self._gram) + 1

    def filled(self, values: Array) -> RowCoefficients:
        """Return the function with the coefficients and bias (N + 1,)."""
        return self._function(values[:-1, None], values[-1:])

    def _function(self, weights: Array, bias: Array) -> RowCoefficients:
        products = self._gram @ weights
        return RowCoefficients(weights, products, float(np.vdot(weights, products)), bias)

    def solvable(self, data_weight: float) -> bool:
        """Return whether sK + αV⁻¹ is positive definite (an indefinite kernel may fail)."""
        if data_weight not in self._factors:
            matrix = data_weight * self._gram
            matrix[np.diag_indices_from(matrix)] += self._ridges
            # Symmetric, so that its transpose is the same matrix in LAPACK's order.
            factor = cholesky_or_none(matrix.T)
            if factor is None:
                return False
            ones = np.ones(len(matrix), dtype=matrix.dtype)
            solved = scipy.linalg.cho_solve((factor, True), ones, check_finite=False)
            self._factors[data_weight] = (factor, solved)
        return True

    def solve(
        self, targets: Array, data_weights: Array, columns: ColumnSelector = slice(None)
    ) -> RowCoefficients:
        """Return the minimiser of ``s·‖f − t/s‖² + α vᵀKv`` over f = Kv + w₀."""
        weight = float(data_weights[0])
        if not self.solvable(weight):
            self._spectral = self._spectral or GramProblem(
                self._side, np.array([self._alpha]), self._row_weights
            )
            on_rows = self._spectral.on_rows(self._spectral.solve(targets, data_weights, columns))
            return self._function(on_rows.weights, on_rows.bias)
        factor, ones = self._factors[weight]
        weights = scipy.linalg.cho_solve((factor, True), targets, check_finite=False)
        # The bias makes the coefficients sum to zero: φᵀα = 0 in the paper's notation.
        shift = weights.sum(axis=0) / ones.sum()
        weights -= ones[:, None] * shift
        return self._function(weights, shift / data_weights)

    def outputs(self, coefficients: RowCoefficients) -> Array:
        """Return the decision values Kv + w₀ on the training rows."""
        return coefficients.products + coefficients.bias

    def penalty(
        self, coefficients: RowCoefficients, columns: ColumnSelector = slice(None)
    ) -> Array:
        """Return α vᵀKv."""
        return np.array([self._alpha * coefficients.squares])

    def finish(self, coefficients: RowCoefficients, column: int = 0) -> LinearDecision:
        """Return the decision function of one column's coefficients."""
        if coefficients.weights is None:
            raise ValueError("a function that was not fitted has no coefficients of rows")
        return self._decision(coefficients.weights[:, column].copy(), coefficients.bias[column])

    def _decision(self, weights: Array, bias: Any) -> LinearDecision:
        return LinearDecision(weights, float(bias))


class RowProblem(CholeskyProblem):
    """One ridge α > 0 on fewer rows than features, f = Φw + w₀ with w = Φᵀv.

    On the Gram matrix ΦΦᵀ: O(N²p + N³) once and O(N²) per solve, where
    :class:`mklkit.learners.ho_kashyap.feature_problems.FeatureProblem` takes O(Np² + p³) and
    O(p² + Np). The ridge must be above the rounding errors of the products; see :meth:`suits`.
    """

    def __init__(self, side: TrainingView, alpha: float, row_weights: Array | None = None) -> None:
        self._features = side.features()
        self._centre: Array | float = 0.0
        squares = np.einsum("np,np->p", self._features, self._features)
        sums = self._features.sum(axis=0)
        if NormalMatrix(squares, sums, len(self._features)).far_from_zero:
            centred = CentredFeatures(side, row_weights)
            self._features, self._centre = centred.features(), centred.centre
        super().__init__(GramSide(self._features @ self._features.T), alpha, row_weights)

    @staticmethod
    def suits(side: TrainingView, alpha: float) -> bool:
        """Return whether there are fewer rows than features, and the ridge is large enough."""
        if side.n_rows >= side.n_features:
            return False
        features = side.features()
        tolerance = max(SPECTRUM_TOLERANCE, rounding(features))
        return bool(alpha > tolerance * np.vdot(features, features))

    @property
    def n_coefficients(self) -> int:
        """The number of weights plus one for the bias."""
        return self._features.shape[1] + 1

    def filled(self, values: Array) -> RowCoefficients:
        """Return the function with the weights and bias (p + 1,)."""
        weights = values[:-1, None]
        bias = values[-1:] + np.sum(self._centre * values[:-1])
        return RowCoefficients(None, self._features @ weights, float(np.sum(weights**2)), bias)

    def _decision(self, weights: Array, bias: Any) -> LinearDecision:
        """Return the decision function on features."""
        on_features = self._features.T @ weights
        return LinearDecision(on_features, float(bias - np.sum(self._centre * on_features)))
