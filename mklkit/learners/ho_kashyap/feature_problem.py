"""Ridge regression on features with an unpenalised bias, the subproblem of explicit views."""

from __future__ import annotations

import numpy as np

from mklkit.learners.linear_decision import LinearDecision
from mklkit.numerics.least_squares import (
    SPECTRUM_TOLERANCE,
    ArrowheadSystem,
    CholeskySystem,
    NormalMatrix,
    SpectralSystem,
)
from mklkit.protocols import Array, ColumnSelector, Subproblem, TrainingView
from mklkit.views.sides import FeatureSide
from mklkit.views.view import BlockSide


class CenteredFeatures(FeatureSide):
    """Centred features, whose products keep the digits that a large mean would take."""

    def __init__(self, side: TrainingView, row_weights: Array | None = None) -> None:
        features = side.features()
        self.center = np.average(features, axis=0, weights=row_weights).astype(features.dtype)
        centered = features - self.center
        # A feature that varies by no more is constant up to rounding.
        digits_lost = len(features) * np.finfo(centered.dtype).eps * np.abs(self.center)
        centered[:, np.abs(centered).max(axis=0) <= digits_lost] = 0.0
        super().__init__(centered)


class FeatureProblem(Subproblem):
    """Ridge regression on a view's features, ``s·‖f − t/s‖² + α‖w‖²`` over f = Φw + w₀.

    A diagonal normal matrix (full empirical maps) needs no factorisation. Otherwise one
    eigendecomposition of the centred normal matrix serves every ridge α (G,) and data weight; for
    a single ridge a Cholesky factor is enough. Only block operations of the side are used, except
    for features with a large mean, which are centred first. Coefficients are functions with
    weights (p, G) and biases (G,).
    """

    n_coefficients: int | None = None

    def __init__(self, side: TrainingView, alphas: Array, row_weights: Array | None = None) -> None:
        self._side = side
        self._alphas = alphas
        self._row_weights = row_weights
        self._normal = self._normal_matrix()
        self._center = np.zeros_like(self._normal.sums)
        self.n_coefficients = len(self._center) + 1
        columns = self.block_columns
        again = columns is not None and columns.blocks.makes_again(columns.used)
        # Products of features that are recomputed come from moments about a point among them.
        if self._normal.far_from_zero and not again:
            self._side = CenteredFeatures(side, row_weights)
            self._center = self._side.center
            self._normal = self._normal_matrix()
        self._system: ArrowheadSystem | CholeskySystem | SpectralSystem
        diagonal = self._normal.is_diagonal
        if diagonal and alphas.min() > SPECTRUM_TOLERANCE * float(self._normal.products.sum()):
            self._system = ArrowheadSystem(self._normal)
        elif len(alphas) == 1 and not diagonal:
            self._system = CholeskySystem(self._normal)
        else:
            # A view may have its eigenpairs already.
            known = self._normal if diagonal or row_weights is not None else self._side
            self._system = SpectralSystem(known.spectrum(), self._normal.sums)

    def _normal_matrix(self) -> NormalMatrix:
        """Return ΦᵀVΦ."""
        if self._row_weights is None:
            return self._side.normal_matrix()
        return self._side.class_moments(row_weights=self._row_weights).normal_matrix()

    def filled(self, values: Array) -> LinearDecision:
        """Return the coefficients (p + 1,) repeated in every column."""
        columns = np.repeat(values[:, None], len(self._alphas), axis=1)
        return LinearDecision(columns[:-1], columns[-1] + self._center @ columns[:-1])

    def solve(
        self, targets: Array, data_weights: Array, columns: ColumnSelector = slice(None)
    ) -> LinearDecision:
        """Return the minimisers for targets (N, G) and data weights (G,)."""
        if self._row_weights is not None:
            targets = self._row_weights[:, None] * targets
        projected, sums = self.products(targets)
        return self.solve_projected(projected, sums / self._normal.total, data_weights, columns)

    @property
    def ridges(self) -> Array | None:
        """The ridges α (G,)."""
        return self._alphas

    def products(self, values: Array) -> tuple[Array, Array]:
        """Return ΦᵀV (p, G) and the sums (G,) of values (N, G)."""
        return self._side.project_back(values), values.sum(axis=0, dtype=np.float64)

    @property
    def block_columns(self) -> BlockSide | None:
        """The features block by block, if the side has them in this form."""
        return self._side if isinstance(self._side, BlockSide) else None

    def function(self, coefficients: LinearDecision) -> tuple[Array, Array]:
        """Return the weights (p, G) and biases (G,)."""
        return coefficients.coefficients, coefficients.bias

    def solve_projected(
        self,
        projected: Array,
        means: Array,
        data_weights: Array,
        columns: ColumnSelector = slice(None),
    ) -> LinearDecision:
        """Return the minimisers for ΦᵀVt (p, G), the means of t (G,) and data weights (G,)."""
        weights = self._system.solve(projected, means, data_weights, self._alphas[columns])
        bias = means / data_weights - self._normal.sums @ weights / self._normal.total
        return LinearDecision(weights, bias)

    def outputs(self, coefficients: LinearDecision) -> Array:
        """Return the decision values on the training samples."""
        return self._side.project(coefficients.coefficients) + coefficients.bias

    def penalty(self, coefficients: LinearDecision, columns: ColumnSelector = slice(None)) -> Array:
        """Return α‖w‖²."""
        weights = coefficients.coefficients
        return self._alphas[columns] * np.einsum("pg,pg->g", weights, weights)

    def finish(self, coefficients: LinearDecision, column: int = 0) -> LinearDecision:
        """Return the decision function of one column's coefficients."""
        weights = coefficients.coefficients[:, column].copy()
        bias = coefficients.bias[column]
        return LinearDecision(weights, float(bias - self._center @ weights))
