"""The training side: what a learner sees of one view."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.least_squares import NormalMatrix, Spectrum
from mklkit.protocols.arrays import Array

__all__ = ["TrainingView"]


class TrainingView(Protocol):
    """What a learner sees of a view's training rows: features, or a Gram matrix.

    Learners on features use ``normal_matrix``, ``project`` and ``project_back``, each a sum or a
    map over blocks of rows; learners on similarities use the Gram matrix.
    """

    explicit: bool
    n_rows: int

    def gram(self) -> Array:
        """Return the Gram matrix (N, N) that a learner sees: of the kernel, or ΦΦᵀ of features."""
        ...

    def features(self) -> Array:
        """Return the features Φ (N, p) of the training rows, where ``explicit``."""
        ...

    @property
    def n_features(self) -> int:
        """The number of features p, where ``explicit``."""
        ...

    def some_features(self, members: NDArray[np.intp]) -> Array:
        """Return the features (n, p) of some training rows, where ``explicit``."""
        ...

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features`` (p, p) with the features' column sums (p,)."""
        ...

    def project(self, coefficients: Array) -> Array:
        """Return ``features @ coefficients``: (N,), or (N, k) for k columns."""
        ...

    def project_back(self, targets: Array) -> Array:
        """Return ``features.T @ targets``: (p,), or (p, k) for k columns."""
        ...

    def class_moments(
        self, y: Array | None = None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return counts, sums and products of the features per class, where ``explicit``.

        The classes are those of labels −1 and +1, in this order; without labels all rows are one.
        A row of weight 2 counts as two; ``row_weights`` (N,) are above 0.

        Raises
        ------
        IncompatibleError
            If the map is implicit.
        """
        ...

    def weighted_products(self, row_weights: Array, targets: Array) -> tuple[Array, Array]:
        """Return ΦᵀWΦ (p, p) and ΦᵀT (p, k) in float64, where ``explicit``.

        ``row_weights`` (N,), the diagonal of W, are not negative; ``targets`` are (N, k). Rows that
        have neither are not visited.
        """
        ...

    def spectrum(self) -> Spectrum:
        """Return the eigenpairs of the centred normal or Gram matrix, computed once."""
        ...
