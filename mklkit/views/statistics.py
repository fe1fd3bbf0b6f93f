"""Statistics of the training samples for weighting rules: tile sums over all kernels at once.

No Gram matrix is kept in memory: kernels are evaluated tile by tile, those with a common base
quantity together, and each tile contributes a few numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import attrs
import numpy as np

from mklkit.numerics.gram_tiles import Moments
from mklkit.numerics.order_statistics import between, quantile_places, select_ranks
from mklkit.numerics.pairwise import TILE_COLUMNS, TILE_ROWS
from mklkit.protocols import Array, FittedKernel, Quadrant, Quadrants
from mklkit.views.cache import Cache, Quantities
from mklkit.views.kernel_rows import InnerProduct, KernelRows, Scratch, is_scalar
from mklkit.views.tiles import KernelTiles, kernel_products, over_tiles, tile_places

SMALL_BLOCK = TILE_ROWS * TILE_COLUMNS
"""Blocks up to this number of values are evaluated as a whole."""
KEPT_BLOCK = 1 << 12
"""Blocks up to this number of values are kept for quartiles: evaluating them again takes longer."""
QUARTILES = (0.25, 0.75)
SAMPLE_ROWS, SAMPLE_SQUARES = 32, 64
"""The pairs for a guess of a quartile: squares of samples, which cost little more than a row."""


@attrs.define(eq=False)
class TileStatistics:
    """The statistics of M kernels on the same training samples, each computed once.

    Each costs O(N²(d + M)) time, O(M + tile) memory. Quartiles are computed when first asked for
    and usually need two passes; kernels that are monotone in a base share them.
    """

    kernel_rows: KernelRows
    cache: Cache = attrs.field(factory=Cache)
    _kept: Quantities = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._kept = Quantities(self.cache, self)

    def quadrants(self, y: Array) -> list[Quadrants]:
        """Return each kernel's quadrants for labels −1 and +1."""

        def of_classes() -> list[Quadrants]:
            first, second = (
                self.kernel_rows.take(np.flatnonzero(members)) for members in (y > 0, y <= 0)
            )
            blocks = _block(first), _block(first, second), _block(second)
            return [Quadrants(*parts) for parts in zip(*blocks, strict=True)]

        return self._kept.of(("quadrants", y.tobytes()), of_classes, lambda _: 0)

    def alignments(
        self, y: Array, centered: bool = False, row_weights: Array | None = None
    ) -> list[float]:
        """Return each kernel's alignment with the label kernel yyᵀ (Wang and Chen 2009, eq. 14).

        Centred alignments are those of HKH and HyyᵀH, H = I − 11ᵀ/N. With sample weights v, H is
        I − 1vᵀ/Σv, and a pair of samples counts v_i v_j times.
        """

        def with_labels() -> list[float]:
            labels = y.astype(np.float64)
            if centered:
                labels -= np.average(labels, weights=row_weights)
            products = kernel_products(self.kernel_rows, labels, centered, False, row_weights)
            return list(products.label_alignments(labels, row_weights).tolist())

        weights = b"" if row_weights is None else row_weights.tobytes()
        return self._kept.of(("alignments", y.tobytes(), centered, weights), with_labels)


def _block(a: KernelRows, b: KernelRows | None = None) -> list[Quadrant]:
    """Return each kernel's statistics on the block of samples ``a`` and columns ``b``, or ``a``."""

    def of_tile(block: slice, columns: slice, tiles: KernelTiles) -> list[tuple[int, Moments]]:
        weight = 1 if b is not None or block == columns else 2
        return [(index, Moments.of(tile, weight)) for index, tile in tiles]

    if a.n_rows * (a if b is None else b).n_rows <= KEPT_BLOCK:
        return _kept_block(a, a if b is None else b)
    moments = [Moments() for _ in a.kernels]
    for of_tiles in over_tiles(of_tile, a, b):
        for index, of_kernel in of_tiles:
            moments[index] = moments[index].merge(of_kernel)
    quartiles = cache(partial(_quartiles, a, b))
    return [
        Quadrant(of_kernel.mean, of_kernel.deviation, partial(quartiles_of, quartiles, index))
        for index, of_kernel in enumerate(moments)
    ]


def _kept_block(a: KernelRows, b: KernelRows) -> list[Quadrant]:
    """Return each kernel's statistics on a small block, whose values are kept for quartiles."""
    blocks = dict(a.similarities(b))
    moments = [Moments.of(blocks[index]) for index in range(len(a))]
    return [
        Quadrant(of_kernel.mean, of_kernel.deviation, cache(partial(_quartiles_in, blocks[index])))
        for index, of_kernel in enumerate(moments)
    ]


def _quartiles_in(values: Array) -> list[float]:
    """Return the quartiles of the values of one block."""
    ranked = np.sort(values, axis=None).astype(np.float64)
    return between(quantile_places(len(ranked), QUARTILES), ranked)


def quartiles_of(quartiles: Callable[[], list[list[float]]], index: int) -> list[float]:
    """Return the quartiles of one kernel, or of one block among those computed together."""
    return quartiles()[index]


def _quartiles(a: KernelRows, b: KernelRows | None) -> list[list[float]]:
    """Return each kernel's quartiles; kernels that are monotone in a base share its selection."""
    count = a.n_rows * (a if b is None else b).n_rows
    places = quantile_places(count, QUARTILES)
    ranks = [rank for *pair, _ in places for rank in pair]
    mirrored = [count - 1 - rank for rank in ranks]
    of_bases: dict[tuple[int, str], dict[int, float]] = {}
    quartiles = []
    for index, kernel in enumerate(a.kernels):
        if is_scalar(kernel) and kernel.monotone:
            key = a.places[index], kernel.base
            if key not in of_bases:
                # A decreasing kernel maps the mirrored ranks to the requested ones.
                base = _Base(kernel.base)
                of_bases[key] = _values(a, b, index, [*ranks, *mirrored], base)
            wanted = ranks if kernel.monotone > 0 else mirrored
            at_base = np.array([of_bases[key][rank] for rank in wanted])
            values = dict(zip(ranks, kernel.of(at_base, at_base).tolist(), strict=True))
        else:
            values = _values(a, b, index, ranks)
        quartiles.append(between(places, values))
    return quartiles


def _values(
    rows: KernelRows,
    others: KernelRows | None,
    index: int,
    ranks: Sequence[int],
    kernel: FittedKernel | None = None,
) -> dict[int, float]:
    """Return the values of some ranks of one kernel, or of another one in its place."""
    a = rows.only(index, kernel)
    b = a if others is None else others.only(index, kernel)
    count = a.n_rows * b.n_rows
    if count <= SMALL_BLOCK:
        [(_, block)] = a.similarities(b)
        values = np.sort(block.ravel().astype(np.float64))
        return {rank: float(values[rank]) for rank in ranks}

    memory = _ThreadMemory()

    def tile(block: slice, columns: slice) -> Array:
        [(_, values)] = a.take(block).similarities(b.take(columns), memory.scratch)
        return values

    def tiles() -> Iterator[tuple[Callable[[], Array], int]]:
        for block, columns in tile_places(a, None if others is None else b):
            weight = 1 if others is not None or block == columns else 2
            yield partial(tile, block, columns), weight

    return select_ranks(tiles, ranks, _sample(a, b), count)


class _ThreadMemory(threading.local):
    """Memory of each thread, for one tile after another."""

    def __init__(self) -> None:
        self.scratch = Scratch(overwrites=True)


def _sample(a: KernelRows, b: KernelRows) -> Array:
    """Return the values of one kernel on some pairs of samples, drawn evenly from all pairs."""
    rng = np.random.RandomState(0)
    squares = []
    for _ in range(SAMPLE_SQUARES):
        some, others = (rows.take(rng.randint(rows.n_rows, size=SAMPLE_ROWS)) for rows in (a, b))
        squares += [values for _, values in some.similarities(others)]
    return np.array(squares).ravel()


@attrs.frozen
class _Base(InnerProduct):
    """The base quantity itself as a kernel, like the linear one."""

    base: str  # type: ignore[misc]
