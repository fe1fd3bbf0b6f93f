"""Gram matrices centred in feature space, and sums over tiles of them in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.compiling import compiled

__all__ = ["centre_tile", "centred_gram", "margin_sums", "product_sums"]


def centred_gram(
    gram: NDArray[Any], dtype: Any = None, row_weights: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return HKH of a square matrix K (N, N), H = I − 11ᵀ/N; in K's dtype where none is given.

    With weights v of rows (N,), HKHᵀ with H = I − 1vᵀ/Σv.

    Examples
    --------
    >>> import numpy as np
    >>> centred_gram(np.array([[1.0, 3.0], [3.0, 9.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if row_weights is None:
        means = gram.mean(axis=0, dtype=dtype)
        centred = gram - means
        centred -= centred.mean(axis=1)[:, None]
        return centred
    share = row_weights / row_weights.sum()
    centred = gram - (share @ gram).astype(dtype or gram.dtype)
    centred -= (centred @ share)[:, None]
    return centred


@compiled(inexact=["contract", "reassoc"])
def margin_sums(
    tile: NDArray[np.floating[Any]],
    unit: float,
    columns: NDArray[np.float64],
    row_weights: NDArray[np.float64],
    column_weights: NDArray[np.float64],
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the sums over each row (n,) of a tile times a unit; add those over columns (m,).

    Rows count with weights ``row_weights`` (n,) and columns with ``column_weights`` (m,).
    """
    rows = np.empty(tile.shape[0])
    for i in range(tile.shape[0]):
        total = 0.0
        for j in range(tile.shape[1]):
            value = tile[i, j] * unit
            total += value * column_weights[j]
            columns[j] += value * row_weights[i]
        rows[i] = total
    return rows


@compiled()
def _centred(
    value: float, unit: float, row: float, column: float
) -> float:  # pragma: no cover - compiled
    return (value * unit - row) - column


@compiled()
def centre_tile(
    tile: NDArray[np.floating[Any]],
    unit: float,
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:  # pragma: no cover - compiled
    """Write a tile (n, m) times a unit, less the means of rows (n,) and then of columns (m,)."""
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            out[i, j] = _centred(np.float64(tile[i, j]), unit, rows[i], columns[j])


@compiled(inexact=["contract", "reassoc"])
def product_sums(
    tile: NDArray[np.floating[Any]],
    unit: float,
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    left: tuple[NDArray[np.float64], NDArray[np.float64]],
    right: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return ``l @ T @ r`` and ``v @ T**2 @ w`` of T, what ``centre_tile`` would write.

    ``left`` is l and v (n,), ``right`` r and w (m,).
    """
    product = squares = 0.0
    for i in range(tile.shape[0]):
        mean = rows[i]
        total = square = 0.0
        for j in range(tile.shape[1]):
            value = _centred(np.float64(tile[i, j]), unit, mean, columns[j])
            total += value * right[0][j]
            square += value * value * right[1][j]
        product += left[0][i] * total
        squares += left[1][i] * square
    return product, squares
