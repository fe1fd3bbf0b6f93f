"""Gram matrices a tile at a time: as they are, and centred."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.pairwise import upper_blocks
from mklkit.protocols import Array, FittedKernel, KernelProducts
from mklkit.views.scalar_kernels import InnerProduct
from mklkit.views.similarities import similarities

__all__ = ["CentredTiles", "Tiles", "cut", "kernel_products", "symmetric_tiles"]

Tiles = Iterator[tuple[slice, slice, Iterator[tuple[int, Array]]]]
"""Rows and columns of each tile, and every kernel's values there."""


def symmetric_tiles(kernels: Sequence[FittedKernel], rows: Sequence[Array]) -> Tiles:
    """Yield the tiles on and above the diagonal of all Gram matrices, kernels together.

    Parameters
    ----------
    kernels : sequence of FittedKernel
        M of them.
    rows : sequence of ndarray
        (N, d_m) for each kernel; the same array object where kernels see the same columns.

    Yields
    ------
    block, other : slice
        Rows and columns of the tile.
    tiles : iterator of (int, ndarray)
        Each kernel's tile, overwritten when the next is asked for.
    """
    for block, other in upper_blocks(len(rows[0])):
        a, b = cut(rows, block), cut(rows, other)
        yield block, other, similarities(kernels, a, b, same=other == block)


def cut(rows: Sequence[Array], block: slice | NDArray[np.intp]) -> list[Array]:
    """Take the block of each array; arrays that are one object stay one object."""
    taken: dict[int, Array] = {}
    return [taken.setdefault(id(array), array[block]) for array in rows]


class CentredTiles:
    """The tiles on and above the diagonal of HKH for M kernels, H = I − 11ᵀ/N, in float64.

    Two passes: the first finds the means of the Gram matrices' rows. Read off sums of K alone, the
    digits of a kernel that is wide, or of data far from zero, would be lost in its mean. Inner
    products are those of rows that are centred themselves: HKH is the same, with all its digits.

    Parameters
    ----------
    kernels : sequence of FittedKernel
    rows : sequence of ndarray
        (N, d_m) for each kernel.

    Attributes
    ----------
    sizes : ndarray of shape (M,)
        The largest k(x, x) of each kernel, or 1; what the tiles are divided by.
    noise : ndarray of shape (M,)
        The size of what rounding leaves of a kernel that is constant.
    """

    def __init__(self, kernels: Sequence[FittedKernel], rows: Sequence[Array]) -> None:
        self._kernels, self._rows = kernels, _centred_rows(kernels, rows)
        self.sizes = _sizes(kernels, self._rows)
        n_rows = len(rows[0])
        self._means = np.zeros((len(kernels), n_rows))
        for block, other, tiles in symmetric_tiles(kernels, self._rows):
            for index, values in tiles:
                tile = values / self.sizes[index]
                self._means[index, block] += tile.sum(axis=1) / n_rows
                if other != block:
                    self._means[index, other] += tile.sum(axis=0) / n_rows
        self._totals = self._means.mean(axis=1)
        rounding = np.array([4 * np.finfo(own.dtype).eps for own in rows])
        self.noise = rounding * np.abs(self._means).max(axis=1)

    def __iter__(self) -> Tiles:
        """Yield as :func:`symmetric_tiles` does."""
        for block, other, tiles in symmetric_tiles(self._kernels, self._rows):
            yield block, other, self._centred(block, other, tiles)

    def _centred(
        self, block: slice, other: slice, tiles: Iterator[tuple[int, Array]]
    ) -> Iterator[tuple[int, Array]]:
        for index, tile in tiles:
            means = self._means[index]
            own = tile / self.sizes[index] - means[block, None]
            yield index, own - (means[other] - self._totals[index])


def _centred_rows(kernels: Sequence[FittedKernel], rows: Sequence[Array]) -> list[Array]:
    """Return the rows, centred for inner products; arrays that are one object stay one object."""
    centred: dict[int, Array] = {}
    for kernel, own in zip(kernels, rows, strict=True):
        if isinstance(kernel, InnerProduct) and id(own) not in centred:
            centred[id(own)] = own - own.mean(axis=0, dtype=np.float64).astype(own.dtype)
    return [
        centred[id(own)] if isinstance(kernel, InnerProduct) else own
        for kernel, own in zip(kernels, rows, strict=True)
    ]


def _sizes(kernels: Sequence[FittedKernel], rows: Sequence[Array]) -> Array:
    largest = [
        float(np.abs(kernel.diagonal(own)).max()) for kernel, own in zip(kernels, rows, strict=True)
    ]
    return np.array([size if size > 0 else 1.0 for size in largest])


def kernel_products(
    kernels: Sequence[FittedKernel],
    rows: Sequence[Array],
    labels: Array | None = None,
    centered: bool = True,
    pairs: bool = True,
) -> KernelProducts:
    """Return the kernels' inner products, each kernel centred first (HKH) if wanted.

    Parameters
    ----------
    kernels : sequence of FittedKernel
    rows : sequence of ndarray
        (N, d_m) for each kernel.
    labels : ndarray of shape (N,), optional
    centered : bool, default=True
    pairs : bool, default=True
        Whether products of different kernels are wanted, or those on the diagonal alone.

    Notes
    -----
    O(N²(d + M²)) time, M tiles of memory and no Gram matrix; without pairs O(N²(d + M)), one tile.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import Linear
    >>> rows = np.array([[1.0], [3.0]])
    >>> found = kernel_products([Linear().fit(rows)], [rows], np.array([-1.0, 1.0]))
    >>> (found.products * found.sizes**2).tolist(), (found.with_labels * found.sizes).tolist()
    ([[4.0]], [4.0])
    """
    n_rows, n_kernels = len(rows[0]), len(kernels)
    labels = np.zeros(n_rows) if labels is None else labels
    centred = CentredTiles(kernels, rows) if centered else None
    # Those of centred tiles are divided already.
    sizes = _sizes(kernels, rows) if centred is None else centred.sizes
    divisors = sizes if centred is None else np.ones(n_kernels)
    products, with_labels = np.zeros((n_kernels, n_kernels)), np.zeros(n_kernels)
    for block, other, tiles in symmetric_tiles(kernels, rows) if centred is None else centred:
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
