"""Products of features on blocks of rows, with vectors without features where maps allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Self

import attrs
import numpy as np

from mklkit.numerics.least_squares import weighted_sums
from mklkit.numerics.pairwise import row_blocks
from mklkit.protocols import Array, FittedMap, Projector
from mklkit.views.deciding import BLOCK_ROWS, RowBlock
from mklkit.views.engines import added
from mklkit.views.kernel_rows import SpareScratch

__all__ = [
    "FEW_ROWS",
    "BackProjection",
    "Blocks",
    "Projection",
    "mapped",
    "on_blocks",
    "products_of_weighted",
]

Blocks = Iterator[tuple[slice, RowBlock]]
"""Parts of the rows, and which they are."""

FEW_ROWS = 64
"""Up to this many rows, features cost less than folding maps into coefficients."""


@attrs.frozen(eq=False)
class Projection:
    """Σ_m Φ_m c_m for some views, as a function of a block of rows.

    Attributes
    ----------
    projectors : sequence of Projector
    coefficients : sequence of ndarray
        c_m, (p_m,) or (p_m, k).
    folded : sequence of ndarray
        The same on similarities to the landmarks, where the map is ``linear`` in them.
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
        total: Array | None = None
        for index, values, raw in block.raw_columns_of(self.projectors):
            factors = (self.folded if raw else self.coefficients)[index]
            part = values @ factors.astype(values.dtype)
            total = part if total is None else np.add(total, part, out=total)
        assert total is not None, "there is at least one view"
        return total


@attrs.frozen(eq=False)
class BackProjection:
    """Φ_mᵀt for some views: sums over blocks, finished when all are added.

    Attributes
    ----------
    projectors : sequence of Projector
    """

    projectors: Sequence[Projector]

    def of(self, block: RowBlock, targets: Array) -> list[Array]:
        """Return a block's sums for targets (n,) or (n, k), in float64."""
        sums: list[Array] = [np.empty(0)] * (2 * len(self.projectors))
        for index, values, raw in block.raw_columns_of(self.projectors):
            # Targets in the features' own type: the product would copy the features otherwise.
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


def mapped(function: Callable[[Array], Array], used: Sequence[Projector], blocks: Blocks) -> Array:
    """Return a function of one view's features, block by block."""
    return np.concatenate([function(dict(block.columns_of(used))[0]) for _, block in blocks])


def products_of_weighted(
    used: Sequence[Projector], blocks: Blocks, row_weights: Array, targets: Array
) -> list[Array]:
    """Return ΦᵀWΦ and ΦᵀT of some views' features side by side, summed over blocks."""

    def of_block(block: RowBlock, weights: Array, wanted: Array) -> list[Array]:
        members = np.flatnonzero((weights != 0) | (wanted != 0).any(axis=1))
        # A block without such rows still tells the sums' shape.
        members = members if members.size else np.arange(1)
        columns = dict(block.take(members).columns_of(used))
        features = np.hstack([columns[index] for index in range(len(used))], dtype=np.float64)
        return list(weighted_sums(features, weights[members], wanted[members]))

    return reduce(
        added, (of_block(block, row_weights[place], targets[place]) for place, block in blocks)
    )


def on_blocks(
    function: Callable[..., Any],
    kept_maps: Sequence[FittedMap],
    spare: SpareScratch | None,
    rows: Array,
    *arrays: Array,
) -> Any:
    """Call a function of blocks and arrays; the first arrays are features that are kept.

    The memory of one block is used for the next, unless the function collects columns.
    """
    scratch = None if spare is None else spare.take()
    kept, others = arrays[: len(kept_maps)], arrays[len(kept_maps) :]

    def blocks() -> Blocks:
        for place in row_blocks(len(rows), BLOCK_ROWS):
            known = [
                (fitted, features[place]) for fitted, features in zip(kept_maps, kept, strict=True)
            ]
            yield place, RowBlock(rows[place], True, known, scratch)

    result = function(blocks(), *others)
    if spare is not None and scratch is not None:
        spare.give(scratch)
    return result
