"""The columns of the weighted sum of kernels, for new rows."""

from __future__ import annotations

import attrs
import numpy as np

from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array, Projector, Rows, Views
from mklkit.registry.hookspecs import register
from mklkit.views.deciding import RowBlock, weighted_columns
from mklkit.views.rows import rows_at

__all__ = ["WeightedColumns"]

BLOCK_ROWS = 512
"""Rows whose columns are made at a time, so that next to the result there is little else."""


@register
@attrs.frozen(eq=False)
class WeightedColumns:
    """Σ w_m k_m(x, training rows) of rows x, or the features √w_m φ_m(x) side by side.

    Attributes
    ----------
    weights : ndarray of shape (M,)
    projectors : list of Projector
        Those of the views with non-zero weight.
    scales : ndarray
        Their weights.
    explicit : bool
    """

    weights: Array
    projectors: list[Projector]
    scales: Array
    explicit: bool

    @classmethod
    def of(cls, views: Views, weights: Array) -> WeightedColumns:
        """Return the columns of the weighted sum of views."""
        used = np.flatnonzero(weights)
        return cls(weights, [views[int(m)].projector for m in used], weights[used], views.explicit)

    def transform(self, rows: Rows) -> Array:
        """Return the columns, (n, N) or (n, Σp), of rows (n, d), block by block."""

        def columns(place: slice) -> Array:
            block = RowBlock(rows_at(rows, place))
            return weighted_columns(block, self.projectors, self.scales, self.explicit)

        return np.vstack(list(each(columns, row_blocks(len(rows), BLOCK_ROWS))))
