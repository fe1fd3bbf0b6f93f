"""Statistics of the training rows for weighting rules: tile sums over all kernels at once.

No Gram matrix is kept in memory: kernels are evaluated tile by tile, those with a common base
quantity together, and each tile contributes a few numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import attrs
import numpy as np

from mklkit.numerics.moments import Moments
from mklkit.numerics.order_statistics import between, quantile_places, values_at
from mklkit.numerics.pairwise import TILE_COLUMNS, TILE_ROWS
from mklkit.protocols import Array, FittedKernel, Quadrant, Quadrants
from mklkit.views.kernel_rows import FittedScalarKernel, KernelRows, is_scalar
from mklkit.views.tiles import KernelTiles, kernel_products, over_tiles, tile_places

__all__ = ["SharedStatistics"]

SMALL_BLOCK = TILE_ROWS * TILE_COLUMNS
"""The number of values up to which a block is evaluated as a whole."""
QUARTILES = (0.25, 0.75)
SAMPLE_ROWS, SAMPLE_SQUARES = 32, 64
"""Of the pairs from which a quartile is guessed: squares, as they cost little more than one row."""


@attrs.define(eq=False)
class SharedStatistics:
    """The statistics of M kernels on the same training rows, each computed once.

    Attributes
    ----------
    seen : KernelRows
        The kernels and the training rows.

    Notes
    -----
    Each statistic costs O(N²(d + M)) time, O(M + tile) memory. Quartiles are computed when first
    asked for and usually need two passes; kernels that are monotone in a base share them.
    """

    seen: KernelRows
    _quadrants: dict[bytes, list[Quadrants]] = attrs.field(factory=dict, init=False)
    _alignments: dict[Any, list[float]] = attrs.field(factory=dict, init=False)

    def quadrants(self, y: Array) -> list[Quadrants]:
        """Return each kernel's quadrants for labels −1 and +1."""
        key = y.tobytes()
        if key not in self._quadrants:
            first, second = (self.seen.take(np.flatnonzero(members)) for members in (y > 0, y <= 0))
            blocks = _Block(first), _Block(first, second), _Block(second)
            parts = zip(*(block.quadrants() for block in blocks), strict=True)
            self._quadrants[key] = [Quadrants(*blocks_of_kernel) for blocks_of_kernel in parts]
        return self._quadrants[key]

    def alignments(
        self, y: Array, centered: bool = False, row_weights: Array | None = None
    ) -> list[float]:
        """Return each kernel's alignment with the label kernel yyᵀ (paper 002, equation 14).

        Centred alignments are those of HKH and HyyᵀH, H = I − 11ᵀ/N. With weights v of rows, H is
        I − 1vᵀ/Σv, and a pair of rows counts v_i v_j times.
        """
        key = y.tobytes(), centered, b"" if row_weights is None else row_weights.tobytes()
        if key not in self._alignments:
            labels = y.astype(np.float64)
            if centered:
                labels -= np.average(labels, weights=row_weights)
            products = kernel_products(self.seen, labels, centered, False, row_weights)
            self._alignments[key] = products.label_alignments(labels, row_weights).tolist()
        return self._alignments[key]


@attrs.define(eq=False, slots=False)
class _Block:
    """The statistics of M kernels on one block of rows and columns.

    Attributes
    ----------
    a : KernelRows
        The rows.
    b : KernelRows, optional
        The columns, where they are others.
    """

    _a: KernelRows
    _b: KernelRows | None = None

    def quadrants(self) -> list[Quadrant]:
        """Return each kernel's statistics."""
        moments = self._moments()
        self._count = moments[0].count
        return [
            Quadrant(of_kernel.mean, of_kernel.deviation, partial(self._quartiles_of, index))
            for index, of_kernel in enumerate(moments)
        ]

    def _moments(self) -> list[Moments]:
        def of_tile(block: slice, columns: slice, tiles: KernelTiles) -> list[tuple[int, Moments]]:
            weight = 1 if self._b is not None or block == columns else 2
            return [(index, Moments.of(tile, weight)) for index, tile in tiles]

        moments = [Moments() for _ in self._a.kernels]
        for of_tiles in over_tiles(of_tile, self._a, self._b):
            for index, of_kernel in of_tiles:
                moments[index] = moments[index].merge(of_kernel)
        return moments

    def _quartiles_of(self, index: int) -> list[float]:
        return self._quartiles[index]

    @cached_property
    def _quartiles(self) -> list[list[float]]:
        """Each kernel's quartiles; kernels that are monotone in a base share its selection."""
        places = quantile_places(self._count, QUARTILES)
        ranks = [rank for *pair, _ in places for rank in pair]
        mirrored = [self._count - 1 - rank for rank in ranks]
        shared: dict[tuple[int, str], dict[int, float]] = {}
        quartiles = []
        for index, kernel in enumerate(self._a.kernels):
            if is_scalar(kernel) and kernel.monotone:
                key = (self._a.places[index], kernel.base)
                if key not in shared:
                    # A decreasing kernel maps the mirrored ranks to the wanted ones.
                    shared[key] = self._values(index, [*ranks, *mirrored], _Base(kernel.base))
                wanted = ranks if kernel.monotone > 0 else mirrored
                at_base = np.array([shared[key][rank] for rank in wanted])
                values = dict(zip(ranks, kernel.of(at_base, at_base).tolist(), strict=True))
            else:
                values = self._values(index, ranks)
            quartiles.append(between(places, values))
        return quartiles

    def _values(
        self, index: int, ranks: list[int], kernel: FittedKernel | None = None
    ) -> dict[int, float]:
        """Return the values of some ranks of one kernel, or of another one in its place."""
        a = self._a.only(index, kernel)
        b = None if self._b is None else self._b.only(index, kernel)
        if self._count <= SMALL_BLOCK:
            [(_, whole)] = a.similarities(a if b is None else b)
            values = np.sort(whole.ravel().astype(np.float64))
            return {rank: float(values[rank]) for rank in ranks}

        local = threading.local()

        def tile(block: slice, columns: slice) -> Array:
            if not hasattr(local, "memory"):
                local.memory = np.empty((2, SMALL_BLOCK), dtype=a.arrays[0].dtype)
            return _only_one(a.take(block), (a if b is None else b).take(columns), local.memory)

        def once() -> Iterator[tuple[Callable[[], Array], int]]:
            for block, columns in tile_places(a, b):
                yield partial(tile, block, columns), 1 if b is not None or block == columns else 2

        return values_at(once, ranks, _sample(a, a if b is None else b), self._count)


def _only_one(a: KernelRows, b: KernelRows, memory: Sequence[Array] = ()) -> Array:
    [(_, values)] = a.similarities(b, memory)
    return values


def _sample(a: KernelRows, b: KernelRows) -> Array:
    """Return the values of one kernel on some pairs of rows, drawn evenly from all pairs."""
    rng = np.random.RandomState(0)
    squares = []
    for _ in range(SAMPLE_SQUARES):
        some, others = (rows.take(rng.randint(rows.n_rows, size=SAMPLE_ROWS)) for rows in (a, b))
        squares.append(_only_one(some, others))
    return np.array(squares).ravel()


@attrs.frozen
class _Base(FittedScalarKernel):
    """The base quantity itself as a kernel."""

    base: str  # type: ignore[misc]

    def of(self, base: Array, out: Array) -> Array:
        return base
