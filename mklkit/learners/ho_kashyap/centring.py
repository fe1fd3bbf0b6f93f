"""Training sides whose features have mean zero: centred features, or from a Gram matrix."""

from __future__ import annotations

import numpy as np

from mklkit.numerics.centring import centred_gram
from mklkit.numerics.least_squares import NormalMatrix, Spectrum, gram_rounding
from mklkit.protocols import Array, TrainingView
from mklkit.views.sides import FeatureSide

__all__ = ["CentredFeatures", "GramFeatures"]


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


class GramFeatures(FeatureSide):
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
            found = Spectrum.of(matrix, floor=gram_rounding(gram, row_weights))
            # An eigenvector of a tiny eigenvalue is mixed with that of eigenvalue zero.
            zero = self._roots / np.linalg.norm(self._roots)
            self._eigenpairs = Spectrum(
                found.values, found.vectors - zero * (zero.T @ found.vectors)
            )
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
