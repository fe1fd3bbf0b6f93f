"""Class moments of the features of several views, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

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
"""The number of rows whose mean is the origin of the moments."""
MOST_LANDMARKS = 1.618
"""Per feature. L similarities take L² operations a row, and p features of them, which take half
the time in float32, p·L + p²."""


def feature_moments(
    blocks: FeatureBlocks,
    groups: Sequence[Sequence[int]],
    codes: NDArray[np.intp],
    n_classes: int,
    row_weights: Array | None = None,
) -> list[ClassMoments]:
    """Return the class moments of each group of views, whose features stand side by side.

    In single precision, features that are linear in similarities are not made: sums over these are
    mapped at the end, unless the features are much fewer. O(NP²) for the P features of a group.
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
