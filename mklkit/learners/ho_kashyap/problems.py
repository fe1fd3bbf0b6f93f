"""Ridge regressions with an unpenalised bias, one per view: the subproblems of coupled learners.

Each is set up once for a view, then solved for many targets, data weights and ridges, one per
column. With sample weights v, squares are Σ v_i(f_i − t_i/s)², and means weigh samples by v.
"""

from __future__ import annotations

import attrs
import numpy as np

from mklkit.learners.ho_kashyap.feature_problem import CenteredFeatures, FeatureProblem
from mklkit.learners.linear_decision import LinearDecision
from mklkit.numerics.gram_tiles import centered_gram
from mklkit.numerics.least_squares import (
    SPECTRUM_TOLERANCE,
    NormalMatrix,
    Spectrum,
    TridiagonalSystem,
    cholesky_or_none,
    cholesky_solution,
    gram_rounding,
    rounding,
)
from mklkit.protocols import Array, ColumnSelector, Subproblem, TrainingView
from mklkit.views.sides import FeatureSide, GramSide


def ridge_problem(
    side: TrainingView, alphas: Array, row_weights: Array | None = None
) -> FeatureProblem | CholeskyProblem:
    """Return the ridge regression of one view for ridges (G,), in the cheapest form."""
    single = len(alphas) == 1 and float(alphas[0]) > 0
    if side.explicit:
        if single and RowProblem.suits(side, float(alphas[0])):
            return RowProblem(side, alphas, row_weights)
        return FeatureProblem(side, alphas, row_weights)
    if single:
        return CholeskyProblem(side, alphas, row_weights)
    if alphas.min() > 0 and row_weights is None:
        return TridiagonalProblem(side, alphas)
    return GramProblem(side, alphas, row_weights)


class GramProblem(FeatureProblem):
    """Ridge regression in a kernel's feature space, from its Gram matrix: any α ≥ 0, any s.

    The features are Φ = U√D of the centred Gram matrix: the normal matrix is D and the column sums
    are zero. Negative eigenvalues (an indefinite kernel) are dropped. With sample weights V, K is
    centred by the weighted mean, V^½KV^½ has the eigenpairs, and Φ = V^{-½}U√D has ΦᵀVΦ = D.
    """

    def __init__(self, side: TrainingView, alphas: Array, row_weights: Array | None = None) -> None:
        self._gram = gram = side.gram()
        self._row_means = np.average(gram, axis=0, weights=row_weights)
        if row_weights is None:
            self._pairs = side.spectrum()
            self._roots = np.ones(side.n_rows, self._pairs.vectors.dtype)[:, None]
        else:
            self._roots = np.sqrt(row_weights).astype(gram.dtype)[:, None]
            centered = centered_gram(gram, row_weights=row_weights)
            matrix = centered * self._roots * self._roots.T
            pairs = Spectrum.of(matrix, floor=gram_rounding(gram, row_weights))
            # An eigenvector of a tiny eigenvalue mixes with that of eigenvalue zero.
            zero = self._roots / np.linalg.norm(self._roots)
            vectors = pairs.vectors - zero * (zero.T @ pairs.vectors)
            self._pairs = Spectrum(pairs.values, vectors)
        self._lengths = np.sqrt(self._pairs.values)
        features = self._pairs.vectors * self._lengths / self._roots
        super().__init__(FeatureSide(features), alphas, row_weights)
        self.n_coefficients = len(gram) + 1

    def _normal_matrix(self) -> NormalMatrix:
        values = self._pairs.values
        return NormalMatrix(values, np.zeros_like(values), float(np.vdot(self._roots, self._roots)))

    def filled(self, values: Array) -> LinearDecision:
        """Return sample coefficients and bias (N + 1,) as the same function in every column."""
        outputs = self._gram @ values[:-1] + values[-1]
        weights = self._pairs.vectors.T @ (self._roots[:, 0] * outputs) / self._lengths
        return super().filled(np.append(weights, np.average(outputs, weights=self._row_weights)))

    def finish(self, coefficients: LinearDecision, column: int = 0) -> LinearDecision:
        """Return the decision function of one column, as a function of similarities."""
        weights, bias = self.on_rows(coefficients)
        return LinearDecision(weights[:, column].copy(), float(bias[column]))

    @property
    def ridges(self) -> None:
        """None: its coefficients are those of samples."""

    @property
    def row_ridges(self) -> Array:
        """The ridges α (G,)."""
        return self._alphas

    def row_function(self, coefficients: LinearDecision) -> tuple[Array, Array, Array]:
        """Return coefficients on similarities and decision values (N, G), and biases (G,)."""
        weights, bias = self.on_rows(coefficients)
        return weights, self.outputs(coefficients), bias

    def finish_rows(self, weights: Array, bias: float) -> LinearDecision:
        """Return the decision function with these coefficients on similarities."""
        return LinearDecision(weights, bias)

    def on_rows(self, coefficients: LinearDecision) -> tuple[Array, Array]:
        """Return the functions' coefficients on similarities (N, G), and biases (G,)."""
        scaled = (coefficients.coefficients.T / self._lengths).T
        weights = self._roots * (self._pairs.vectors @ scaled)
        return weights, coefficients.bias - self._row_means @ weights


@attrs.frozen(eq=False)
class RowFunction:
    """Functions f = Kv + w₀: v (N, G), empty where not fitted; f (N, G); αvᵀKv and w₀ (G,)."""

    weights: Array
    outputs: Array
    penalties: Array
    bias: Array


class CholeskyProblem(Subproblem):
    """One ridge α > 0 on a Gram matrix: KMHKS's system by a Cholesky factor, not by eigenpairs.

    The system s·f + αV⁻¹v = t gives the outputs f along with the solution v: K is not read again.
    """

    n_coefficients: int | None = None

    def __init__(self, side: TrainingView, alphas: Array, row_weights: Array | None = None) -> None:
        self._side = side
        self._row_weights = row_weights
        self._scales = 1.0 if row_weights is None else 1.0 / row_weights[:, None]
        self._alphas = alphas
        # In float32, rounding of the factor reaches α.
        self._gram = np.asarray(side.gram(), np.float64)
        self.n_coefficients = len(self._gram) + 1
        self._spectral: GramProblem | None = None
        self._factors: dict[float, tuple[Array, Array] | None] = {}

    def filled(self, values: Array) -> RowFunction:
        """Return the function with the coefficients and bias (N + 1,) in every column."""
        weights = values[:-1, None]
        products = self._gram @ values[:-1, None]
        return self._repeated(weights, products, float(np.vdot(weights, products)), values[-1:])

    def _repeated(
        self, weights: Array, products: Array, squares: float, bias: Array
    ) -> RowFunction:
        count = len(self._alphas)
        weights, outputs = (np.repeat(part, count, axis=1) for part in (weights, products + bias))
        return RowFunction(weights, outputs, self._alphas * squares, np.repeat(bias, count))

    def prepare(self, data_weights: Array) -> None:
        """Factorise the system, if it is that of a single ridge."""
        if len(self._alphas) == 1:
            self._factor(float(data_weights[0]))

    def _factor(self, data_weight: float) -> tuple[Array, Array] | None:
        """Return the factor of sK + αV⁻¹ and its solution for ones; None if K is indefinite."""
        if data_weight not in self._factors:
            matrix = data_weight * self._gram
            matrix[np.diag_indices_from(matrix)] += np.ravel(self._alphas * self._scales)
            # Symmetric, so that its transpose is the same matrix in LAPACK's order.
            factor, ones = cholesky_or_none(matrix.T), np.ones(len(matrix))
            self._factors[data_weight] = None
            if factor is not None:
                self._factors[data_weight] = factor, cholesky_solution(factor, ones)
        return self._factors[data_weight]

    def _solved(
        self, targets: Array, data_weights: Array, columns: ColumnSelector
    ) -> tuple[Array, Array] | None:
        """Return v (N, G) and w₀ (G,), or None if the kernel is indefinite."""
        factorized = self._factor(float(data_weights[0]))
        if factorized is None:
            return None
        factor, ones = factorized
        weights = cholesky_solution(factor, targets)
        # The bias makes the coefficients sum to zero: φᵀα = 0 in the paper's notation.
        shift = weights.sum(axis=0) / ones.sum()
        return weights - ones[:, None] * shift, shift / data_weights

    def solve(
        self, targets: Array, data_weights: Array, columns: ColumnSelector = slice(None)
    ) -> RowFunction:
        """Return the minimisers of ``s·‖f − t/s‖² + α vᵀKv`` over f = Kv + w₀."""
        solved = self._solved(targets, data_weights, columns)
        alphas = self._alphas[columns]
        if solved is None:
            if self._spectral is None:
                self._spectral = GramProblem(self._side, self._alphas, self._row_weights)
            known = self._spectral.solve(targets, data_weights, columns)
            weights, outputs, bias = self._spectral.row_function(known)
            penalties = self._spectral.penalty(known, columns)
            return RowFunction(weights, outputs, penalties, bias)
        weights, bias = solved
        outputs = (targets - alphas * self._scales * weights) / data_weights
        penalties = alphas * np.einsum("ng,ng->g", weights, outputs)
        return RowFunction(weights, outputs, penalties, bias)

    def outputs(self, coefficients: RowFunction) -> Array:
        """Return the decision values Kv + w₀ on the training samples."""
        return coefficients.outputs

    def penalty(self, coefficients: RowFunction, columns: ColumnSelector = slice(None)) -> Array:
        """Return α vᵀKv."""
        return coefficients.penalties

    @property
    def row_ridges(self) -> Array:
        """The ridges α (G,)."""
        return self._alphas

    @property
    def centered_gram(self) -> Array | None:
        """The centred Gram matrix (N, N); None if samples have weights."""
        return centered_gram(self._gram) if self._row_weights is None else None

    def row_function(self, coefficients: RowFunction) -> tuple[Array, Array, Array]:
        """Return coefficients on similarities and decision values (N, G), and biases (G,)."""
        return coefficients.weights, coefficients.outputs, coefficients.bias

    def finish(self, coefficients: RowFunction, column: int = 0) -> LinearDecision:
        """Return the decision function of one column's coefficients."""
        weights = coefficients.weights[:, column].copy()
        return self.finish_rows(weights, float(coefficients.bias[column]))

    def finish_rows(self, weights: Array, bias: float) -> LinearDecision:
        """Return the decision function with these coefficients on similarities."""
        return LinearDecision(weights, bias)


class TridiagonalProblem(CholeskyProblem):
    """Many ridges α > 0 on a Gram matrix: QTQᵀ of the centred one, with T tridiagonal.

    It serves every (s, α) as eigenpairs do, for a third of their time: each solve is two products
    with Q and O(N) per column.
    """

    def __init__(self, side: TrainingView, alphas: Array) -> None:
        super().__init__(side, alphas)
        self._row_means = self._gram.mean(axis=0)
        self._system = TridiagonalSystem(centered_gram(self._gram))
        self._definite = self._system.negative <= gram_rounding(side.gram())

    def prepare(self, data_weights: Array) -> None:
        """Do nothing: one matrix serves all data weights."""

    def _solved(
        self, targets: Array, data_weights: Array, columns: ColumnSelector
    ) -> tuple[Array, Array] | None:
        if not self._definite:
            return None
        means = targets.mean(axis=0, dtype=np.float64)
        weights = self._system.solve(targets - means, data_weights, self._alphas[columns])
        # Only rounding errors leave the centred space.
        weights -= weights.mean(axis=0)
        return weights, means / data_weights - self._row_means @ weights


class RowProblem(CholeskyProblem):
    """One ridge α > 0 on fewer samples than features: f = Φw + w₀ with w = Φᵀv, on K = ΦΦᵀ."""

    def __init__(self, side: TrainingView, alphas: Array, row_weights: Array | None = None) -> None:
        self._features = side.features()
        self._center: Array | float = 0.0
        squares = np.einsum("np,np->p", self._features, self._features)
        sums = self._features.sum(axis=0)
        if NormalMatrix(squares, sums, len(self._features)).far_from_zero:
            centered = CenteredFeatures(side, row_weights)
            self._features = centered.features()
            self._center = centered.center
        super().__init__(GramSide(self._features @ self._features.T), alphas, row_weights)
        self.n_coefficients = self._features.shape[1] + 1

    @staticmethod
    def suits(side: TrainingView, alpha: float) -> bool:
        """Return whether there are fewer samples than features, and α is above rounding errors."""
        if side.n_rows >= side.n_features:
            return False
        features = side.features()
        tolerance = max(SPECTRUM_TOLERANCE, rounding(features))
        return bool(alpha > tolerance * np.vdot(features, features))

    def filled(self, values: Array) -> RowFunction:
        """Return the function with the weights and bias (p + 1,)."""
        weights = values[:-1]
        bias = values[-1:] + np.sum(self._center * weights)
        products = self._features @ weights[:, None]
        return self._repeated(np.empty((0, 1)), products, float(np.sum(weights**2)), bias)

    def finish_rows(self, weights: Array, bias: float) -> LinearDecision:
        """Return the decision function on features."""
        on_features = self._features.T @ weights
        return LinearDecision(on_features, float(bias - np.sum(self._center * on_features)))
