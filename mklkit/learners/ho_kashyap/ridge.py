"""Ridge regressions with an unpenalised bias, one per view: the subproblems of Ho–Kashyap learners.

Each is a :class:`mklkit.plugin.Subproblem`: set up once for a view, then solved for many targets,
data weights and ridges, one per column; :mod:`mklkit.combiners.ifsl.rules` uses them.
"""

from __future__ import annotations

import attrs
import numpy as np
import scipy.linalg

from mklkit.learners.ho_kashyap.centring import CentredFeatures, GramFeatures
from mklkit.learners.linear_decision import LinearDecision
from mklkit.numerics.least_squares import (
    SPECTRUM_TOLERANCE,
    ArrowheadSystem,
    CholeskySystem,
    NormalMatrix,
    SpectralSystem,
    cholesky_or_none,
)
from mklkit.protocols import Array, Subproblem, TrainingSide, Which
from mklkit.views.block_columns import BlockColumns, InBlocks

__all__ = ["CholeskyProblem", "FeatureProblem", "GramProblem", "RidgeCoefficients"]


@attrs.frozen(eq=False)
class RidgeCoefficients:
    """Weights (p, G) and biases (G,)."""

    weights: Array
    bias: Array


class FeatureProblem(Subproblem):
    """Ridge regression on a view's features, ``s·‖f − t/s‖² + α‖w‖²`` over f = Φw + w₀.

    A diagonal normal matrix (full empirical maps) needs no factorisation. Otherwise one
    eigendecomposition of the centred normal matrix serves every ridge and data weight; for a
    single ridge a Cholesky factor is enough.

    Parameters
    ----------
    side : TrainingSide
        Only its block operations are used, except for features with a large mean, which are
        centred first.
    alphas : ndarray of shape (G,)
        α of each column, 0 or above.
    row_weights : ndarray of shape (N,), optional
        v; the squares are then Σ v_i(f_i − t_i/s)².
    """

    def __init__(self, side: TrainingSide, alphas: Array, row_weights: Array | None = None) -> None:
        self._side = side
        self._alphas = alphas
        self._row_weights = row_weights
        self._normal = self._normal_matrix()
        self._centre = np.zeros_like(self._normal.sums)
        columns = self.block_columns
        again = columns is not None and columns.blocks.makes_again(columns.used)
        # Products of features that are made again come from moments about a point among them.
        if self._normal.far_from_zero and not again:
            self._side = CentredFeatures(side, row_weights)
            self._centre = self._side.centre
            self._normal = self._normal_matrix()
        self._system: ArrowheadSystem | CholeskySystem | SpectralSystem
        diagonal = self._normal.is_diagonal
        if diagonal and alphas.min() > SPECTRUM_TOLERANCE * float(self._normal.products.sum()):
            self._system = ArrowheadSystem(self._normal)
        elif len(alphas) == 1 and not diagonal:
            self._system = CholeskySystem(self._normal)
        else:
            known = self._side if row_weights is None else self._normal
            self._system = SpectralSystem(known.spectrum(), self._normal.sums)

    def _normal_matrix(self) -> NormalMatrix:
        """Return ΦᵀVΦ."""
        if self._row_weights is None:
            return self._side.normal_matrix()
        return self._side.class_moments(row_weights=self._row_weights).normal_matrix()

    @property
    def n_coefficients(self) -> int:
        """The number of weights plus one for the bias."""
        return len(self._normal.sums) + 1

    def filled(self, values: Array) -> RidgeCoefficients:
        """Return the coefficients (p + 1,) repeated in every column."""
        columns = np.repeat(values[:, None], len(self._alphas), axis=1)
        return RidgeCoefficients(columns[:-1], columns[-1] + self._centre @ columns[:-1])

    def solve(
        self, targets: Array, data_weights: Array, columns: Which = slice(None)
    ) -> RidgeCoefficients:
        """Return the minimisers for targets (N, G) and data weights (G,)."""
        if self._row_weights is not None:
            targets = self._row_weights[:, None] * targets
        means = targets.sum(axis=0, dtype=np.float64) / self._normal.total
        return self.solve_projected(self._side.project_back(targets), means, data_weights, columns)

    @property
    def block_columns(self) -> BlockColumns | None:
        """The features block by block, where the side has them so."""
        return self._side.block_columns if isinstance(self._side, InBlocks) else None

    def function(self, coefficients: RidgeCoefficients) -> tuple[Array, Array]:
        """Return the weights (p, G) and biases (G,)."""
        return coefficients.weights, coefficients.bias

    def solve_projected(
        self, projected: Array, means: Array, data_weights: Array, columns: Which = slice(None)
    ) -> RidgeCoefficients:
        """Return the minimisers for ΦᵀVt (p, G), the means of t (G,) and data weights (G,)."""
        weights = self._system.solve(projected, means, data_weights, self._alphas[columns])
        bias = means / data_weights - self._normal.sums @ weights / self._normal.total
        return RidgeCoefficients(weights, bias)

    def outputs(self, coefficients: RidgeCoefficients) -> Array:
        """Return the decision values on the training rows."""
        return self._side.project(coefficients.weights) + coefficients.bias

    def penalty(self, coefficients: RidgeCoefficients, columns: Which = slice(None)) -> Array:
        """Return α‖w‖²."""
        squares = np.einsum("pg,pg->g", coefficients.weights, coefficients.weights)
        return self._alphas[columns] * squares

    def finish(self, coefficients: RidgeCoefficients, column: int = 0) -> LinearDecision:
        """Return the decision function of one column's coefficients."""
        weights = coefficients.weights[:, column].copy()
        return LinearDecision(weights, float(coefficients.bias[column] - self._centre @ weights))


class GramProblem(FeatureProblem):
    """Ridge regression in a kernel's feature space, from its Gram matrix: any α ≥ 0, any s.

    Parameters
    ----------
    side : TrainingSide
    alphas : ndarray of shape (G,)
    row_weights : ndarray of shape (N,), optional
    """

    def __init__(self, side: TrainingSide, alphas: Array, row_weights: Array | None = None) -> None:
        self._features = GramFeatures(side, row_weights)
        self._gram = side.gram()
        self._row_means = np.average(self._gram, axis=0, weights=row_weights)
        super().__init__(self._features, alphas, row_weights)

    def _normal_matrix(self) -> NormalMatrix:
        return self._features.normal_matrix()

    @property
    def n_coefficients(self) -> int:
        """The number of row coefficients plus one for the bias, as in :class:`CholeskyProblem`."""
        return len(self._gram) + 1

    def filled(self, values: Array) -> RidgeCoefficients:
        """Return row coefficients and bias (N + 1,) as the same function in every column."""
        outputs = self._gram @ values[:-1] + values[-1]
        mean = np.average(outputs, weights=self._row_weights)
        found = np.append(self._features.weights_for(outputs), mean)
        return super().filled(found)

    def finish(self, coefficients: RidgeCoefficients, column: int = 0) -> LinearDecision:
        """Return the decision function of one column, as a function of similarities."""
        one = slice(column, column + 1)
        picked = RidgeCoefficients(coefficients.weights[:, one], coefficients.bias[one])
        on_rows = self.on_rows(picked)
        return LinearDecision(on_rows.weights[:, 0], float(on_rows.bias[0]))

    def on_rows(self, coefficients: RidgeCoefficients) -> RidgeCoefficients:
        """Return the same functions as coefficients v of the training rows, and their bias."""
        found = self._features.row_coefficients(coefficients.weights)
        return RidgeCoefficients(found, coefficients.bias - self._row_means @ found)


class CholeskyProblem(Subproblem):
    """One ridge α > 0 on a Gram matrix: the LS-SVM system of KMHKS by a Cholesky factor.

    It costs a tenth of the eigenpairs; one factor of sK + αI per data weight. With weights v of
    rows (N,), the squares are Σ v_i(f_i − t_i/s)², and the matrix sK + αV⁻¹.
    """

    def __init__(self, side: TrainingSide, alpha: float, row_weights: Array | None = None) -> None:
        self._side = side
        self._row_weights = row_weights
        self._ridges = alpha if row_weights is None else alpha / row_weights
        # In float32, rounding of the factor reaches α.
        self._gram = np.asarray(side.gram(), np.float64)
        self._alpha = alpha
        self._spectral: GramProblem | None = None
        self._factors: dict[float, tuple[Array, Array]] = {}

    @property
    def n_coefficients(self) -> int:
        """The number of row coefficients plus one for the bias."""
        return len(self._gram) + 1

    def filled(self, values: Array) -> RidgeCoefficients:
        """Return the coefficients (N + 1,) unchanged."""
        return RidgeCoefficients(values[:-1, None], values[-1:])

    def solvable(self, data_weight: float) -> bool:
        """Return whether sK + αV⁻¹ is positive definite (an indefinite kernel may fail)."""
        if data_weight not in self._factors:
            matrix = data_weight * self._gram
            matrix[np.diag_indices_from(matrix)] += self._ridges
            factor = cholesky_or_none(matrix)
            if factor is None:
                return False
            ones = np.ones(len(matrix), dtype=matrix.dtype)
            solved = scipy.linalg.cho_solve((factor, True), ones, check_finite=False)
            self._factors[data_weight] = (factor, solved)
        return True

    def solve(
        self, targets: Array, data_weights: Array, columns: Which = slice(None)
    ) -> RidgeCoefficients:
        """Return the minimiser of ``s·‖f − t/s‖² + α vᵀKv`` over f = Kv + w₀."""
        weight = float(data_weights[0])
        if not self.solvable(weight):
            self._spectral = self._spectral or GramProblem(
                self._side, np.array([self._alpha]), self._row_weights
            )
            found = self._spectral.solve(targets, data_weights, columns)
            return self._spectral.on_rows(found)
        factor, ones = self._factors[weight]
        found = scipy.linalg.cho_solve((factor, True), targets, check_finite=False)
        # The bias makes the coefficients sum to zero: φᵀα = 0 in the paper's notation.
        shift = found.sum(axis=0) / ones.sum()
        found -= ones[:, None] * shift
        return RidgeCoefficients(found, shift / data_weights)

    def outputs(self, coefficients: RidgeCoefficients) -> Array:
        """Return the decision values Kv + w₀ on the training rows."""
        return self._gram @ coefficients.weights + coefficients.bias

    def penalty(self, coefficients: RidgeCoefficients, columns: Which = slice(None)) -> Array:
        """Return α vᵀKv."""
        weights = coefficients.weights
        return self._alpha * np.einsum("ng,ng->g", weights, self._gram @ weights)

    def finish(self, coefficients: RidgeCoefficients, column: int = 0) -> LinearDecision:
        """Return the decision function of one column's coefficients."""
        return LinearDecision(
            coefficients.weights[:, column].copy(), float(coefficients.bias[column])
        )
