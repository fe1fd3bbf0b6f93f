"""The weighted sum of views as one training side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.least_squares import NormalMatrix
from mklkit.protocols import Array
from mklkit.views.block_columns import BlockColumns
from mklkit.views.feature_statistics import FeatureStatistics
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.sides import Side, weighted_gram

__all__ = ["WeightedViews"]


class SeenView(Protocol):
    """What the sum needs of a view."""

    @property
    def seen(self) -> KernelRows:
        """The kernel that a learner sees, on the rows that it takes."""
        ...

    @property
    def of_features(self) -> FeatureStatistics:
        """The features of all views, and their statistics."""
        ...

    def features(self) -> Array:
        """Return the features (N, p) of the training rows."""
        ...

    def some_features(self, members: NDArray[np.intp]) -> Array:
        """Return the features (n, p) of some training rows."""
        ...

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features`` with the column sums."""
        ...


class SeenViews(Protocol):
    """What the sum needs of all views, such as a ``ViewSet``."""

    rows: Array
    explicit: bool

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> SeenView: ...
    def __iter__(self) -> Iterator[SeenView]: ...


class WeightedViews(Side):
    """The sum Σ w_m K_m as a training side: one Gram matrix, or scaled features side by side.

    Parameters
    ----------
    views : ViewSet
    weights : ndarray of shape (M,)
        Must not be negative where the views are explicit.
    """

    def __init__(self, views: SeenViews, weights: Array) -> None:
        super().__init__()
        self.views = views
        self.weights = np.asarray(weights, dtype=np.float64)
        self.explicit = views.explicit
        self.n_rows = len(views.rows)
        self._gram: Array | None = None
        self._features: Array | None = None

    @property
    def of_features(self) -> FeatureStatistics:
        """The features of all views, and their statistics."""
        return self.views[0].of_features

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
