"""Products of features with vectors on one block of rows, without features where maps allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs
import numpy as np

from mklkit.protocols import Array, Projector
from mklkit.views.deciding import RowBlock

__all__ = ["FEW_ROWS", "BackProjection", "Projection"]

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
            own.map.on_similarities(part) if own.map.linear else part
            for own, part in zip(projectors, coefficients, strict=True)
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
            found = values.T @ targets.astype(values.dtype, copy=False)
            sums[2 * index] = found.astype(np.float64)
            sums[2 * index + 1] = np.array(float(raw))
        return sums

    def finish(self, sums: Sequence[Array]) -> list[Array]:
        """Return Φ_mᵀt (p_m,) or (p_m, k) for the added sums."""
        return [
            own.map.from_sums(total) if raw else total
            for own, total, raw in zip(self.projectors, sums[::2], sums[1::2], strict=True)
        ]
