"""Centred Gram matrices tile by tile, and the inner products computed from them."""

from __future__ import annotations

import numpy as np

from mklkit.numerics.centring import centre_tile, margin_sums, product_sums
from mklkit.protocols import Array, KernelProducts
from mklkit.views.kernel_rows import KernelRows, KernelTiles, over_tiles, tile_places
from mklkit.views.scalar_kernels import InnerProduct

__all__ = ["kernel_products"]


class _Means:
    """What is subtracted from the tiles of M kernels: the means of HKH, or nothing.

    Computed in a pass of its own. Computed from sums of K alone, a wide kernel, or one on data far
    from zero, would lose its digits in the mean. Kernels that are inner products are evaluated on
    centred rows: HKH is the same, with all its digits.

    Parameters
    ----------
    seen : KernelRows
        The kernels and the training rows.
    centered : bool
    row_weights : ndarray of shape (N,)
        How much each row counts in a mean.

    Attributes
    ----------
    seen : KernelRows
        The kernels, and the rows to evaluate them on.
    sizes : ndarray of shape (M,)
        The largest k(x, x) of each kernel, or 1, by which the tiles are divided.
    rows, columns : ndarray of shape (M, N)
        To subtract from the divided tiles.
    noise : ndarray of shape (M,)
        The size of the rounding errors that centring leaves of a constant kernel.
    """

    def __init__(self, seen: KernelRows, centered: bool, row_weights: Array) -> None:
        self.seen = _with_centred_rows(seen, row_weights) if centered else seen
        self.sizes = _sizes(self.seen)
        self.rows = np.zeros((len(seen), seen.n_rows))
        self.columns = self.rows
        self.noise = np.zeros(len(seen))
        if not centered:
            return

        def sums(block: slice, other: slice, tiles: KernelTiles) -> list[tuple[int, Array, Array]]:
            found: list[tuple[int, Array, Array]] = []
            for index, tile in tiles:
                below = np.zeros(tile.shape[1])
                counts = row_weights[block], row_weights[other]
                beside = margin_sums(tile, 1 / self.sizes[index], below, *counts)
                found.append((index, beside, below))
            return found

        places = tile_places(self.seen)
        for (block, other), found in zip(places, over_tiles(sums, self.seen), strict=True):
            for index, beside, below in found:
                self.rows[index, block] += beside
                if other != block:
                    self.rows[index, other] += below
        self.rows /= row_weights.sum()
        self.columns = self.rows - np.average(self.rows, axis=1, weights=row_weights)[:, None]
        rounding = np.array([4 * np.finfo(own.dtype).eps for own in seen.rows])
        self.noise = rounding * np.abs(self.rows).max(axis=1)


def _with_centred_rows(seen: KernelRows, row_weights: Array) -> KernelRows:
    """Return the kernels, with centred rows for those that are inner products."""
    linear = [isinstance(kernel, InnerProduct) for kernel in seen.kernels]
    centred = {
        place: array - np.average(array, axis=0, weights=row_weights).astype(array.dtype)
        for place, array in enumerate(seen.arrays)
        if any(own == place for own, wanted in zip(seen.places, linear, strict=True) if wanted)
    }
    pairs = zip(seen.places, linear, strict=True)
    rows = [centred[place] if wanted else seen.arrays[place] for place, wanted in pairs]
    return KernelRows.of(seen.kernels, rows)


def _sizes(seen: KernelRows) -> Array:
    largest = [float(np.abs(diagonal).max()) for diagonal in seen.diagonals()]
    # Of a subnormal number no float is the inverse.
    least = np.finfo(np.float64).tiny
    return np.array([max(size, least) if size > 0 else 1.0 for size in largest])


def kernel_products(
    seen: KernelRows,
    labels: Array | None = None,
    centered: bool = True,
    pairs: bool = True,
    row_weights: Array | None = None,
) -> KernelProducts:
    """Return the kernels' inner products, optionally with each kernel centred first (HKH).

    Parameters
    ----------
    seen : KernelRows
        The kernels and the training rows.
    labels : ndarray of shape (N,), optional
    centered : bool, default=True
    pairs : bool, default=True
        Whether to compute products of different kernels, or only the diagonal.
    row_weights : ndarray of shape (N,), optional
        How much each row counts, where there are no products of different kernels.

    Notes
    -----
    O(N²(d + M²)) time, M tiles of memory and no Gram matrix; without pairs O(N²(d + M)), one tile.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.kernels import Linear
    >>> rows = np.array([[1.0], [3.0]])
    >>> found = kernel_products(KernelRows.of([Linear().fit(rows)], [rows]), np.array([-1.0, 1.0]))
    >>> (found.products * found.sizes**2).tolist(), (found.with_labels * found.sizes).tolist()
    ([[4.0]], [4.0])
    """
    n_kernels = len(seen)
    labels = np.zeros(seen.n_rows) if labels is None else np.asarray(labels, dtype=np.float64)
    counts = np.ones(seen.n_rows) if row_weights is None else row_weights
    labels = counts * labels
    means = _Means(seen, centered, counts)
    products, with_labels = np.zeros((n_kernels, n_kernels)), np.zeros(n_kernels)

    def sums(block: slice, other: slice, tiles: KernelTiles) -> tuple[int, Array, Array]:
        shape = block.stop - block.start, other.stop - other.start
        values = np.empty((n_kernels, *shape) if pairs else (0, 0, 0))
        squares, sums_with_labels = np.zeros(n_kernels), np.zeros(n_kernels)
        for index, tile in tiles:
            of_tile = tile, 1 / means.sizes[index], means.rows[index, block]
            columns = means.columns[index, other]
            if pairs:
                centre_tile(*of_tile, columns, values[index])
            sums_with_labels[index], squares[index] = product_sums(
                *of_tile,
                columns,
                (labels[block], counts[block]),
                (labels[other], counts[other]),
            )
        flat = values.reshape(n_kernels, -1)
        return (
            1 if block == other else 2,
            flat @ flat.T if pairs else np.diag(squares),
            sums_with_labels,
        )

    for times, of_pairs, of_labels in over_tiles(sums, means.seen):
        products += times * of_pairs
        with_labels += times * of_labels
    if centered:
        constant = np.sqrt(np.diag(products)) / counts.sum() <= means.noise
        products[constant] = products[:, constant] = with_labels[constant] = 0
    return KernelProducts(products, with_labels, means.sizes)
