"""Tiles of several Gram matrices that are read many times: kept where they take little memory."""

from __future__ import annotations

from mklkit.numerics.pairwise import TILE_ROWS
from mklkit.protocols import Array, Views
from mklkit.views.kernel_rows import KernelRows
from mklkit.views.tiles import Tiles, symmetric_tiles

__all__ = ["KEPT_BYTES", "KeptTiles"]

KEPT_BYTES = 1 << 27
"""Up to this size tiles are kept: four kernels on 2,700 rows in float64."""


class KeptTiles:
    """The tiles on and above the diagonal of the Gram matrices of some views, in several passes."""

    def __init__(self, views: Views) -> None:
        self._seen = KernelRows.of_views(views)
        n_rows = self._seen.n_rows
        size = len(views) * n_rows * (n_rows + TILE_ROWS) / 2 * self._seen.arrays[0].itemsize
        self._keeps = size <= KEPT_BYTES
        self._kept: list[tuple[slice, slice, list[tuple[int, Array]]]] = []

    def read(self) -> Tiles:
        """Yield them, as :func:`mklkit.views.kernel_rows.symmetric_tiles`; not to be modified."""
        if not self._keeps:
            yield from symmetric_tiles(self._seen)
            return
        if not self._kept:
            tiles = symmetric_tiles(self._seen)
            self._kept = [(block, other, list(values)) for block, other, values in tiles]
        for block, other, values in self._kept:
            yield block, other, iter(values)
