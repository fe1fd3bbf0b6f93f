"""Training sides whose features have mean zero: centred features, or from a Gram matrix."""

from __future__ import annotations

import numpy as np

from mklkit.numerics.least_squares import NormalMatrix, Spectrum
from mklkit.protocols import Array, TrainingSide
from mklkit.views.sides import FeatureSide

__all__ = ["CentredFeatures", "GramFeatures"]


class CentredFeatures(FeatureSide):
    """Features less their means: their products keep the digits that a large mean would take.

    A feature that varies by no more than N·eps of its mean is constant but for rounding, and zero.
    """

    def __init__(self, side: TrainingSide) -> None:
        features = side.features()
        self.centre = features.mean(axis=0)
        centred = features - self.centre
        rounding = len(features) * np.finfo(centred.dtype).eps * np.abs(self.centre)
        centred[:, np.abs(centred).max(axis=0) <= rounding] = 0.0
        super().__init__(centred)


class GramFeatures(FeatureSide):
    """The centred Gram matrix as features U√D: the normal matrix is D and the column sums are zero.

    Negative eigenvalues (an indefinite kernel) are dropped.
    """

    def __init__(self, side: TrainingSide) -> None:
        self._eigenpairs = side.spectrum()
        super().__init__(self._eigenpairs.vectors * np.sqrt(self._eigenpairs.values))

    def normal_matrix(self) -> NormalMatrix:
        """Return D with sums of zero."""
        values = self._eigenpairs.values
        return NormalMatrix(values, np.zeros_like(values), self.n_rows)

    def spectrum(self) -> Spectrum:
        """Return D in its own coordinates."""
        return self.normal_matrix().spectrum()

    def row_coefficients(self, weights: Array) -> Array:
        """Return α with Kα = Φw up to a constant: U D^{-1/2} w, for weights (r,) or (r, G)."""
        scale = np.sqrt(self._eigenpairs.values)
        return self._eigenpairs.vectors @ (weights.T / scale).T

    def weights_for(self, outputs: Array) -> Array:
        """Return w (r,) with Φw = outputs (N,) up to a constant."""
        return self._eigenpairs.vectors.T @ outputs / np.sqrt(self._eigenpairs.values)
