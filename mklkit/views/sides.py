"""Training sides: what learners use of one view, of a weighted sum of views, or of some rows."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.numerics.centring import centred_gram
from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.least_squares import NormalMatrix, Spectrum, weighted_sums
from mklkit.numerics.pairwise import row_blocks
from mklkit.protocols import Array, TrainingSide
from mklkit.views.block_columns import BlockColumns
from mklkit.views.deciding import BLOCK_ROWS
from mklkit.views.feature_statistics import FeatureStatistics
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.tiles import weighted_gram

__all__ = ["FeatureSide", "GramSide", "RowSubset", "Side", "WeightedViews"]


class Side:
    """The methods of a training side that follow from its features or its Gram matrix."""

    explicit: bool
    n_rows: int

    # What is computed once, when it is first asked for.
    _normal: NormalMatrix | None = None
    _spectrum: Spectrum | None = None

    def gram(self, keep: bool = True) -> Array:
        """Return the Gram matrix (N, N) of the training rows, from inner products of features."""
        features = self.features()
        return features @ features.T

    def features(self) -> Array:
        """Return the features (N, p) of the training rows, where the map is explicit."""
        raise IncompatibleError("This view has no features: its feature map is implicit.")

    @property
    def n_features(self) -> int:
        """The number of features p."""
        return int(self.features().shape[1])

    def some_features(self, members: NDArray[np.intp]) -> Array:
        """Return the features (n, p) of some training rows."""
        return self.features()[members]

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features`` with the column sums, in O(Np²)."""
        if self._normal is None:
            features = self.features()
            self._normal = NormalMatrix(features.T @ features, features.sum(axis=0), self.n_rows)
        return self._normal

    def project(self, coefficients: Array) -> Array:
        """Return ``features @ coefficients``, in O(Np)."""
        return self.features() @ coefficients

    def project_back(self, targets: Array) -> Array:
        """Return ``features.T @ targets``, in O(Np)."""
        return self.features().T @ targets

    def class_moments(
        self, y: Array | None = None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return the moments of the features, by class for labels −1 and +1, in O(Np²)."""
        features = self.features()
        codes = np.zeros(self.n_rows, np.intp) if y is None else (y > 0).astype(np.intp)
        origin = features.mean(axis=0, dtype=np.float64)
        return ClassMoments.of(features, codes, 1 if y is None else 2, origin, row_weights)

    def weighted_products(self, row_weights: Array, targets: Array) -> tuple[Array, Array]:
        """Return ΦᵀWΦ and ΦᵀT in float64, in O(np²) for n rows of non-zero weight."""
        features = self.features()
        parts = (
            weighted_sums(np.asarray(features[rows], np.float64), row_weights[rows], targets[rows])
            for rows in row_blocks(self.n_rows, BLOCK_ROWS)
        )
        products, sums = reduce(lambda total, more: (total[0] + more[0], total[1] + more[1]), parts)
        return products, sums

    def spectrum(self) -> Spectrum:
        """Return the eigenpairs of the centred normal matrix, or Gram matrix where implicit."""
        if self._spectrum is None:
            if self.explicit:
                self._spectrum = self.normal_matrix().spectrum()
            else:
                spectrum = Spectrum.of(centred_gram(self.gram()))
                # An eigenvector of a tiny eigenvalue is mixed with the constant one of eigenvalue
                # zero; division of coefficients by the eigenvalue would amplify that share.
                vectors = spectrum.vectors - spectrum.vectors.mean(axis=0)
                self._spectrum = Spectrum(spectrum.values, vectors)
        return self._spectrum


class FeatureSide(Side):
    """Features (N, p) as a training side."""

    explicit = True

    def __init__(self, features: Array) -> None:
        self.n_rows = len(features)
        self._features = features

    def features(self) -> Array:
        """Return the features."""
        return self._features


class GramSide(Side):
    """A Gram matrix (N, N) as a training side."""

    explicit = False

    def __init__(self, gram: Array) -> None:
        self.n_rows = len(gram)
        self._gram = gram

    def gram(self, keep: bool = True) -> Array:
        """Return the matrix."""
        return self._gram


class RowSubset(Side):
    """Some rows of a training side, as a separate training side (for cross-validation)."""

    def __init__(self, side: TrainingSide, rows: NDArray[np.intp]) -> None:
        self.side = side
        self.rows = rows
        self.explicit = side.explicit
        self.n_rows = len(rows)

    def gram(self, keep: bool = True) -> Array:
        """Return the Gram matrix of these rows."""
        return self.side.gram()[np.ix_(self.rows, self.rows)]

    def features(self) -> Array:
        """Return the features of these rows."""
        return self.side.some_features(self.rows)

    def columns_of(self, rows: NDArray[np.intp]) -> Array:
        """Return the columns of other training rows with respect to this subset."""
        if self.explicit:
            return self.side.some_features(rows)
        return self.side.gram()[np.ix_(rows, self.rows)]


class WeightedViews(Side):
    """The sum Σ w_m K_m as a training side: one Gram matrix, or scaled features side by side.

    Parameters
    ----------
    views : ViewSet
    weights : ndarray of shape (M,)
        Must not be negative where the views are explicit.
    """

    def __init__(self, views: Any, weights: Array) -> None:
        self.views = views
        self.weights = np.asarray(weights, dtype=np.float64)
        self.explicit = views.explicit
        self.n_rows = len(views.rows)
        self._gram: Array | None = None
        self._features: Array | None = None

    @property
    def of_features(self) -> FeatureStatistics:
        """The features of all views, and their statistics."""
        features: FeatureStatistics = self.views[0].of_features
        return features

    @property
    def _roots(self) -> list[tuple[int, float]]:
        """The views with non-zero weight and the roots of their weights."""
        return [(int(m), float(np.sqrt(self.weights[m]))) for m in np.flatnonzero(self.weights)]

    def gram(self, keep: bool = True) -> Array:
        """Return Σ w_m K_m, (N, N): one matrix, summed tile by tile."""
        if self._gram is not None:
            return self._gram
        used = [m for m in range(len(self.views)) if self.weights[m] != 0]
        if used:
            seen = KernelRows.joined(self.views[m].seen for m in used)
            gram = weighted_gram(seen, self.weights[used])
        else:
            gram = np.zeros((self.n_rows, self.n_rows))
        if keep:
            self._gram = gram
        return gram

    def features(self) -> Array:
        """Return the features √w_m Φ_m side by side, (N, Σp)."""
        if self._features is None:
            self._features = np.hstack([root * self.views[m].features() for m, root in self._roots])
        return self._features

    def some_features(self, members: NDArray[np.intp]) -> Array:
        """Return the features (n, Σp) of some training rows."""
        return np.hstack([root * self.views[m].some_features(members) for m, root in self._roots])

    def _scale(self) -> Array:
        """Return the root of its view's weight for each feature, (Σp,)."""
        widths = self.of_features.blocks.widths
        return np.concatenate([np.full(widths[m], root) for m, root in self._roots])

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features`` of the scaled features, from those of the views."""
        used = [m for m, _ in self._roots]
        if self._normal is None and len(used) == 1:
            own = self.views[used[0]].normal_matrix()
            weight = self.weights[used[0]]
            self._normal = NormalMatrix(
                weight * own.products, np.sqrt(weight) * own.sums, own.total
            )
        if self._normal is None:
            self._normal = self.class_moments().normal_matrix()
        return self._normal

    @property
    def n_features(self) -> int:
        """The number of features Σp."""
        return sum(self.block_columns.widths)

    @property
    def block_columns(self) -> BlockColumns:
        """The scaled features, block by block."""
        used, roots = zip(*self._roots, strict=True)
        return BlockColumns(self.of_features.blocks, used, roots)

    def project(self, coefficients: Array) -> Array:
        """Return ``features @ coefficients``, block by block."""
        return self.block_columns.project(coefficients)

    def project_back(self, targets: Array) -> Array:
        """Return ``features.T @ targets``, block by block."""
        return self.block_columns.project_back(targets)

    def weighted_products(self, row_weights: Array, targets: Array) -> tuple[Array, Array]:
        """Return ΦᵀWΦ and ΦᵀT of the scaled features, block by block."""
        used, scale = [m for m, _ in self._roots], self._scale()
        blocks = self.of_features.blocks
        products, sums = blocks.weighted_products(used, row_weights, targets)
        return products * np.outer(scale, scale), sums * scale[:, None]

    def class_moments(
        self, y: Array | None = None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return the moments of the scaled features, by class for labels −1 and +1."""
        used = [m for m, _ in self._roots]
        return self.of_features.class_moments(used, y, row_weights).scaled(self._scale())
