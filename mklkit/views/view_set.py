"""All views of one problem: kernels with a feature map on the same training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.least_squares import NormalMatrix
from mklkit.protocols import (
    Array,
    FeatureMap,
    FeatureMapFacts,
    FittedKernel,
    FittedMap,
    KernelProducts,
    Projector,
    Rows,
    RowSource,
    facts_of,
)
from mklkit.views.block_columns import BlockColumns
from mklkit.views.bound_kernels import BoundKernel, fit_kernels, fit_maps, warn_of_far_rows
from mklkit.views.deciding import RowBlock
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.feature_statistics import FeatureStatistics
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.known_pairs import KnownPairs
from mklkit.views.rows import ColumnCuts, rows_at, take_rows
from mklkit.views.sides import Side
from mklkit.views.statistics import SharedStatistics
from mklkit.views.tiles import kernel_products, weighted_gram
from mklkit.views.view import View

__all__ = ["ViewSet"]


class ViewSet(list[View]):
    """The views of one problem, on the same training rows.

    Attributes
    ----------
    rows : ndarray or RowSource of shape (N, d)
        The training rows with all features.
    explicit : bool
        Whether the views have features (otherwise rows of Gram matrices).
    blocks : FeatureBlocks or None
        The features of all views, where they have any.
    """

    def __init__(
        self,
        views: Sequence[View],
        rows: Any,
        explicit: bool,
        blocks: FeatureBlocks | None = None,
    ) -> None:
        super().__init__(views)
        self.rows = rows
        self.explicit = explicit
        self.blocks = blocks

    @classmethod
    def fit(
        cls,
        kernels: Sequence[BoundKernel],
        feature_map: FeatureMap,
        rows: Rows,
        random_state: np.random.RandomState,
        max_memory: int | None = None,
        pairs: Callable[[Any], KnownPairs | None] | None = None,
        row_weights: Array | None = None,
    ) -> ViewSet:
        """Return the views of training rows (N, d); ``columns`` of the kernels are positions.

        ``max_memory`` (bytes) bounds the memory of features on explicit maps; ``pairs`` returns the
        pairs of these rows on a kernel's columns, where base quantities are known. Kernels are
        fitted to rows that count by their weights (N,), if they have any.
        """
        fitted, own_rows = fit_kernels(kernels, rows, row_weights)
        maps = fit_maps(kernels, feature_map, fitted, own_rows, random_state)
        if isinstance(rows, RowSource) and any(_is_full(fitted_map) for fitted_map in maps):
            # All rows are landmarks, and in memory as such.
            rows = rows_at(rows, slice(0, len(rows)))
            cuts = ColumnCuts(rows)
            own_rows = [cuts.of(bound.columns, bound.reads) for bound in kernels]
        projectors = [
            Projector(
                bound.label, bound.columns, fitted_map, bound.facts.reads, bound.facts.allows_gaps
            )
            for bound, fitted_map in zip(kernels, maps, strict=True)
        ]
        for bound, kernel, columns in zip(kernels, fitted, own_rows, strict=True):
            warn_of_far_rows(bound.label, kernel, columns)
        explicit = facts_of(feature_map, FeatureMapFacts).explicit
        blocks = FeatureBlocks(projectors, rows, max_memory) if explicit else None
        known = [] if pairs is None else [pairs(bound.columns) for bound in kernels]
        kernel_rows = KernelRows.of(fitted, own_rows, known)
        return cls._of(projectors, kernel_rows, rows, blocks)

    @classmethod
    def of_blocks(cls, kernels: Sequence[FittedKernel], blocks: FeatureBlocks) -> ViewSet:
        """Return the views of fitted kernels on features."""
        cuts = ColumnCuts(blocks.rows)
        own_rows = [cuts.of(projector.columns, projector.reads) for projector in blocks.projectors]
        kernel_rows = KernelRows.of(kernels, own_rows)
        return cls._of(blocks.projectors, kernel_rows, blocks.rows, blocks)

    @classmethod
    def _of(
        cls,
        projectors: Sequence[Projector],
        kernel_rows: KernelRows,
        rows: Any,
        blocks: FeatureBlocks | None,
    ) -> ViewSet:
        shared = SharedStatistics(kernel_rows)
        of_features = None if blocks is None else FeatureStatistics(blocks)
        views = [
            View(projector, kernel, columns, shared, of_features, index)
            for index, (projector, kernel, columns) in enumerate(
                zip(projectors, kernel_rows.kernels, kernel_rows.rows, strict=True)
            )
        ]
        return cls(views, rows, blocks is not None, blocks)

    @property
    def labels(self) -> list[str]:
        """The kernels' names in results."""
        return [view.label for view in self]

    @property
    def seen(self) -> KernelRows:
        """The kernels that learners work on and the rows of each, as in :attr:`View.seen`."""
        return KernelRows.joined(view.seen for view in self)

    @property
    def n_bytes(self) -> int:
        """The memory of rows, Gram matrices and features that are kept."""
        arrays = {id(view.rows): view.rows.nbytes for view in self}
        kept = sum(view.n_bytes for view in self)
        return sum(arrays.values()) + kept + (0 if self.blocks is None else self.blocks.n_bytes)

    def restricted(self, members: NDArray[np.intp]) -> ViewSet:
        """Return the views of some of the training rows, on the maps fitted to all of them."""
        return self._of(
            [view.projector for view in self],
            KernelRows.of_views(self).take_rows(members),
            take_rows(self.rows, members),
            None if self.blocks is None else self.blocks.take(members),
        )

    def block_of(
        self, rows: Array, pairs: Callable[[Any], KnownPairs | None] | None = None
    ) -> RowBlock:
        """Return new rows (n, d) as a block that keeps its columns for several decisions.

        ``pairs`` returns the pairs of these rows on a kernel's columns, as in :meth:`fit`.
        """
        used = [
            view
            for view in self
            if not self.explicit
            and view.projector.map.from_landmarks
            and view.projector.map.landmarks is view.rows
        ]
        if not used:
            return RowBlock(rows, keep=True)
        cuts = ColumnCuts(rows)
        projectors = [view.projector for view in used]
        others = KernelRows.of(
            [view.kernel for view in used],
            [cuts.of(projector.columns, projector.reads) for projector in projectors],
            [] if pairs is None else [pairs(projector.columns) for projector in projectors],
        )
        maps = [view.projector.map for view in used]
        known = [
            (used[index].projector.map, maps[index].from_similarities(values))
            for index, values in others.similarities(KernelRows.of_views(used))
        ]
        return RowBlock(rows, keep=True, known=known)

    def products(self, y: Array | None = None) -> KernelProducts:
        """Return the centred kernels' inner products, with each other and with labels y (N,).

        In O(Np²) per pair of kernels where learners work on features, else O(N²).
        """
        if all(view.sees_features for view in self):
            return self[0].of_features.products(y)
        return kernel_products(self.seen, y)

    def weighted(self, weights: Array) -> WeightedViews:
        """Return the weighted sum of the kernels as one training side."""
        return WeightedViews(self, weights)


class WeightedViews(Side):
    """The sum Σ w_m K_m as a training side: one Gram matrix, or scaled features side by side.

    Parameters
    ----------
    views : ViewSet
    weights : ndarray of shape (M,)
        Must not be negative where the views are explicit.
    """

    def __init__(self, views: ViewSet, weights: Array) -> None:
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
            kernel_rows = KernelRows.joined(self.views[m].seen for m in used)
            gram = weighted_gram(kernel_rows, self.weights[used])
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
            normal = self.views[used[0]].normal_matrix()
            weight = self.weights[used[0]]
            self._normal = NormalMatrix(
                weight * normal.products, np.sqrt(weight) * normal.sums, normal.total
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


def _is_full(fitted: FittedMap) -> bool:
    return fitted.training_features() is not None
