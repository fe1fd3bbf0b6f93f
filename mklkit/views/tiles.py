"""Centred Gram matrices tile by tile, and the inner products computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from mklkit.numerics.gram_tiles import (
    add_scaled,
    center_tile,
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
    """Yield the result of ``work`` on each tile, in the order of the tiles, from several threads.

    The work gets the tile's rows, its columns, and an iterator over each kernel's index and its
    values there, which the next kernel overwrites. ``others`` has the same kernels on the samples
    of the columns; without it, tiles are those on and above the diagonal.
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
        yield from map(on_tile, first)  # threads would be slower
    else:
        yield from each(on_tile, chain(first, places))


def tile_places(
    kernel_rows: KernelRows, others: KernelRows | None = None
) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of the tiles on which :func:`over_tiles` evaluates the kernels."""
    if others is None:
        yield from upper_blocks(kernel_rows.n_rows)
        return
    for block in row_blocks(kernel_rows.n_rows, TILE_ROWS):
        for columns in row_blocks(others.n_rows, TILE_COLUMNS):
            yield block, columns


def weighted_gram(
    kernel_rows: KernelRows, weights: Array, out: Array | None = None, scale: Array | None = None
) -> Array:
    """Return Σ w_m K_m, in ``out`` if of the rows' type, from tiles on and above the diagonal.

    With a ``scale`` r of samples (N,) it is Σ w_m r rᵀ ∘ K_m.
    """
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
        if scale is not None:
            part *= np.outer(scale[block], scale[columns])
        # The two triangles of a product may differ by rounding; solvers require symmetry.
        mirror_tile(gram, block.start, block.stop, columns.start, columns.stop)

    for _ in over_tiles(write, kernel_rows):
        pass
    return gram


class _Means:
    """What is subtracted from the tiles of M kernels: the means of HKH (M, N), or nothing.

    Computed in a separate pass, from tiles divided by ``sizes``, the largest k(x, x) of each
    kernel. From sums of K alone, a wide kernel, or one on data far from zero, would lose its
    digits in the mean. Kernels that are inner products are evaluated on centred samples, unless
    these are sparse: HKH is the same, with all its digits. ``noise`` are the rounding errors that
    centring leaves of constant kernels. ``row_weights`` are those of all kernels (N,), or of each
    (M, N), which are 0 for samples that miss its source.
    """

    def __init__(self, kernel_rows: KernelRows, centered: bool, row_weights: Array) -> None:
        self.kernel_rows = (
            _with_centered_rows(kernel_rows, row_weights) if centered else kernel_rows
        )
        largest = [float(np.abs(values).max()) for values in self.kernel_rows.diagonals()]
        # No float is the inverse of a subnormal number.
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
                of_kernel = row_weights if row_weights.ndim == 1 else row_weights[index]
                counts = of_kernel[block], of_kernel[columns]
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
        self.rows /= row_weights.sum() if row_weights.ndim == 1 else row_weights.sum(1)[:, None]
        self.columns = self.rows - np.average(self.rows, axis=1, weights=row_weights)[:, None]
        rounding = np.array([4 * np.finfo(rows.dtype).eps for rows in kernel_rows.rows])
        self.noise = rounding * np.abs(self.rows).max(axis=1)


def _with_centered_rows(kernel_rows: KernelRows, row_weights: Array) -> KernelRows:
    """Return the kernels, with centred samples for those that are inner products."""
    centered: dict[int, Any] = {}
    rows: list[Any] = []
    for kernel, place in zip(kernel_rows.kernels, kernel_rows.places, strict=True):
        array = kernel_rows.arrays[place]
        if isinstance(kernel, InnerProduct) and not issparse(array):
            if place not in centered:
                values = np.asarray(array)
                weights = row_weights if row_weights.ndim == 1 else row_weights[len(rows)]
                mean = np.average(values, axis=0, weights=weights)
                values = values - mean.astype(values.dtype)
                centered[place] = values
            array = centered[place]
        rows.append(array)
    return KernelRows.of(kernel_rows.kernels, rows, missing=kernel_rows.missing)


def kernel_products(
    kernel_rows: KernelRows,
    labels: Array | None = None,
    centered: bool = True,
    pairs: bool = True,
    row_weights: Array | None = None,
) -> KernelProducts:
    """Return the kernels' inner products, optionally with each kernel centred first (HKH).

    Without ``pairs`` only the diagonal of the products, in which ``row_weights`` weigh the samples.
    O(N²(d + M²)) time, M tiles of memory and no Gram matrix; without pairs O(N²(d + M)).
    A kernel is centred on the samples that have its source, and zero for the other samples.

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
    missing = kernel_rows.missing
    if missing is not None:
        counts = np.where((missing & ~missing.all(axis=0)).T, 0.0, counts)
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
            told, counted = (labels, counts) if missing is None else (labels[index], counts[index])
            if pairs:
                center_tile(*of_tile, columns, values[index])
            if pairs and missing is not None:
                values[index] *= np.outer(counted[block] != 0, counted[place] != 0)
            sums_with_labels[index], squares[index] = product_sums(
                *of_tile, columns, (told[block], counted[block]), (told[place], counted[place])
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
        constant = np.sqrt(np.diag(products)) / counts.sum(axis=-1) <= means.noise
        products[constant] = products[:, constant] = with_labels[constant] = 0
    return KernelProducts(products, with_labels, means.sizes)
