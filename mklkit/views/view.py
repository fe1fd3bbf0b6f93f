"""Views: kernels with a feature map on the training samples, and weighted sums of them.

A view computes each quantity once. Gram matrices, tile statistics and eigendecompositions all come
from the view, so that methods, grids and folds can share them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError
from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.least_squares import NormalMatrix
from mklkit.numerics.pairwise import ExponentialSum, row_blocks
from mklkit.numerics.threads import each, n_threads, one_blas_thread
from mklkit.protocols import Array, Projector, Quadrants, members_with, sample_scale, zeroed
from mklkit.views.cache import Cache, Quantities
from mklkit.views.deciding import with_support
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.feature_moments import BackProjection, Projection
from mklkit.views.feature_statistics import FeatureStatistics
from mklkit.views.kernel_rows import InnerProduct, KernelRows
from mklkit.views.memory import check_gram_fits
from mklkit.views.sides import Side
from mklkit.views.statistics import TileStatistics
from mklkit.views.tiles import weighted_gram

WORTH_THREADS = 2**24
"""The operations, some milliseconds, from which several threads are faster than one."""


class BlockSide(Side, ABC):
    """Some views as a training side: Σ w_m K_m, or features √w_m Φ_m side by side, (N, Σp).

    Features are read block by block, and all in one array only on request.
    ``used`` are the views' indices and ``scales`` their w_m; ``row_scale`` (N,) scales the rows of
    a Gram matrix if some miss sources.
    """

    def __init__(
        self,
        n_rows: int,
        used: Sequence[int],
        scales: Array,
        feature_statistics: FeatureStatistics | None,
        cache: Cache,
    ) -> None:
        self.n_rows = n_rows
        self.used = used
        self.scales = scales
        self.explicit = feature_statistics is not None
        self._feature_statistics = feature_statistics
        self.row_scale: Array | None = None
        self._kept = Quantities(cache, self)

    @property
    @abstractmethod
    def learner_kernel(self) -> KernelRows:
        """The kernels that a learner uses, on their samples (N, ·)."""

    @property
    def feature_statistics(self) -> FeatureStatistics:
        """The features of all views, and their statistics; refused if the map is implicit."""
        if self._feature_statistics is None:
            raise IncompatibleError("This view has no features: its feature map is implicit.")
        return self._feature_statistics

    @property
    def blocks(self) -> FeatureBlocks:
        """The features of all views, block by block."""
        return self.feature_statistics.blocks

    @property
    def n_features(self) -> int:
        """The number of features Σp."""
        return sum(self._widths)

    def gram(self, keep: bool = True) -> Array:
        """Return the Gram matrix (N, N) that a learner sees: Σ w_m K_m, or ΦΦᵀ of features.

        Combiners that use each kernel once do not keep it: one matrix is in memory at a time.
        """
        if keep:
            return self.quantities.of("Gram matrix", self._gram)
        known: Array | None = self.quantities.known("Gram matrix")
        return self._gram() if known is None else known

    def _gram(self) -> Array:
        if len(self.used) == 0:
            return np.zeros((self.n_rows, self.n_rows))
        if self.explicit:  # Estimators check the size in advance on implicit maps.
            check_gram_fits(self.n_rows, self.blocks.rows.dtype.itemsize)
        return weighted_gram(self.learner_kernel, self.scales, scale=self.row_scale)

    @property
    def has_gram(self) -> bool:
        """Whether the Gram matrix is there, or kernels are not all Gaussians of dense rows."""
        known = self.quantities.known("Gram matrix")
        return known is not None or self._exponential_sums is None

    def some_similarities(self, members: NDArray[np.intp]) -> Array:
        """Return the rows (n, N) of the Gram matrix of some training rows.

        Without the matrix, these rows are computed in single precision, by several threads, in
        O(nN(d + M)).
        """
        sums = self._exponential_sums
        if sums is None or self.has_gram:
            return self.gram()[members]
        rows = np.empty((len(members), self.n_rows), np.float32)

        def fill(columns: slice) -> None:
            first, *others = (
                of_array(of_array.others[members], columns, np.empty_like(rows[:, columns]))
                for of_array in sums
            )
            rows[:, columns] = sum(others, first)

        operations = rows.size * sum(s.others.shape[1] + 8 * len(s.factors) for s in sums)
        if operations < WORTH_THREADS:
            with one_blas_thread():
                fill(slice(0, self.n_rows))
        else:
            for _ in each(fill, row_blocks(self.n_rows, -(-self.n_rows // n_threads()))):
                pass
        return rows

    @cached_property
    def _exponential_sums(self) -> list[ExponentialSum] | None:
        """The weighted sum as sums of Gaussians, if it is one and has no features."""
        if self.explicit or len(self.used) == 0:
            return None
        return self.learner_kernel.exponential_sums(self.scales)

    def own_similarities(self) -> Array:
        """Return the diagonal of the Gram matrix, (N,)."""
        if self.explicit or len(self.used) == 0:
            return super().own_similarities()
        diagonals = self.learner_kernel.diagonals()
        total = self.scales @ np.array(diagonals, np.float64).reshape(len(diagonals), self.n_rows)
        return np.asarray(total if self.row_scale is None else total * self.row_scale**2)

    def features(self) -> Array:
        """Return the features (N, Σp) of the training samples, in one array."""
        if len(self.used) == 1 and self.scales[0] == 1:
            return self.blocks.features(self.used[0])

        def every() -> Array:
            return self._side_by_side([self.blocks.features(m) for m in self.used])

        return self.quantities.of("features", every)

    def some_features(self, members: NDArray[np.intp]) -> Array:
        """Return the features (n, Σp) of some training samples."""
        return self._side_by_side([self.blocks.some_features(m, members) for m in self.used])

    def normal_matrix(self) -> NormalMatrix:
        """Return ``features.T @ features``; for orthogonal features only its diagonal, in O(p)."""
        return self.quantities.of("normal matrix", self._normal_matrix)

    def _normal_matrix(self) -> NormalMatrix:
        if len(self.used) > 1:
            return self.class_moments().normal_matrix()
        root = self._roots[0]
        normal = self.feature_statistics.normal_matrix(self.used[0])
        return NormalMatrix(normal.products * root**2, normal.sums * root, normal.total)

    def project(self, coefficients: Array) -> Array:
        """Return ``features @ coefficients``, block by block, in O(Np)."""
        return self.blocks.project(dict(zip(self.used, self._parts(coefficients), strict=True)))

    def project_back(self, targets: Array) -> Array:
        """Return ``features.T @ targets``, block by block, in O(Np)."""
        return self._joined(self.blocks.project_back(self.used, targets))

    def projection(self, coefficients: Array) -> Projection:
        """Return the products with coefficients as a function of one block of samples."""
        return Projection.of(self.blocks.projectors_of(self.used), self._parts(coefficients))

    def back_projection(self) -> tuple[BackProjection, Callable[[Sequence[Array]], Array]]:
        """Return the sums of one block's products with targets, and a map for their total."""
        back = BackProjection(self.blocks.projectors_of(self.used))

        def finish(sums: Sequence[Array]) -> Array:
            return self._joined(back.finish(sums))

        return back, finish

    def weighted_products(self, row_weights: Array, targets: Array) -> tuple[Array, Array]:
        """Return ΦᵀWΦ and ΦᵀT, block by block, in O(np²) for n samples of non-zero weight."""
        scale = np.repeat(self._roots, self._widths)
        products, sums = self.blocks.weighted_products(self.used, row_weights, targets)
        return products * np.outer(scale, scale), sums * scale[:, None]

    def class_moments(
        self, y: Array | None = None, row_weights: Array | None = None
    ) -> ClassMoments:
        """Return the moments of the features, by class for labels −1 and +1, in O(Np²)."""
        moments = self.feature_statistics.class_moments(self.used, y, row_weights)
        return moments.scaled(np.repeat(self._roots, self._widths))

    @property
    def _roots(self) -> list[float]:
        return np.sqrt(self.scales).tolist()  # Python's floats keep arrays in single precision.

    @property
    def _widths(self) -> list[int]:
        return [self.blocks.widths[index] for index in self.used]

    def _parts(self, coefficients: Array) -> list[Array]:
        parts = np.split(coefficients, np.cumsum(self._widths)[:-1])
        return [root * part for root, part in zip(self._roots, parts, strict=True)]

    def _joined(self, products: Sequence[Array]) -> Array:
        scaled = [root * product for root, product in zip(self._roots, products, strict=True)]
        return scaled[0] if len(scaled) == 1 else np.concatenate(scaled)

    def _side_by_side(self, features: Sequence[Array]) -> Array:
        if len(features) == 1 and self.scales[0] == 1:
            return features[0]
        return np.hstack([root * part for root, part in zip(self._roots, features, strict=True)])


class View(BlockSide):
    """One kernel with one feature map on the training samples, restricted to its own columns."""

    def __init__(
        self,
        index: int,
        projector: Projector,
        tile_statistics: TileStatistics,
        feature_statistics: FeatureStatistics | None,
    ) -> None:
        self.label = projector.label
        self.projector = projector
        self.kernel_rows = tile_statistics.kernel_rows.only(index)
        self.rows: Any
        (self.kernel,), (self.rows,) = self.kernel_rows.kernels, self.kernel_rows.arrays
        cache = tile_statistics.cache
        super().__init__(self.rows.shape[0], [index], np.ones(1), feature_statistics, cache)
        self._index = index
        self._tile_statistics = tile_statistics

    @property
    def learner_kernel(self) -> KernelRows:
        """The kernel that a learner works on, on its samples (N, ·).

        On an explicit map that is ΦΦᵀ, the inner product of the features. If the features
        reproduce the view's own kernel, as on a full empirical map, it is that kernel, which is
        faster and shares work with others.
        """
        if self.sees_features:
            return KernelRows.of([InnerProduct()], [self.features()])
        return self.kernel_rows

    @cached_property
    def sees_features(self) -> bool:
        """Whether :attr:`learner_kernel` is the inner product of the features."""
        if not self.explicit:
            return False
        features = self.blocks.remembered(self._index)
        if features is None:
            return True
        # The part of a positive semi-definite kernel that a map drops is positive semi-definite,
        # and zero wherever its diagonal is zero.
        diagonal = np.array(self.kernel.diagonal(self.rows[slice(0, self.n_rows)]))
        zeroed(diagonal, self.kernel_rows.missing_of(0))
        gap = np.abs(np.einsum("ij,ij->i", features, features) - diagonal).max()
        return bool(gap > np.sqrt(np.finfo(features.dtype).eps) * np.abs(diagonal).max())

    def map_features(self, function: Callable[[Array], Array]) -> Array:
        """Return a function of the features, applied block by block."""
        return self.blocks.map(function, self._index)

    def restricted(self, members: NDArray[np.intp]) -> View:
        """Return only this view on some of its samples, with features computed block by block."""
        features = None
        if self.explicit:
            features = FeatureStatistics(self.blocks.only([self._index]).take(members))
        tiles = TileStatistics(self.kernel_rows.take(members, read=False), self.quantities.cache)
        (projector,) = with_support([self.projector], members)
        return View(0, projector, tiles, features)

    @cached_property
    def members(self) -> NDArray[np.intp] | None:
        """The samples (n,) that have its source; None if all do, or fewer than two."""
        return members_with(self.kernel_rows.missing_of(0))

    @cached_property
    def present(self) -> View:
        """This view on its members; the view itself if these are None."""
        return self if self.members is None else self.restricted(self.members)

    def quadrants(self, y: Array) -> Quadrants:
        """Return the statistics of the blocks by class, computed once for all kernels together.

        On features, means and standard deviations are exact, from one pass over the samples;
        quartiles are those of a sample of at most 20,000 samples per class.
        """
        members = self._members_of(y)
        if members is not None:
            return self.present.quadrants(y[members])
        if self.sees_features:
            return self.feature_statistics.quadrants(self._index, y)
        return self._tile_statistics.quadrants(y)[self._index]

    def label_alignment(
        self, y: Array, centered: bool = False, row_weights: Array | None = None
    ) -> float:
        """Return the alignment with the label kernel, computed once for all kernels together.

        On features in O(Np²).
        """
        members = self._members_of(y)
        if members is not None:
            weights = None if row_weights is None else row_weights[members]
            return self.present.label_alignment(y[members], centered, weights)
        if self.sees_features:
            return self.feature_statistics.alignment(self._index, y, centered, row_weights)
        return self._tile_statistics.alignments(y, centered, row_weights)[self._index]

    def _members_of(self, y: Array) -> NDArray[np.intp] | None:
        """Return the members if they need their own statistics; None if their labels are equal."""
        if self.members is None or len(np.unique(y[self.members])) == 1:
            return None
        known = self.sees_features and self.feature_statistics.patterns is not None
        return None if known else self.members


class WeightedViews(BlockSide):
    """The sum Σ w_m K_m as a training side: one Gram matrix, or scaled features side by side.

    Weights must not be negative if the views are explicit.
    """

    def __init__(self, views: Sequence[View], weights: Array) -> None:
        weights = np.asarray(weights, dtype=np.float64)
        used = np.flatnonzero(weights).tolist()
        statistics = views[0].feature_statistics if views[0].explicit else None
        self._views = [views[index] for index in used]
        self._kernel_rows = KernelRows.of_views(self._views) if used else None
        missing = None if self._kernel_rows is None else self._kernel_rows.missing
        if missing is not None and statistics is not None:
            statistics = statistics.scaled(used, weights[used])
        cache = views[0].quantities.cache
        super().__init__(views[0].n_rows, used, weights[used], statistics, cache)
        if missing is not None:
            self.row_scale = sample_scale(missing, self.scales)

    @property
    def learner_kernel(self) -> KernelRows:
        """The kernels of non-zero weight that a learner works on."""
        if self._kernel_rows is not None and not self.explicit:
            return self._kernel_rows
        return KernelRows.joined(view.learner_kernel for view in self._views)
