"""Centred Gram matrices tile by tile, and the inner products computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from mklkit.numerics.gram_tiles import (
    add_scaled,
    centre_tile,
    margin_sums,
    mirror_tile,
    product_sums,
)
from mklkit.numerics.pairwise import TILE_COLUMNS, TILE_ROWS, row_blocks, upper_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array, KernelProducts
from mklkit.views.kernel_rows import InnerProduct, KernelRows, SpareScratch

Result = TypeVar("Result")

KernelTiles = Iterator[tuple[int, Array]]
"""Every kernel's index and its values on one tile."""

Tiles = Iterator[tuple[slice, slice, KernelTiles]]
"""Rows and columns of each tile, and every kernel's values there."""


def symmetric_tiles(kernel_rows: KernelRows) -> Tiles:
    """Yield the tiles on and above the diagonal of all Gram matrices, all kernels at once."""
    for block, columns in upper_blocks(kernel_rows.n_rows):
        yield block, columns, kernel_rows.take(block).similarities(kernel_rows.take(columns))


def over_tiles(
    work: Callable[[slice, slice, KernelTiles], Result],
    kernel_rows: KernelRows,
    others: KernelRows | None = None,
) -> Iterator[Result]:
    """Yield what some work makes of each tile, in the order of the tiles, from several threads.

    The work gets the tile's rows, its columns, and an iterator over each kernel's index and its
    values there, which are overwritten by the next kernel's. ``others`` has the same kernels on the
    rows of the columns; without it, tiles are those on and above the diagonal.
    """
    every = kernel_rows if others is None else others
    spare = SpareScratch(overwrites=True)  # two arrays per thread are enough

    def on_tile(place: tuple[slice, slice]) -> Result:
        block, columns = place
        with spare.lent() as scratch:
            tiles = kernel_rows.take(block).similarities(every.take(columns), scratch)
            return work(block, columns, tiles)

    places = tile_places(kernel_rows, others)
    first = list(islice(places, 2))
    if len(first) < 2:
        yield from map(on_tile, first)  # threads would cost more
    else:
        yield from each(on_tile, chain(first, places))


def tile_places(
    kernel_rows: KernelRows, others: KernelRows | None = None
) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of the tiles of which :func:`over_tiles` evaluates the kernels."""
    if others is None:
        yield from upper_blocks(kernel_rows.n_rows)
        return
    for block in row_blocks(kernel_rows.n_rows, TILE_ROWS):
        for columns in row_blocks(others.n_rows, TILE_COLUMNS):
            yield block, columns


def weighted_gram(kernel_rows: KernelRows, weights: Array, out: Array | None = None) -> Array:
    """Return Σ w_m K_m, in ``out`` if of the rows' type, from tiles on and above the diagonal."""
    dtype = kernel_rows.arrays[0].dtype
    if out is None or out.dtype != dtype:
        out = np.empty((kernel_rows.n_rows, kernel_rows.n_rows), dtype)
    gram: Array = out

    def write(block: slice, columns: slice, tiles: KernelTiles) -> None:
        part = gram[block, columns]
        for place, (index, tile) in enumerate(tiles):
            weight = gram.dtype.type(weights[index])
            if place == 0:
                np.multiply(tile, weight, out=part)
            else:
                add_scaled(part, np.asarray(tile, gram.dtype), weight)
        # The two triangles of a product may differ by rounding; solvers require symmetry.
        mirror_tile(gram, block.start, block.stop, columns.start, columns.stop)

    for _ in over_tiles(write, kernel_rows):
        pass
    return gram


class _Means:
    """What is subtracted from the tiles of M kernels: the means of HKH (M, N), or nothing.

    Computed in a pass of its own, from tiles divided by ``sizes``, the largest k(x, x) of each
    kernel. Computed from sums of K alone, a wide kernel, or one on data far from zero, would lose
    its digits in the mean. Kernels that are inner products are evaluated on centred rows: HKH is
    the same, with all its digits. ``noise`` are the rounding errors that centring leaves of
    constant kernels.
    """

    def __init__(self, kernel_rows: KernelRows, centered: bool, row_weights: Array) -> None:
        self.kernel_rows = _with_centred_rows(kernel_rows, row_weights) if centered else kernel_rows
        largest = [float(np.abs(values).max()) for values in self.kernel_rows.diagonals()]
        # Of a subnormal number no float is the inverse.
        least = np.finfo(np.float64).tiny
        self.sizes = np.array([max(size, least) if size > 0 else 1.0 for size in largest])
        self.rows = np.zeros((len(kernel_rows), kernel_rows.n_rows))
        self.columns = self.rows
        self.noise = np.zeros(len(kernel_rows))
        if not centered:
            return

        def sums(block: slice, columns: slice, tiles: KernelTiles) -> list[tuple[int, Any, Any]]:
            margins = []
            for index, tile in tiles:
                below = np.zeros(tile.shape[1])
                counts = row_weights[block], row_weights[columns]
                beside = margin_sums(tile, 1 / self.sizes[index], below, *counts)
                margins.append((index, beside, below))
            return margins

        places = tile_places(self.kernel_rows)
        for (block, columns), margins in zip(
            places, over_tiles(sums, self.kernel_rows), strict=True
        ):
            for index, beside, below in margins:
                self.rows[index, block] += beside
                if columns != block:
                    self.rows[index, columns] += below
        self.rows /= row_weights.sum()
        self.columns = self.rows - np.average(self.rows, axis=1, weights=row_weights)[:, None]
        rounding = np.array([4 * np.finfo(rows.dtype).eps for rows in kernel_rows.rows])
        self.noise = rounding * np.abs(self.rows).max(axis=1)


def _with_centred_rows(kernel_rows: KernelRows, row_weights: Array) -> KernelRows:
    """Return the kernels, with centred rows for those that are inner products."""
    centred: dict[int, Array] = {}
    rows = []
    for kernel, place in zip(kernel_rows.kernels, kernel_rows.places, strict=True):
        array = kernel_rows.arrays[place]
        if isinstance(kernel, InnerProduct):
            if place not in centred:
                mean = np.average(array, axis=0, weights=row_weights)
                centred[place] = array - mean.astype(array.dtype)
            array = centred[place]
        rows.append(array)
    return KernelRows.of(kernel_rows.kernels, rows)


def kernel_products(
    kernel_rows: KernelRows,
    labels: Array | None = None,
    centered: bool = True,
    pairs: bool = True,
    row_weights: Array | None = None,
) -> KernelProducts:
    """Return the kernels' inner products, optionally with each kernel centred first (HKH).

    Without ``pairs`` only the diagonal of the products, where ``row_weights`` say how much each row
    counts. O(N²(d + M²)) time, M tiles of memory and no Gram matrix; without pairs O(N²(d + M)).

    >>> from mklkit.kernels import Linear
    >>> rows = np.array([[1.0], [3.0]])
    >>> products = kernel_products(KernelRows.of([Linear().fit(rows)], [rows]))
    >>> (products.products * products.sizes**2).tolist()
    [[4.0]]
    """
    n_kernels = len(kernel_rows)
    labels = (
        np.zeros(kernel_rows.n_rows) if labels is None else np.asarray(labels, dtype=np.float64)
    )
    counts = np.ones(kernel_rows.n_rows) if row_weights is None else row_weights
    labels = counts * labels
    means = _Means(kernel_rows, centered, counts)
    products, with_labels = np.zeros((n_kernels, n_kernels)), np.zeros(n_kernels)

    def sums(block: slice, place: slice, tiles: KernelTiles) -> tuple[int, Array, Array]:
        shape = block.stop - block.start, place.stop - place.start
        values = np.empty((n_kernels, *shape) if pairs else (0, 0, 0))
        squares, sums_with_labels = np.zeros(n_kernels), np.zeros(n_kernels)
        for index, tile in tiles:
            of_tile = tile, 1 / means.sizes[index], means.rows[index, block]
            columns = means.columns[index, place]
            if pairs:
                centre_tile(*of_tile, columns, values[index])
            sums_with_labels[index], squares[index] = product_sums(
                *of_tile,
                columns,
                (labels[block], counts[block]),
                (labels[place], counts[place]),
            )
        flat = values.reshape(n_kernels, -1)
        return (
            1 if block == place else 2,
            flat @ flat.T if pairs else np.diag(squares),
            sums_with_labels,
        )

    for times, of_pairs, of_labels in over_tiles(sums, means.kernel_rows):
        products += times * of_pairs
        with_labels += times * of_labels
    if centered:
        constant = np.sqrt(np.diag(products)) / counts.sum() <= means.noise
        products[constant] = products[:, constant] = with_labels[constant] = 0
    return KernelProducts(products, with_labels, means.sizes)
