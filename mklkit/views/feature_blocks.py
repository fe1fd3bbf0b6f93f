"""The features of all views, block by block: made again in each pass, or kept where they are small.

Two verbs are all that learners and weighting rules need of the rows: a sum over blocks and a map
over blocks. Blocks are computed by several threads, and their sums are added in order, so that the
result does not depend on the threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.numerics.class_moments import ClassMoments
from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array, FoldedMap, Projector, RememberedFeatures, Rows
from mklkit.views.deciding import BLOCK_ROWS, RowBlock
from mklkit.views.memory import available_memory
from mklkit.views.row_parts import rows_at, take_rows

__all__ = ["FeatureBlocks"]

Result = TypeVar("Result")

PART_ROWS = 8 * BLOCK_ROWS
"""The rows that one thread takes at a time; their sums are added before they are passed on."""
SMALL_BYTES = 2**28
"""Features up to this size are kept for all passes, where ``max_memory`` allows."""
ORIGIN_ROWS = 1000
"""The number of rows whose mean is the origin of the moments."""


class FeatureBlocks:
    """The features of M views on the same rows.

    Parameters
    ----------
    projectors : sequence of Projector
        M of them, with explicit maps.
    rows : ndarray or RowSource of shape (N, d)
    max_memory : int, optional
        Bytes; at most a quarter of it is used to keep features.
    """

    def __init__(
        self, projectors: Sequence[Projector], rows: Rows, max_memory: int | None = None
    ) -> None:
        self.projectors = list(projectors)
        self.rows = rows
        self.n_rows = len(rows)
        self.max_memory = max_memory
        self._kept: dict[int, Array] = {}
        self._whole: tuple[FeatureBlocks, NDArray[np.intp]] | None = None

    @cached_property
    def widths(self) -> list[int]:
        """The number of features of each view, (M,)."""
        columns = dict(self._block(slice(0, 1)).columns_of(self.projectors))
        return [columns[index].shape[1] for index in range(len(self.projectors))]

    def take(self, members: NDArray[np.intp]) -> FeatureBlocks:
        """Return the features of some of the rows, without computing those that are kept."""
        part = FeatureBlocks(self.projectors, take_rows(self.rows, members), self.max_memory)
        part._whole = (self, members)
        return part

    @property
    def is_part(self) -> bool:
        """Whether these are some of the rows to which the maps were fitted."""
        return self._whole is not None

    def features(self, index: int) -> Array:
        """Return a view's features (N, p) in one array, which is kept.

        Raises
        ------
        DataError
            If they do not fit into memory.
        """
        if index not in self._kept:
            known = self._known(index)
            self._kept[index] = self._collected([index])[0] if known is None else known
        return self._kept[index]

    def keep_small(self, wanted: Sequence[int] | None = None) -> None:
        """Compute features that are small together, once for all passes."""
        asked = range(len(self.projectors)) if wanted is None else wanted
        fresh = []
        for index in asked:
            if index not in self._kept:
                known = self._known(index)
                if known is None:
                    fresh.append(index)
                else:
                    self._kept[index] = known
        limit = SMALL_BYTES if self.max_memory is None else min(SMALL_BYTES, self.max_memory // 4)
        if fresh and self._bytes(fresh) <= limit:
            for index, features in zip(fresh, self._collected(fresh), strict=True):
                self._kept[index] = features

    def each(
        self, function: Callable[[Iterator[tuple[slice, RowBlock]]], Result]
    ) -> Iterator[Result]:
        """Yield a function of each part of the rows, in order; it receives the part's blocks."""
        return each(lambda part: function(self._blocks(part)), row_blocks(self.n_rows, PART_ROWS))

    def project(self, coefficients: Mapping[int, Array]) -> Array:
        """Return Σ_m Φ_m c_m for coefficients (p_m, k) of some views: (N, k). A map over blocks."""
        if self._are_kept(coefficients):
            parts = [(self._kept[index], own) for index, own in coefficients.items()]
            first, *others = [features @ own.astype(features.dtype) for features, own in parts]
            return sum(others, first)
        used = [self.projectors[index] for index in coefficients]
        given = list(coefficients.values())
        folded = [_folded(own.map, part) for own, part in zip(used, given, strict=True)]
        out = np.empty((self.n_rows, *given[0].shape[1:]), dtype=self.rows.dtype)

        def fill(blocks: Iterator[tuple[slice, RowBlock]]) -> None:
            for place, block in blocks:
                total: Array | float = 0.0
                for index, values, raw in block.raw_columns_of(used):
                    factors = folded[index] if raw else given[index]
                    total = total + values @ factors.astype(values.dtype)
                out[place] = total

        for _ in self.each(fill):
            pass
        return out

    def project_back(self, wanted: Sequence[int], targets: Array) -> list[Array]:
        """Return Φ_mᵀt for targets (N,) or (N, k) of some views: (p_m, k). A sum over blocks."""
        if self._are_kept(wanted):
            return [self._kept[index].T @ targets for index in wanted]
        used = [self.projectors[index] for index in wanted]

        def summed(blocks: Iterator[tuple[slice, RowBlock]]) -> list[tuple[Array, bool]]:
            found: dict[int, tuple[Array, bool]] = {}
            for place, block in blocks:
                for index, values, raw in block.raw_columns_of(used):
                    more = np.asarray(values.T @ targets[place], dtype=np.float64)
                    found[index] = (found[index][0] + more if index in found else more, raw)
            return [found[index] for index in range(len(used))]

        total: list[tuple[Array, bool]] | None = None
        for part in self.each(summed):
            pairs = zip(total or part, part, strict=True)
            total = [(a + b, raw) for (a, raw), (b, _) in pairs] if total else part
        assert total is not None, "there is at least one row"
        return [
            own.map.from_sums(sums) if raw and isinstance(own.map, FoldedMap) else sums
            for own, (sums, raw) in zip(used, total, strict=True)
        ]

    def _are_kept(self, wanted: Iterable[int]) -> bool:
        """Return whether one product of arrays in memory serves, without a loss of digits."""
        if not all(index in self._kept for index in wanted):
            self.keep_small(list(wanted))
        kept = all(index in self._kept for index in wanted)
        return kept and (self.rows.dtype == np.float64 or self.n_rows <= PART_ROWS)

    def moments(
        self, groups: Sequence[Sequence[int]], codes: NDArray[np.intp], n_classes: int
    ) -> list[ClassMoments]:
        """Return the class moments of each group of views, whose features stand side by side.

        Notes
        -----
        One pass; O(NP²) for the P features of a group.
        """
        wanted = [index for group in groups for index in group]
        self.keep_small(wanted)
        used = [self.projectors[index] for index in wanted]
        places = [[wanted.index(index) for index in group] for group in groups]
        origins = self._origins(used, places)

        def summed(blocks: Iterator[tuple[slice, RowBlock]]) -> list[ClassMoments]:
            total: list[ClassMoments] = []
            for place, block in blocks:
                columns = dict(block.columns_of(used))
                found = [
                    ClassMoments.of(
                        np.hstack([columns[index] for index in group]),
                        codes[place],
                        n_classes,
                        origin,
                    )
                    for group, origin in zip(places, origins, strict=True)
                ]
                total = _added(total, found)
            return total

        total: list[ClassMoments] = []
        for part in self.each(summed):
            total = _added(total, part)
        return total

    def _origins(self, used: Sequence[Projector], places: Sequence[Sequence[int]]) -> list[Array]:
        """Return the mean features of some rows, evenly spaced."""
        step = max(1, self.n_rows // ORIGIN_ROWS)
        members = np.arange(0, self.n_rows, step)[:ORIGIN_ROWS]
        columns = dict(self._block(members).columns_of(used))
        means = [columns[i].mean(axis=0, dtype=np.float64) for i in range(len(used))]
        return [np.concatenate([means[index] for index in group]) for group in places]

    def _blocks(self, part: slice) -> Iterator[tuple[slice, RowBlock]]:
        rows = rows_at(self.rows, part)
        for own in row_blocks(len(rows), BLOCK_ROWS):
            place = slice(part.start + own.start, part.start + own.stop)
            yield place, self._block(place, rows[own])

    def _block(self, place: slice | NDArray[np.intp], rows: Array | None = None) -> RowBlock:
        known = [(self.projectors[i].map, kept[place]) for i, kept in self._kept.items()]
        return RowBlock(rows_at(self.rows, place) if rows is None else rows, known=known)

    def _known(self, index: int) -> Array | None:
        """Return features that need not be computed."""
        if self._whole is not None:
            whole, members = self._whole
            kept = whole._kept.get(index, whole._known(index))
            return None if kept is None else kept[members]
        fitted = self.projectors[index].map
        return fitted.training_features() if isinstance(fitted, RememberedFeatures) else None

    def _bytes(self, wanted: Sequence[int]) -> int:
        width = sum(self.widths[index] for index in wanted)
        return self.n_rows * width * self.rows.dtype.itemsize

    def _collected(self, wanted: Sequence[int]) -> list[Array]:
        size, limit = self._bytes(wanted), self.max_memory or available_memory()
        if limit is not None and size > limit:
            raise DataError(
                f"The features of {self.n_rows} rows take {size / 2**30:.1f} GiB of memory, and"
                f" {limit / 2**30:.1f} GiB may be used. Use fewer landmarks, a larger max_memory,"
                " or a learner that reads rows in blocks, such as 'mhks'."
            )
        used = [self.projectors[index] for index in wanted]

        def made(blocks: Iterator[tuple[slice, RowBlock]]) -> list[list[Array]]:
            found: list[list[Array]] = [[] for _ in used]
            for _, block in blocks:
                # Values that are not finite are detected in the decisions.
                with np.errstate(over="ignore", invalid="ignore"):
                    for index, columns in block.columns_of(used):
                        found[index].append(columns)
            return found

        parts = list(self.each(made))
        return [
            np.concatenate([columns for part in parts for columns in part[index]])
            for index in range(len(used))
        ]


def _folded(fitted: object, coefficients: Array) -> Array:
    return fitted.on_similarities(coefficients) if isinstance(fitted, FoldedMap) else coefficients


def _added(total: list[ClassMoments], more: list[ClassMoments]) -> list[ClassMoments]:
    for own, other in zip(total, more, strict=False):
        own.add(other)
    return total or more
