"""All views of one problem: kernels with a feature map on the same training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

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
from mklkit.views.bound_kernels import BoundKernel, fit_kernels, fit_maps, warn_of_far_rows
from mklkit.views.column_cuts import ColumnCuts
from mklkit.views.deciding import RowBlock
from mklkit.views.feature_blocks import FeatureBlocks
from mklkit.views.feature_statistics import FeatureStatistics
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.known_pairs import KnownPairs
from mklkit.views.row_parts import rows_at, take_rows
from mklkit.views.statistics import SharedStatistics
from mklkit.views.tiles import kernel_products
from mklkit.views.view import View
from mklkit.views.weighted_views import WeightedViews

__all__ = ["ViewSet"]


class ViewSet(Sequence[View]):
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
        self._views = list(views)
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
        pairs: Callable[[Any], KnownPairs | None] = lambda columns: None,
        row_weights: Array | None = None,
    ) -> ViewSet:
        """Return the views of training rows (N, d); ``columns`` of the kernels are positions.

        ``max_memory`` (bytes) bounds the memory of features on explicit maps; ``pairs`` returns the
        pairs of these rows on a kernel's columns, where base quantities are known. Kernels are
        fitted to rows that count by their weights (N,), if they have any.
        """
        fitted, own_rows = fit_kernels(kernels, rows, row_weights)
        maps = fit_maps(kernels, feature_map, fitted, own_rows, random_state)
        if isinstance(rows, RowSource) and any(_is_full(one) for one in maps):
            # All rows are landmarks, and in memory as such.
            rows = rows_at(rows, slice(0, len(rows)))
            cuts = ColumnCuts(rows)
            own_rows = [cuts.of(bound.columns, bound.reads) for bound in kernels]
        projectors = [
            Projector(bound.label, bound.columns, one, bound.reads, bound.facts.allows_gaps)
            for bound, one in zip(kernels, maps, strict=True)
        ]
        for bound, kernel, own in zip(kernels, fitted, own_rows, strict=True):
            warn_of_far_rows(bound.label, kernel, own)
        explicit = facts_of(feature_map, FeatureMapFacts).explicit
        blocks = FeatureBlocks(projectors, rows, max_memory) if explicit else None
        known = [pairs(bound.columns) for bound in kernels]
        seen = KernelRows.of(fitted, own_rows, known)
        return cls._of(projectors, seen, rows, blocks)

    @classmethod
    def of_blocks(cls, kernels: Sequence[FittedKernel], blocks: FeatureBlocks) -> ViewSet:
        """Return the views of fitted kernels on features."""
        cuts = ColumnCuts(blocks.rows)
        own_rows = [cuts.of(projector.columns, projector.reads) for projector in blocks.projectors]
        seen = KernelRows.of(kernels, own_rows)
        return cls._of(blocks.projectors, seen, blocks.rows, blocks)

    @classmethod
    def _of(
        cls,
        projectors: Sequence[Projector],
        seen: KernelRows,
        rows: Any,
        blocks: FeatureBlocks | None,
    ) -> ViewSet:
        shared = SharedStatistics(seen)
        of_features = None if blocks is None else FeatureStatistics(blocks)
        views = [
            View(projector, kernel, own, shared, of_features, index)
            for index, (projector, kernel, own) in enumerate(
                zip(projectors, seen.kernels, seen.rows, strict=True)
            )
        ]
        return cls(views, rows, blocks is not None, blocks)

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
        return KernelRows.joined(view.seen for view in self._views)

    @property
    def n_bytes(self) -> int:
        """The memory of rows, Gram matrices and features that are kept."""
        arrays = {id(view.rows): view.rows.nbytes for view in self._views}
        own = sum(view.n_bytes for view in self._views)
        return sum(arrays.values()) + own + (0 if self.blocks is None else self.blocks.n_bytes)

    def restricted(self, members: NDArray[np.intp]) -> ViewSet:
        """Return the views of some of the training rows, on the maps fitted to all of them."""
        return self._of(
            [view.projector for view in self._views],
            KernelRows.of_views(self._views).take_rows(members),
            take_rows(self.rows, members),
            None if self.blocks is None else self.blocks.take(members),
        )

    def block_of(
        self, rows: Array, pairs: Callable[[Any], KnownPairs | None] = lambda columns: None
    ) -> RowBlock:
        """Return new rows (n, d) as a block that keeps its columns for several decisions.

        ``pairs`` returns the pairs of these rows on a kernel's columns, as in :meth:`fit`.
        """
        used = [
            view
            for view in self._views
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
            [cuts.of(own.columns, own.reads) for own in projectors],
            [pairs(own.columns) for own in projectors],
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
        if all(view.sees_features for view in self._views):
            return self._views[0].of_features.products(y)
        return kernel_products(self.seen, y)

    def weighted(self, weights: Array) -> WeightedViews:
        """Return the weighted sum of the kernels as one training side."""
        return WeightedViews(self, weights)


def _is_full(fitted: FittedMap) -> bool:
    return fitted.training_features() is not None
