"""The base quantities of two sets of rows: inner products and distances, tile by tile.

Kernels that are scalar functions of one of them share its computation (see ``views.kernel_rows``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled
from mklkit.numerics.threads import each

__all__ = [
    "BASES",
    "TILE_COLUMNS",
    "TILE_ROWS",
    "add_scaled",
    "inner_products",
    "manhattan_distances",
    "mirror_upper",
    "row_blocks",
    "squared_distances",
    "upper_blocks",
]

Array = NDArray[np.floating[Any]]

TILE_ROWS, TILE_COLUMNS = 256, 1024
"""Of a tile: 2 MiB in float64, which fits into a core's cache; wide, as memory is read by rows."""

MIRROR_ROWS = 64


def row_blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Yield the slices that cut ``n_rows`` rows into blocks.

    Examples
    --------
    >>> list(row_blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def upper_blocks(n_rows: int) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of the tiles on and above the diagonal of an N × N matrix.

    Squares on the diagonal, and to the right of each, panels of up to four times its width.

    Examples
    --------
    >>> [(block.stop, columns.start, columns.stop) for block, columns in upper_blocks(600)]
    [(256, 0, 256), (256, 256, 600), (512, 256, 512), (512, 512, 600), (600, 512, 600)]
    """
    for block in row_blocks(n_rows, TILE_ROWS):
        yield block, block
        for part in row_blocks(n_rows - block.stop, TILE_COLUMNS):
            yield block, slice(block.stop + part.start, block.stop + part.stop)


def mirror_upper(matrix: Array) -> Array:
    """Copy the upper triangle to the lower one, in place, and return the (N, N) matrix.

    Works on small squares: where rows are a power of two apart, writing column by column reuses
    the same cache lines, and transposing a tile takes ten times as long.

    Examples
    --------
    >>> import numpy as np
    >>> mirror_upper(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[1., 2.],
           [2., 3.]])
    """
    blocks = row_blocks(len(matrix), MIRROR_ROWS)
    # Threads would cost more than so small a matrix.
    for _ in (map if len(matrix) <= TILE_COLUMNS else each)(partial(_mirror_rows, matrix), blocks):
        pass
    return matrix


def _mirror_rows(matrix: Array, block: slice) -> None:
    _mirror(matrix, block.start, block.stop)


@compiled()
def _mirror(matrix: Array, start: int, stop: int) -> None:  # pragma: no cover - compiled
    for left in range(start, matrix.shape[1], MIRROR_ROWS):
        for j in range(left, min(left + MIRROR_ROWS, matrix.shape[1])):
            for i in range(start, min(stop, j)):
                matrix[j, i] = matrix[i, j]


@compiled()
def add_scaled(
    matrix: Array, row: int, column: int, tile: Array, weight: float
) -> None:  # pragma: no cover - compiled
    """Add a tile (n, m), times a weight, to a matrix from this row and this column on."""
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            matrix[row + i, column + j] += weight * tile[i, j]


def inner_products(a: Array, b: Array, out: Array | None = None) -> Array:
    """Return ``a @ b.T``: (n, m) for rows (n, d) and (m, d), in O(nmd), in ``out`` where given.

    What no float holds is infinite, of the sign that it has: rows whose products may overflow on
    the way, where the sum would go with its order, are scaled first.

    Examples
    --------
    >>> import numpy as np
    >>> inner_products(np.array([[1e200, 3e200]]), np.array([[2e200, -1e200]]))
    array([[-inf]])
    """
    sizes = [float(max(rows.max(initial=0), -rows.min(initial=0))) for rows in (a, b)]
    if not sizes[0] * sizes[1] * a.shape[1] > np.finfo(np.result_type(a, b)).max:
        return np.matmul(a, b.T, out=out)
    lengths = [np.abs(rows).max(axis=1) for rows in (a, b)]
    near_a, near_b = (
        rows / np.where(length > 0, length, 1)[:, None]
        for rows, length in zip((a, b), lengths, strict=True)
    )
    products: Array = np.matmul(near_a, near_b.T, out=out)
    with np.errstate(over="ignore"):
        products *= lengths[0][:, None]
        products *= lengths[1]
    return products


def squared_distances(a: Array, b: Array, out: Array | None = None) -> Array:
    """Return the squared Euclidean distances of rows: (n, m) for (n, d) and (m, d), in O(nmd).

    They are written into ``out``, where it is given.

    One matrix product (‖a‖² + ‖b‖² − 2aᵀb) on rows shifted to the mean of ``b``, which keeps the
    digits of columns that sit far from zero, such as time stamps. What overflows on the way, or is
    so much smaller than the rows that half of its digits are gone, is summed from differences:
    equal rows have distance zero whatever their scale. A distance that no float holds is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[25.,  1.]])
    """
    if len(b) == 0:
        return np.empty((len(a), 0), dtype=np.result_type(a, b))
    with np.errstate(over="ignore", invalid="ignore"):
        centre = b.mean(axis=0)
        near_a, near_b = a - centre, b - centre
        lengths, others = (np.einsum("ij,ij->i", near, near) for near in (near_a, near_b))
        near_a *= -2
        distances: Array = np.matmul(near_a, near_b.T, out=out)
        least = lengths * np.sqrt(np.finfo(distances.dtype).eps)
    others = others.astype(distances.dtype, copy=False)
    _add_lengths(_plain(a, distances), _plain(b, distances), lengths, others, least, distances)
    return distances


def _plain(rows: Array, like: Array) -> Array:
    """Return the rows as code is compiled for: of one type, in one piece, writable."""
    return np.require(rows, like.dtype, ["C_CONTIGUOUS", "WRITEABLE"])


@compiled()
def _add_lengths(
    a: Array, b: Array, lengths: Array, others: Array, least: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """Add both lengths (n,) and (m,); compute anew what is not above the least (n,) and finite."""
    for i in range(a.shape[0]):
        length, low, ordinary = lengths[i], least[i], 0
        for j in range(b.shape[0]):
            distance = (out[i, j] + length) + others[j]
            out[i, j] = distance
            ordinary += (distance > low) & (distance < np.inf)
        if ordinary == b.shape[0]:
            continue
        for j in range(b.shape[0]):
            if not low < out[i, j] < np.inf:
                total = 0.0
                for k in range(a.shape[1]):
                    total += (a[i, k] - b[j, k]) ** 2
                out[i, j] = total


@compiled()
def _manhattan(a: Array, b: Array, out: Array) -> None:  # pragma: no cover - compiled
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for k in range(a.shape[1]):
                total += abs(a[i, k] - b[j, k])
            out[i, j] = total


def manhattan_distances(a: Array, b: Array, out: Array | None = None) -> Array:
    """Return the sums of absolute differences of rows: (n, m) for (n, d) and (m, d), in O(nmd).

    They are written into ``out``, where it is given.
    """
    if out is None:
        out = np.empty((len(a), len(b)), dtype=np.result_type(a, b))
    _manhattan(_plain(a, out), _plain(b, out), out)
    return out


BASES: dict[str, Callable[..., Array]] = {
    "inner_product": inner_products,
    "squared_distance": squared_distances,
    "manhattan_distance": manhattan_distances,
}
