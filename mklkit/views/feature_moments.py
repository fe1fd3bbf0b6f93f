"""Class moments of the features of several views, in one pass; their products with vectors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.class_moments import ClassMoments, MomentSums, chunk_rows
from mklkit.protocols import Array, Projector
from mklkit.views.deciding import RowBlock
from mklkit.views.engines import Blocks
from mklkit.views.memory import check_sums_fit

if TYPE_CHECKING:
    from mklkit.views.feature_blocks import FeatureBlocks

ORIGIN_ROWS = 1000
"""The number of samples whose mean is the origin of the moments."""
MOST_LANDMARKS = 1.618
"""The most landmarks per feature: L similarities take L² operations per sample; p features of them,
twice as fast in float32, take p·L + p²."""


def feature_moments(
    blocks: FeatureBlocks,
    groups: Sequence[Sequence[int]],
    codes: NDArray[np.intp],
    n_classes: int,
    row_weights: Array | None = None,
) -> list[ClassMoments]:
    """Return the class moments of each group of views, whose features stand side by side.

    In single precision, features that are linear in similarities are not computed: sums over these
    are mapped at the end, unless features are far fewer. O(NP²) for the P features of a group.
    """
    wanted = [index for group in groups for index in group]
    used = blocks.projectors_of(wanted)
    # The map would amplify the rounding of sums by the inverse of its smallest eigenvalue, which is
    # above 1e-7 of the largest in single precision only.
    single = blocks.rows.dtype == np.float32
    stored = [m for m in wanted if blocks.projectors[m].map.training_features() is not None]
    kept = stored if single else wanted
    blocks.keep_small(kept)
    step = max(1, blocks.n_rows // ORIGIN_ROWS)
    sample = blocks.block_at(np.arange(0, blocks.n_rows, step)[:ORIGIN_ROWS], kept)
    folded = {
        index
        for index, values, raw in sample.raw_columns_of(used)
        if raw and single and values.shape[1] <= MOST_LANDMARKS * blocks.widths[wanted[index]]
    }
    means = {
        index: columns.mean(axis=0, dtype=np.float64)
        for index, columns in _columns_of(sample, used, folded).items()
    }
    places = [[wanted.index(index) for index in group] for group in groups]
    origins = [np.concatenate([means[index] for index in group]) for group in places]
    widths = [len(origin) for origin in origins]
    check_sums_fit(widths, n_classes, blocks.max_memory)
    n_rows = chunk_rows(sum(widths), blocks.max_memory)

    def of_part(parts: Blocks, codes: Any, weights: Any = None) -> list[Array]:
        sums = [MomentSums(codes, n_classes, origin, weights, n_rows) for origin in origins]
        for place, block in parts:
            columns = _columns_of(block, used, folded)
            for of_group, group in zip(sums, places, strict=True):
                of_group.add(place, [columns[index] for index in group])
        return [array for of_group in sums for array in of_group.finished]

    arrays = [codes] if row_weights is None else [codes, row_weights]
    sums = blocks.total(of_part, kept, *arrays)
    moments = []
    for n, (origin, group) in enumerate(zip(origins, places, strict=True)):
        folds = [used[index].map.from_sums if index in folded else None for index in group]
        lengths = [len(means[index]) for index in group]
        of_group = ClassMoments(origin, *sums[3 * n : 3 * n + 3])
        moments.append(of_group.mapped(list(zip(lengths, folds, strict=True))))
    return moments


def _columns_of(
    block: RowBlock, projectors: Sequence[Projector], folded: Collection[int]
) -> dict[int, Array]:
    """Return similarities of the views that are folded, features of the others, by index."""
    return {
        index: projectors[index].map.from_similarities(values)
        if raw and index not in folded
        else values
        for index, values, raw in block.raw_columns_of(projectors)
    }


@attrs.frozen(eq=False)
class Projection:
    """Σ_m Φ_m c_m for some views, as a function of a block of samples.

    ``folded`` are the coefficients c_m on similarities to the landmarks, if maps are linear in
    these.
    """

    projectors: Sequence[Projector]
    coefficients: Sequence[Array]
    folded: Sequence[Array]

    @classmethod
    def of(cls, projectors: Sequence[Projector], coefficients: Sequence[Array]) -> Self:
        """Return the function for coefficients of features."""
        folded = [
            projector.map.on_similarities(part) if projector.map.linear else part
            for projector, part in zip(projectors, coefficients, strict=True)
        ]
        return cls(projectors, coefficients, folded)

    def __call__(self, block: RowBlock) -> Array:
        """Return the sum (n,) or (n, k)."""
        total: Any = None
        for index, values, raw in block.raw_columns_of(self.projectors):
            factors = (self.folded if raw else self.coefficients)[index]
            part = values @ factors.astype(values.dtype)
            total = part if total is None else np.add(total, part, out=total)
        return np.asarray(total)


@attrs.frozen(eq=False)
class BackProjection:
    """Φ_mᵀt for some views, without features if maps allow: sums over blocks, mapped at the end."""

    projectors: Sequence[Projector]

    def of(self, block: RowBlock, targets: Array) -> list[Array]:
        """Return a block's sums for targets (n,) or (n, k), in float64."""
        sums: list[Array] = [np.empty(0)] * (2 * len(self.projectors))
        for index, values, raw in block.raw_columns_of(self.projectors):
            # Targets in the features' type: otherwise the product would copy the features.
            sums_of_view = values.T @ targets.astype(values.dtype, copy=False)
            sums[2 * index] = sums_of_view.astype(np.float64)
            sums[2 * index + 1] = np.array(float(raw))
        return sums

    def finish(self, sums: Sequence[Array]) -> list[Array]:
        """Return Φ_mᵀt (p_m,) or (p_m, k) for the added sums."""
        return [
            projector.map.from_sums(total) if raw else total
            for projector, total, raw in zip(self.projectors, sums[::2], sums[1::2], strict=True)
        ]
