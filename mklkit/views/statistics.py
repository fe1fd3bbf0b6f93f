"""Statistics of the training rows for weighting rules: tile sums over all kernels at once.

No Gram matrix is kept in memory: kernels are evaluated tile by tile, those with a common base
quantity together, and each tile contributes a few numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter

import attrs
import numpy as np

from mklkit.numerics.moments import Moments
from mklkit.numerics.order_statistics import Passes, between, quantile_places, values_at
from mklkit.numerics.pairwise import TILE_COLUMNS, TILE_ROWS, row_blocks
from mklkit.protocols import Array, Quadrant, Quadrants
from mklkit.views.kernel_rows import KernelRows, is_scalar, symmetric_tiles
from mklkit.views.scalar_kernels import FittedScalarKernel
from mklkit.views.tiles import kernel_products

__all__ = ["SharedStatistics"]

SMALL_BLOCK = TILE_ROWS * TILE_COLUMNS
"""The number of values up to which a block is evaluated as a whole."""
QUARTILES = (0.25, 0.75)


class SharedStatistics:
    """The statistics of M kernels on the same training rows, each computed once.

    Parameters
    ----------
    seen : KernelRows
        The kernels and the training rows.

    Notes
    -----
    Each statistic costs O(N²(d + M)) time, O(M + tile) memory. Quartiles need two to four passes,
    but kernels that are monotone in a shared base share one selection.
    """

    def __init__(self, seen: KernelRows) -> None:
        self.seen = seen
        self._quadrants: dict[bytes, list[Quadrants]] = {}
        self._alignments: dict[tuple[bytes, bool], list[float]] = {}

    def quadrants(self, y: Array) -> list[Quadrants]:
        """Return each kernel's quadrants for labels −1 and +1."""
        key = y.tobytes()
        if key not in self._quadrants:
            first, second = (self.seen.take(np.flatnonzero(own)) for own in (y > 0, y <= 0))
            blocks = [
                self._block(first, None),
                self._block(first, second),
                self._block(second, None),
            ]
            self._quadrants[key] = [Quadrants(*parts) for parts in zip(*blocks, strict=True)]
        return self._quadrants[key]

    def alignments(self, y: Array, centered: bool = False) -> list[float]:
        """Return each kernel's alignment with the label kernel yyᵀ (paper 002, equation 14).

        Centred alignments are those of HKH and HyyᵀH, H = I − 11ᵀ/N.
        """
        key = y.tobytes(), centered
        if key not in self._alignments:
            labels = y.astype(np.float64)
            if centered:
                labels -= labels.mean()
            found = kernel_products(self.seen, labels, centered, pairs=False)
            self._alignments[key] = found.label_alignments(labels).tolist()
        return self._alignments[key]

    def _block(self, a: KernelRows, b: KernelRows | None) -> list[Quadrant]:
        """Return each kernel's statistics on one block; ``b`` is None where it is symmetric."""
        if a.n_rows * (a if b is None else b).n_rows <= SMALL_BLOCK:
            # One tile holds it all: evaluated once, not once per pass.
            whole = a.similarities(a if b is None else b)
            return [q for _, q in sorted(_whole_blocks(whole), key=itemgetter(0))]
        moments = [Moments() for _ in a.kernels]
        for tiles, weight in _block_tiles(a, b):
            for index, tile in tiles:
                moments[index] = moments[index].merge(Moments.of(tile, weight))
        quartiles = self._quartiles(a, b, moments[0].count)
        return [Quadrant(m.mean, m.deviation, *q) for m, q in zip(moments, quartiles, strict=True)]

    def _quartiles(self, a: KernelRows, b: KernelRows | None, count: int) -> list[list[float]]:
        places = quantile_places(count, QUARTILES)
        ranks = [rank for *pair, _ in places for rank in pair]
        mirrored = [count - 1 - rank for rank in ranks]
        shared: dict[tuple[int, str], dict[int, float]] = {}
        quartiles = []
        for index, kernel in enumerate(a.kernels):
            if is_scalar(kernel) and kernel.monotone:
                key = (a.places[index], kernel.base)
                if key not in shared:
                    # A decreasing kernel maps the mirrored ranks to the wanted ones.
                    base = _Base(kernel.base)
                    passes = _passes(a.only(index, base), b and b.only(index, base))
                    shared[key] = values_at(passes, [*ranks, *mirrored])
                wanted = ranks if kernel.monotone > 0 else mirrored
                at_base = np.array([shared[key][rank] for rank in wanted])
                values = dict(zip(ranks, kernel.of(at_base, at_base).tolist(), strict=True))
            else:
                passes = _passes(a.only(index), b and b.only(index))
                values = values_at(passes, ranks)
            quartiles.append(between(places, values))
        return quartiles


def _whole_blocks(
    blocks: Iterator[tuple[int, Array]],
) -> Iterator[tuple[int, Quadrant]]:
    """Yield the statistics of blocks that are in memory."""
    for index, block in blocks:
        moments = Moments.of(block)
        values = block.ravel().astype(np.float64)
        places = quantile_places(values.size, QUARTILES)
        values.partition(sorted({rank for *pair, _ in places for rank in pair}))
        yield index, Quadrant(moments.mean, moments.deviation, *between(places, values))


@attrs.frozen
class _Base(FittedScalarKernel):
    """The base quantity itself as a kernel."""

    base: str  # type: ignore[misc]

    def of(self, base: Array, out: Array) -> Array:
        return base


def _block_tiles(
    a: KernelRows, b: KernelRows | None
) -> Iterator[tuple[Iterator[tuple[int, Array]], int]]:
    """Yield a block's tiles with their multiplicity; only half of the tiles if it is symmetric."""
    if b is None:
        for block, other, tiles in symmetric_tiles(a):
            yield tiles, 1 if other == block else 2
        return
    for block in row_blocks(a.n_rows, TILE_ROWS):
        for other in row_blocks(b.n_rows, TILE_COLUMNS):
            yield a.take(block).similarities(b.take(other)), 1


def _passes(a: KernelRows, b: KernelRows | None) -> Passes:
    """Return the passes over one kernel's block that a selection needs."""

    def once() -> Iterable[tuple[Array, int]]:
        for tiles, weight in _block_tiles(a, b):
            for _, tile in tiles:
                yield tile, weight

    return once
