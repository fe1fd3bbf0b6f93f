"""Ridge regressions with an unpenalised bias, one per view: the subproblems of Ho–Kashyap learners.

Each is a :class:`mklkit.plugin.Subproblem`: set up once for a view, then solved for many targets,
data weights and ridges, one per column; :mod:`mklkit.learners.ho_kashyap.rules` uses them.
"""

from __future__ import annotations

import attrs
import numpy as np

from mklkit.learners.linear_decision import LinearDecision
from mklkit.numerics.gram_tiles import centred_gram
from mklkit.numerics.least_squares import (
    SPECTRUM_TOLERANCE,
    ArrowheadSystem,
    CholeskySystem,
    NormalMatrix,
    SpectralSystem,
    Spectrum,
    gram_rounding,
)
from mklkit.protocols import Array, ColumnSelector, Subproblem, TrainingView
from mklkit.views.sides import FeatureSide
from mklkit.views.view import BlockSide

__all__ = ["CentredFeatures", "FeatureProblem", "GramProblem", "RidgeCoefficients"]


class CentredFeatures(FeatureSide):
    """Features less their means: their products keep the digits that a large mean would take.

    A feature that varies by no more than N·eps of its mean is constant but for rounding, and zero.
    Rows count in the means by their weights (N,), if they have any.
    """

    def __init__(self, side: TrainingView, row_weights: Array | None = None) -> None:
        features = side.features()
        self.centre = np.average(features, axis=0, weights=row_weights).astype(features.dtype)
        centred = features - self.centre
        rounding = len(features) * np.finfo(centred.dtype).eps * np.abs(self.centre)
        centred[:, np.abs(centred).max(axis=0) <= rounding] = 0.0
        super().__init__(centred)


class _GramFeatures(FeatureSide):
    """The centred Gram matrix as features U√D: the normal matrix is D and the column sums are zero.

    Negative eigenvalues (an indefinite kernel) are dropped. With weights V of rows, K is centred by
    the weighted mean, V^½KV^½ has the eigenpairs, and the features Φ = V^{-½}U√D have ΦᵀVΦ = D.
    """

    def __init__(self, side: TrainingView, row_weights: Array | None = None) -> None:
        if row_weights is None:
            self._eigenpairs = side.spectrum()
            self._roots = np.ones(side.n_rows, self._eigenpairs.vectors.dtype)[:, None]
        else:
            gram = side.gram()
            self._roots = np.sqrt(row_weights).astype(gram.dtype)[:, None]
            centred = centred_gram(gram, row_weights=row_weights)
            matrix = centred * self._roots * self._roots.T
            pairs = Spectrum.of(matrix, floor=gram_rounding(gram, row_weights))
            # An eigenvector of a tiny eigenvalue is mixed with that of eigenvalue zero.
            zero = self._roots / np.linalg.norm(self._roots)
            vectors = pairs.vectors - zero * (zero.T @ pairs.vectors)
            self._eigenpairs = Spectrum(pairs.values, vectors)
        lengths = np.sqrt(self._eigenpairs.values)
        super().__init__(self._eigenpairs.vectors * lengths / self._roots)

    def normal_matrix(self) -> NormalMatrix:
        """Return D with sums of zero."""
        values = self._eigenpairs.values
        total = float(np.vdot(self._roots, self._roots))
        return NormalMatrix(values, np.zeros_like(values), total)

    def spectrum(self) -> Spectrum:
        """Return D in its own coordinates."""
        return self.normal_matrix().spectrum()

    def row_coefficients(self, weights: Array) -> Array:
        """Return α with Kα = Φw up to a constant: V^½U D^{-½}w, for weights (r, G)."""
        scale = np.sqrt(self._eigenpairs.values)
        return self._roots * (self._eigenpairs.vectors @ (weights.T / scale).T)

    def weights_for(self, outputs: Array) -> Array:
        """Return w (r,) with Φw = outputs (N,) up to a constant."""
        return (
            self._eigenpairs.vectors.T
            @ (self._roots[:, 0] * outputs)
            / np.sqrt(self._eigenpairs.values)
        )


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
    side : TrainingView
        Only its block operations are used, except for features with a large mean, which are
        centred first.
    alphas : ndarray of shape (G,)
        α of each column, 0 or above.
    row_weights : ndarray of shape (N,), optional
        v; the squares are then Σ v_i(f_i − t_i/s)².
    """

    def __init__(self, side: TrainingView, alphas: Array, row_weights: Array | None = None) -> None:
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
        self, targets: Array, data_weights: Array, columns: ColumnSelector = slice(None)
    ) -> RidgeCoefficients:
        """Return the minimisers for targets (N, G) and data weights (G,)."""
        if self._row_weights is not None:
            targets = self._row_weights[:, None] * targets
        means = targets.sum(axis=0, dtype=np.float64) / self._normal.total
        return self.solve_projected(self._side.project_back(targets), means, data_weights, columns)

    @property
    def block_columns(self) -> BlockSide | None:
        """The features block by block, where the side has them so."""
        return self._side if isinstance(self._side, BlockSide) else None

    def function(self, coefficients: RidgeCoefficients) -> tuple[Array, Array]:
        """Return the weights (p, G) and biases (G,)."""
        return coefficients.weights, coefficients.bias

    def solve_projected(
        self,
        projected: Array,
        means: Array,
        data_weights: Array,
        columns: ColumnSelector = slice(None),
    ) -> RidgeCoefficients:
        """Return the minimisers for ΦᵀVt (p, G), the means of t (G,) and data weights (G,)."""
        weights = self._system.solve(projected, means, data_weights, self._alphas[columns])
        bias = means / data_weights - self._normal.sums @ weights / self._normal.total
        return RidgeCoefficients(weights, bias)

    def outputs(self, coefficients: RidgeCoefficients) -> Array:
        """Return the decision values on the training rows."""
        return self._side.project(coefficients.weights) + coefficients.bias

    def penalty(
        self, coefficients: RidgeCoefficients, columns: ColumnSelector = slice(None)
    ) -> Array:
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
    side : TrainingView
    alphas : ndarray of shape (G,)
    row_weights : ndarray of shape (N,), optional
    """

    def __init__(self, side: TrainingView, alphas: Array, row_weights: Array | None = None) -> None:
        self._features = _GramFeatures(side, row_weights)
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
        return super().filled(np.append(self._features.weights_for(outputs), mean))

    def finish(self, coefficients: RidgeCoefficients, column: int = 0) -> LinearDecision:
        """Return the decision function of one column, as a function of similarities."""
        place = slice(column, column + 1)
        on_rows = self.on_rows(
            RidgeCoefficients(coefficients.weights[:, place], coefficients.bias[place])
        )
        return LinearDecision(on_rows.weights[:, 0], float(on_rows.bias[0]))

    def on_rows(self, coefficients: RidgeCoefficients) -> RidgeCoefficients:
        """Return the same functions as coefficients v of the training rows, and their bias."""
        weights = self._features.row_coefficients(coefficients.weights)
        return RidgeCoefficients(weights, coefficients.bias - self._row_means @ weights)
