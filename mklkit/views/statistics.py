"""What weighting rules read from the training rows: tile sums over all kernels at once.

Nothing here ever holds a Gram matrix: kernels are evaluated tile by tile, those that share a base
quantity together, and each tile leaves a few numbers behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

import attrs
import numpy as np

from mklkit.numerics.moments import Moments
from mklkit.numerics.order_statistics import Passes, between, quantile_places, values_at
from mklkit.numerics.pairwise import TILE_COLUMNS, TILE_ROWS, row_blocks
from mklkit.protocols import Array, FittedKernel, Quadrant, Quadrants
from mklkit.views.scalar_kernels import FittedScalarKernel
from mklkit.views.similarities import is_scalar, similarities
from mklkit.views.tiles import cut, kernel_products, symmetric_tiles

__all__ = ["SharedStatistics"]

SMALL_BLOCK = TILE_ROWS * TILE_COLUMNS
"""Values of a block that is looked at whole."""
QUARTILES = (0.25, 0.75)


class SharedStatistics:
    """The statistics of M kernels on the same training rows, each computed once.

    Parameters
    ----------
    kernels : sequence of FittedKernel
    rows : sequence of ndarray
        (N, d_m) for each kernel.

    Notes
    -----
    Each statistic costs O(N²(d + M)) time, O(M + tile) memory; quartiles make two to four passes,
    but kernels that are monotone in a shared base need one selection between them.
    """

    def __init__(self, kernels: Sequence[FittedKernel], rows: Sequence[Array]) -> None:
        self.kernels = list(kernels)
        self.rows = list(rows)
        self._quadrants: dict[bytes, list[Quadrants]] = {}
        self._alignments: dict[tuple[bytes, bool], list[float]] = {}

    def quadrants(self, y: Array) -> list[Quadrants]:
        """Return each kernel's quadrants for labels −1 and +1."""
        key = y.tobytes()
        if key not in self._quadrants:
            first, second = (
                cut(self.rows, np.flatnonzero(y > 0)),
                cut(self.rows, np.flatnonzero(y <= 0)),
            )
            blocks = [
                self._block(first, None),
                self._block(first, second),
                self._block(second, None),
            ]
            self._quadrants[key] = [Quadrants(*parts) for parts in zip(*blocks, strict=True)]
        return self._quadrants[key]

    def alignments(self, y: Array, centered: bool = False) -> list[float]:
        """Return each kernel's alignment with the label kernel yyᵀ (paper 002, equation 14).

        Centred ones are those of HKH and Hyyᵀ H, H = I − 11ᵀ/N.
        """
        key = y.tobytes(), centered
        if key not in self._alignments:
            labels = y.astype(np.float64)
            if centered:
                labels -= labels.mean()
            found = kernel_products(self.kernels, self.rows, labels, centered, pairs=False)
            self._alignments[key] = found.label_alignments(labels).tolist()
        return self._alignments[key]

    def _block(self, a: Sequence[Array], b: Sequence[Array] | None) -> list[Quadrant]:
        """Return each kernel's statistics on one block; ``b`` is None where it is symmetric."""
        if len(a[0]) * len((a if b is None else b)[0]) <= SMALL_BLOCK:
            # One tile holds it all: evaluated once, not once a pass.
            whole = similarities(self.kernels, a, a if b is None else b, same=b is None)
            return [q for _, q in sorted(_whole_blocks(whole), key=itemgetter(0))]
        moments = [Moments() for _ in self.kernels]
        for tiles, weight in _block_tiles(self.kernels, a, b):
            for index, tile in tiles:
                moments[index] = moments[index].merge(Moments.of(tile, weight))
        quartiles = self._quartiles(a, b, moments[0].count)
        return [Quadrant(m.mean, m.deviation, *q) for m, q in zip(moments, quartiles, strict=True)]

    def _quartiles(
        self, a: Sequence[Array], b: Sequence[Array] | None, count: int
    ) -> list[list[float]]:
        places = quantile_places(count, QUARTILES)
        ranks = [rank for *pair, _ in places for rank in pair]
        mirrored = [count - 1 - rank for rank in ranks]
        shared: dict[tuple[int, str], dict[int, float]] = {}
        quartiles = []
        for index, kernel in enumerate(self.kernels):
            if is_scalar(kernel) and kernel.monotone:
                key = (id(a[index]), kernel.base)
                if key not in shared:
                    # A falling kernel turns the mirrored ranks into the wanted ones.
                    passes = _passes(_Base(kernel.base), index, a, b)
                    shared[key] = values_at(passes, [*ranks, *mirrored])
                wanted = ranks if kernel.monotone > 0 else mirrored
                at_base = np.array([shared[key][rank] for rank in wanted])
                values = dict(zip(ranks, kernel.of(at_base, at_base).tolist(), strict=True))
            else:
                values = values_at(_passes(kernel, index, a, b), ranks)
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
    kernels: Sequence[FittedKernel], a: Sequence[Array], b: Sequence[Array] | None
) -> Iterator[tuple[Iterator[tuple[int, Array]], int]]:
    """Yield a block's tiles and how often their values count; half of them where symmetric."""
    if b is None:
        for block, other, tiles in symmetric_tiles(kernels, a):
            yield tiles, 1 if other == block else 2
        return
    for block in row_blocks(len(a[0]), TILE_ROWS):
        for other in row_blocks(len(b[0]), TILE_COLUMNS):
            yield similarities(kernels, cut(a, block), cut(b, other)), 1


def _passes(
    kernel: FittedKernel, index: int, a: Sequence[Array], b: Sequence[Array] | None
) -> Passes:
    """Return the passes over one kernel's block that a selection asks for."""
    own_a = [a[index]]
    own_b = None if b is None else [b[index]]

    def once() -> Iterable[tuple[Array, int]]:
        for tiles, weight in _block_tiles([kernel], own_a, own_b):
            for _, tile in tiles:
                yield tile, weight

    return once
