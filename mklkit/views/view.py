"""Views: kernels with a feature map on the training rows.

A view computes each quantity once. Gram matrices, tile statistics and eigendecompositions are all
taken from the view, so that methods, grids and folds can share them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.least_squares import NormalMatrix
from mklkit.numerics.pairwise import row_blocks
from mklkit.protocols import (
    Array,
    FeatureMap,
    FeatureMapFacts,
    FittedKernel,
    KernelProducts,
    OrthogonalFeatures,
    Projector,
    Quadrants,
    RememberedFeatures,
    facts_of,
)
from mklkit.views.bound_kernels import BoundKernel, fit_kernels, fit_maps, warn_of_far_rows
from mklkit.views.deciding import BLOCK_ROWS, RowBlock
from mklkit.views.feature_products import feature_products, label_alignment
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.row_ids import reads_row_ids
from mklkit.views.scalar_kernels import InnerProduct
from mklkit.views.sides import Side, weighted_gram
from mklkit.views.statistics import SharedStatistics
from mklkit.views.tiles import kernel_products
from mklkit.views.weighted_views import WeightedViews

__all__ = ["View", "ViewSet"]


class View(Side):
    """One kernel through one feature map on the training rows.

    Attributes
    ----------
    label : str
        The kernel's name in results.
    kernel : FittedKernel
    reads_row_ids : bool
        Whether the kernel takes row ids to look up instead of features.
    rows : ndarray of shape (N, d)
        The training rows, restricted to the kernel's own columns.
    """

    def __init__(
        self,
        projector: Projector,
        kernel: FittedKernel,
        rows: Array,
        shared: SharedStatistics,
        index: int,
        reads_row_ids: bool = False,
    ) -> None:
        super().__init__()
        self.label = projector.label
        self.projector = projector
        self.kernel = kernel
        self.rows = rows
        self.reads_row_ids = reads_row_ids
        self.n_rows = len(rows)
        self.explicit = projector.map.explicit
        self._shared = shared
        self._index = index
        self._gram: Array | None = None
        self._features: Array | None = None
        self._own_statistics: SharedStatistics | None = None
        self._whole: tuple[View, NDArray[np.intp]] | None = None

    def restricted(self, members: NDArray[np.intp], rows: Array, shared: SharedStatistics) -> View:
        """Return the view of some training rows, with features taken from this view."""
        part = View(self.projector, self.kernel, rows, shared, self._index, self.reads_row_ids)
        part._whole = (self, members)
        return part

    @cached_property
    def seen(self) -> tuple[FittedKernel, Array]:
        """The kernel that a learner works on, and its rows (N, ·).

        On an explicit map that is ΦΦᵀ, the inner product of the features. Where the features
        reproduce the view's own kernel, as on a full empirical map, it is that kernel, which takes
        less time and shares work with others.
        """
        if not self.explicit or self._reproduces_kernel():
            return self.kernel, self.rows
        return InnerProduct(), self.features()

    @property
    def sees_features(self) -> bool:
        """Whether :attr:`seen` is the inner product of the features."""
        return self.seen[0] is not self.kernel

    def _reproduces_kernel(self) -> bool:
        # The part of a positive semi-definite kernel that a map drops is positive semi-definite,
        # and zero where its diagonal is zero.
        features = self.features()
        own = self.kernel.diagonal(self.rows)
        gap = np.abs(np.einsum("ij,ij->i", features, features) - own).max()
        return bool(gap <= np.sqrt(np.finfo(features.dtype).eps) * np.abs(own).max())

    def gram(self, keep: bool = True) -> Array:
        """Return the Gram matrix (N, N) that a learner sees: of the kernel, or ΦΦᵀ of features.

        Parameters
        ----------
        keep : bool, default=True
            Whether the view keeps it. Combiners that use each kernel once pass False, so
            that no more than one matrix is in memory at a time.
        """
        if self._gram is not None:
            return self._gram
        kernel, rows = self.seen
        gram = weighted_gram(KernelRows.of([kernel], [rows]), np.ones(1))
        if keep:
            self._gram = gram
        return gram

    def features(self) -> Array:
        """Return the features (N, p) of the training rows."""
        if self._features is None and self._whole is not None:
            whole, members = self._whole
            self._features = whole.features()[members]
        if self._features is None:
            fitted = self.projector.map
            ready = fitted.training_features() if isinstance(fitted, RememberedFeatures) else None
            self._features = fitted.transform(self.rows) if ready is None else ready
        return self._features

    def take_features(self, features: Array) -> None:
        """Store the features (N, p) of the training rows, computed elsewhere."""
        self._features = features

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features``; for orthogonal features only its diagonal, in O(p)."""
        fitted = self.projector.map
        if self._normal is None and self._whole is None and isinstance(fitted, OrthogonalFeatures):
            diagonal = fitted.squared_lengths()
            if diagonal is not None:
                self._normal = NormalMatrix(diagonal, self.features().sum(axis=0), self.n_rows)
        return super().normal_matrix()

    def quadrants(self, y: Array) -> Quadrants:
        """Return the statistics of the blocks by class, computed once for all kernels together."""
        statistics, index = self._statistics()
        return statistics.quadrants(y)[index]

    def label_alignment(self, y: Array, centered: bool = False) -> float:
        """Return the alignment with the label kernel, computed once for all kernels together.

        On features in O(Np²).
        """
        if self.sees_features:
            return label_alignment(self.features(), y, centered)
        return self._shared.alignments(y, centered)[self._index]

    def _statistics(self) -> tuple[SharedStatistics, int]:
        """Return the statistics of the kernels that learners work on, and this view's index."""
        if not self.sees_features:
            return self._shared, self._index
        if self._own_statistics is None:
            kernel, rows = self.seen
            self._own_statistics = SharedStatistics(KernelRows.of([kernel], [rows]))
        return self._own_statistics, 0


class ViewSet(Sequence[View]):
    """The views of one problem, on the same training rows.

    Attributes
    ----------
    rows : ndarray of shape (N, d)
        The training rows with all features.
    explicit : bool
        Whether the views have features (otherwise rows of Gram matrices).
    """

    def __init__(self, views: Sequence[View], rows: Array, explicit: bool) -> None:
        self._views = list(views)
        self.rows = rows
        self.explicit = explicit

    @classmethod
    def fit(
        cls,
        kernels: Sequence[BoundKernel],
        feature_map: FeatureMap,
        rows: Array,
        random_state: np.random.RandomState,
    ) -> ViewSet:
        """Return the views of training rows (N, d); ``columns`` of the kernels are positions."""
        fitted, own_rows = fit_kernels(kernels, rows)
        shared = SharedStatistics(KernelRows.of(fitted, own_rows))
        maps = fit_maps(kernels, feature_map, fitted, own_rows, random_state)
        views = []
        for index, fitted_map in enumerate(maps):
            bound, kernel, own = kernels[index], fitted[index], own_rows[index]
            warn_of_far_rows(bound.label, kernel, own)
            projector = Projector(bound.label, bound.columns, fitted_map)
            views.append(View(projector, kernel, own, shared, index, reads_row_ids(bound)))
        return cls(views, rows, facts_of(feature_map, FeatureMapFacts).explicit)

    @overload
    def __getitem__(self, index: int) -> View: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[View]: ...
    def __getitem__(self, index: int | slice) -> View | Sequence[View]:
        """Return the view, or views, at a position."""
        return self._views[index]

    def __len__(self) -> int:
        """Return the number of views M."""
        return len(self._views)

    def __iter__(self) -> Iterator[View]:
        """Iterate over the views."""
        return iter(self._views)

    @property
    def labels(self) -> list[str]:
        """The kernels' names in results."""
        return [view.label for view in self._views]

    @property
    def seen(self) -> KernelRows:
        """The kernels that learners work on and the rows of each, as in :attr:`View.seen`."""
        return KernelRows.of(*zip(*(view.seen for view in self._views), strict=True))

    def restricted(self, members: NDArray[np.intp]) -> ViewSet:
        """Return the views of some of the training rows, on the maps fitted to all of them."""
        seen = KernelRows.of_views(self._views).take(members)
        shared = SharedStatistics(seen)
        parts = [
            view.restricted(members, own, shared)
            for view, own in zip(self._views, seen.rows, strict=True)
        ]
        return ViewSet(parts, self.rows[members], self.explicit)

    def make_features(self) -> None:
        """Compute all views' features at once, with what their kernels share."""
        made: list[list[Array]] = [[] for _ in self._views]
        for place in row_blocks(len(self.rows), BLOCK_ROWS):
            block = RowBlock(self.rows[place], keep=True)
            # Values that are not finite are detected in the decisions.
            with np.errstate(over="ignore", invalid="ignore"):
                for index, columns in block.columns_of([view.projector for view in self._views]):
                    made[index].append(columns)
        for view, parts in zip(self._views, made, strict=True):
            view.take_features(np.concatenate(parts))

    def products(self, y: Array) -> KernelProducts:
        """Return the centred kernels' inner products, with each other and with the labels y (N,).

        In O(Np²) per pair of kernels where learners work on features, else O(N²).
        """
        if all(view.sees_features for view in self._views):
            return feature_products([view.features() for view in self._views], y)
        return kernel_products(self.seen, y)

    def weighted(self, weights: Array) -> WeightedViews:
        """Return the weighted sum of the kernels as one training side."""
        return WeightedViews(self, weights)
