"""Centred Gram matrices tile by tile, and the inner products computed from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mklkit.protocols import Array, KernelProducts
from mklkit.views.kernel_rows import KernelRows, Tiles, symmetric_tiles
from mklkit.views.scalar_kernels import InnerProduct

__all__ = ["CentredTiles", "kernel_products"]


class CentredTiles:
    """The tiles on and above the diagonal of HKH for M kernels, H = I − 11ᵀ/N, in float64.

    Two passes: the first computes the row means of the Gram matrices. Computed from sums of K
    alone, a wide kernel, or one on data far from zero, would lose its digits in the mean. Kernels
    that are inner products are evaluated on centred rows: HKH is the same, with all its digits.

    Parameters
    ----------
    seen : KernelRows
        The kernels and the training rows.

    Attributes
    ----------
    sizes : ndarray of shape (M,)
        The largest k(x, x) of each kernel, or 1, by which the tiles are divided.
    noise : ndarray of shape (M,)
        The size of the rounding errors that centring leaves of a constant kernel.
    """

    def __init__(self, seen: KernelRows) -> None:
        self._seen, n_rows = _with_centred_rows(seen), seen.n_rows
        self.sizes = _sizes(self._seen)
        self._means = np.zeros((len(seen), n_rows))
        for block, other, tiles in symmetric_tiles(self._seen):
            for index, values in tiles:
                tile = values / self.sizes[index]
                self._means[index, block] += tile.sum(axis=1) / n_rows
                if other != block:
                    self._means[index, other] += tile.sum(axis=0) / n_rows
        self._totals = self._means.mean(axis=1)
        rounding = np.array([4 * np.finfo(own.dtype).eps for own in seen.rows])
        self.noise = rounding * np.abs(self._means).max(axis=1)

    def __iter__(self) -> Tiles:
        """Yield tiles as :func:`symmetric_tiles` does."""
        for block, other, tiles in symmetric_tiles(self._seen):
            yield block, other, self._centred(block, other, tiles)

    def _centred(
        self, block: slice, other: slice, tiles: Iterator[tuple[int, Array]]
    ) -> Iterator[tuple[int, Array]]:
        for index, tile in tiles:
            means = self._means[index]
            own = tile / self.sizes[index] - means[block, None]
            yield index, own - (means[other] - self._totals[index])


def _with_centred_rows(seen: KernelRows) -> KernelRows:
    """Return the kernels, with centred rows for those that are inner products."""
    linear = [isinstance(kernel, InnerProduct) for kernel in seen.kernels]
    centred = {
        place: array - array.mean(axis=0, dtype=np.float64).astype(array.dtype)
        for place, array in enumerate(seen.arrays)
        if any(own == place for own, wanted in zip(seen.places, linear, strict=True) if wanted)
    }
    pairs = zip(seen.places, linear, strict=True)
    rows = [centred[place] if wanted else seen.arrays[place] for place, wanted in pairs]
    return KernelRows.of(seen.kernels, rows)


def _sizes(seen: KernelRows) -> Array:
    largest = [float(np.abs(diagonal).max()) for diagonal in seen.diagonals()]
    return np.array([size if size > 0 else 1.0 for size in largest])


def kernel_products(
    seen: KernelRows,
    labels: Array | None = None,
    centered: bool = True,
    pairs: bool = True,
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

    Notes
    -----
    O(N²(d + M²)) time, M tiles of memory and no Gram matrix; without pairs O(N²(d + M)), one tile.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import Linear
    >>> rows = np.array([[1.0], [3.0]])
    >>> found = kernel_products(KernelRows.of([Linear().fit(rows)], [rows]), np.array([-1.0, 1.0]))
    >>> (found.products * found.sizes**2).tolist(), (found.with_labels * found.sizes).tolist()
    ([[4.0]], [4.0])
    """
    n_rows, n_kernels = seen.n_rows, len(seen)
    labels = np.zeros(n_rows) if labels is None else labels
    centred = CentredTiles(seen) if centered else None
    # Centred tiles are divided by their sizes already.
    sizes = _sizes(seen) if centred is None else centred.sizes
    divisors = sizes if centred is None else np.ones(n_kernels)
    products, with_labels = np.zeros((n_kernels, n_kernels)), np.zeros(n_kernels)
    for block, other, tiles in symmetric_tiles(seen) if centred is None else centred:
        times = 1 if other == block else 2
        shape = block.stop - block.start, other.stop - other.start
        values = np.empty((n_kernels if pairs else 1, *shape))
        for index, tile in tiles:
            own = np.divide(tile, divisors[index], out=values[index if pairs else 0])
            with_labels[index] += times * (labels[block] @ (own @ labels[other]))
            if not pairs:
                products[index, index] += times * np.vdot(own, own)
        if pairs:
            flat = values.reshape(n_kernels, -1)
            products += times * (flat @ flat.T)
    if centred is not None:
        constant = np.sqrt(np.diag(products)) / n_rows <= centred.noise
        products[constant] = products[:, constant] = with_labels[constant] = 0
    return KernelProducts(products, with_labels, sizes)
