"""All views of one problem: kernels with a feature map on the same training samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import (
    Array,
    FeatureMap,
    FeatureMapTraits,
    FittedKernel,
    KernelProducts,
    Mask,
    Projector,
    Rows,
    SomeRows,
    traits_of,
)
from mklkit.views.bound_kernels import (
    BoundKernel,
    fit_kernels,
    fit_maps,
    warn_of_far_rows,
)
from mklkit.views.cache import Cache
from mklkit.views.deciding import RowBlock, with_support
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.feature_statistics import FeatureStatistics
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.rows import KnownPairs
from mklkit.views.shared_rows import is_table
from mklkit.views.statistics import TileStatistics
from mklkit.views.tiles import kernel_products
from mklkit.views.view import View, WeightedViews


class ViewSet(list[View]):
    """The views of one problem, on the same training samples (N, d).

    ``blocks`` are the features of all views, if the map is explicit.
    """

    def __init__(
        self,
        projectors: Sequence[Projector],
        kernel_rows: KernelRows,
        rows: Rows,
        blocks: FeatureBlocks | None,
        cache: Cache | None = None,
    ) -> None:
        self.cache = cache or Cache()
        tiles = TileStatistics(kernel_rows, self.cache)
        features = None if blocks is None else FeatureStatistics(blocks, kernel_rows.missing)
        super().__init__(
            View(index, projector, tiles, features) for index, projector in enumerate(projectors)
        )
        self.rows = rows
        self.missing: Mask = kernel_rows.missing
        self.explicit = blocks is not None
        self.blocks = blocks

    @classmethod
    def fit(
        cls,
        kernels: Sequence[BoundKernel],
        feature_map: FeatureMap,
        rows: Array | Rows,
        random_state: np.random.RandomState,
        max_memory: int | None = None,
        pairs: Callable[[Any], KnownPairs | None] | None = None,
        row_weights: Array | None = None,
        cache: Cache | None = None,
        tried: bool = False,
        fitted: Sequence[FittedKernel] | None = None,
        among: tuple[Rows, NDArray[np.intp]] | None = None,
    ) -> ViewSet:
        """Return the views of training samples (N, d); ``columns`` of the kernels are positions.

        ``max_memory`` (bytes) bounds the memory of features on explicit maps; ``pairs`` returns the
        pairs of these samples on a kernel's columns if base quantities are known. Kernels are
        fitted with the samples' weights (N,), if they have any. ``cache`` is one that other fits
        share. ``tried``: kernels and maps were tried on the samples of another problem. ``fitted``
        are the kernels fitted to these samples, if they are. ``among`` are the samples of all
        problems and the places of these, if maps are to share them.
        """
        cache = cache or Cache(max_memory)
        rows = Rows.of(rows)
        if fitted is None:
            fitted = fit_kernels(kernels, rows, row_weights, tried)
        maps = fit_maps(kernels, feature_map, fitted, rows, random_state, tried)
        if any(fitted_map.training_features() is not None for fitted_map in maps):
            # All samples are landmarks, so those of a store are in memory.
            rows = rows if rows.in_memory else rows[slice(0, len(rows))]
        for bound, kernel in zip(kernels, fitted, strict=True):
            warn_of_far_rows(bound, kernel, rows)
        if among is not None:
            maps = [
                part.with_shared(SomeRows(array, among[1])) if is_table(array) else part
                for part, array in zip(maps, among[0].arrays_of(kernels), strict=True)
            ]
        explicit = traits_of(feature_map, FeatureMapTraits).explicit
        known = [] if pairs is None else [pairs(bound) for bound in kernels]
        kernel_rows = KernelRows.reading(fitted, kernels, rows, known)
        projectors = [
            Projector(
                bound.label,
                bound.columns,
                fitted_map,
                bound.traits.reads,
                bound.traits.allows_gaps,
                None if explicit else kernel_rows.missing_of(place),
                bound.scaling,
                bound.sparse,
            )
            for place, (bound, fitted_map) in enumerate(zip(kernels, maps, strict=True))
        ]
        blocks = FeatureBlocks(projectors, rows, max_memory, cache) if explicit else None
        return cls(projectors, kernel_rows, rows, blocks, cache)

    @classmethod
    def of_blocks(cls, kernels: Sequence[FittedKernel], blocks: FeatureBlocks) -> ViewSet:
        """Return the views of fitted kernels on features."""
        kernel_rows = KernelRows.reading(kernels, blocks.projectors, blocks.rows)
        return cls(blocks.projectors, kernel_rows, blocks.rows, blocks, blocks.cache)

    @property
    def labels(self) -> list[str]:
        """The kernels' names in results."""
        return [view.label for view in self]

    @property
    def learner_kernels(self) -> KernelRows:
        """The kernels that learners work on, as in :attr:`View.learner_kernel`."""
        return KernelRows.joined(view.learner_kernel for view in self)

    def only(self, places: Iterable[int]) -> ViewSet:
        """Return some of the views, by their places."""
        views = [self[place] for place in places]
        blocks = None if self.blocks is None else self.blocks.only(places)
        projectors = [view.projector for view in views]
        return ViewSet(projectors, KernelRows.of_views(views), self.rows, blocks, self.cache)

    def restricted(self, members: NDArray[np.intp]) -> ViewSet:
        """Return the views of some training samples, on explicit maps fitted to all of them."""
        return ViewSet(
            with_support([view.projector for view in self], members),
            KernelRows.of_views(self).take(members, read=False),
            self.rows.take(members),
            None if self.blocks is None else self.blocks.take(members),
            self.cache,
        )

    def replaced(self, kernels: Sequence[FittedKernel], rows: Array) -> ViewSet:
        """Return views of other fitted kernels, which read all columns of other samples (N, d).

        Only for implicit maps; decisions learned from them apply to such samples.
        """
        pairs = [(view.projector, k) for view, k in zip(self, kernels, strict=True)]
        maps: list[Any] = [
            attrs.evolve(p.map.with_landmarks(rows), kernel=k)  # type: ignore[misc]
            for p, k in pairs
        ]
        projectors = [
            attrs.evolve(p, columns=None, map=m, missing=None, scaling=None)
            for (p, _), m in zip(pairs, maps, strict=True)
        ]
        kernel_rows = KernelRows.of(kernels, [rows] * len(kernels))
        return ViewSet(projectors, kernel_rows, Rows.of(rows), None, self.cache)

    def block_of(
        self, rows: Rows, pairs: Callable[[Any], KnownPairs | None] | None = None
    ) -> RowBlock:
        """Return new samples (n, d) as a block that keeps its columns for several decisions.

        ``pairs`` returns the pairs of these samples on a kernel's columns, as in :meth:`fit`.
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
        projectors = [view.projector for view in used]
        others = KernelRows.reading(
            [view.kernel for view in used],
            projectors,
            rows,
            [] if pairs is None else [pairs(projector) for projector in projectors],
        )
        known = [
            (projectors[index].map, projectors[index].map.from_similarities(values))
            for index, values in others.similarities(KernelRows.of_views(used))
        ]
        return RowBlock(rows, keep=True, known=known)

    def products(self, y: Array | None = None) -> KernelProducts:
        """Return the centred kernels' inner products, with each other and with labels y (N,).

        In O(Np²) per pair of kernels if learners work on features, else O(N²).
        """
        if all(view.sees_features for view in self):
            return self[0].feature_statistics.products(y)
        return kernel_products(self.learner_kernels, y)

    def weighted(self, weights: Array) -> WeightedViews:
        """Return the weighted sum of the kernels as one training side."""
        return WeightedViews(self, weights)
