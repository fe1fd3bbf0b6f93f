"""Inner products of centred kernels with each other and with the labels, from tiles."""

from __future__ import annotations

import numpy as np

from mklkit import ViewSet, symmetric_tiles
from mklkit_optimize.gram_sums import Array

__all__ = ["centred_products"]


def centred_products(views: ViewSet, y: Array) -> tuple[Array, Array]:
    """Return ⟨HK_kH, HK_lH⟩_F, (M, M), and yᵀHK_kHy, (M,), with H = I − 11ᵀ/N.

    Parameters
    ----------
    views : ViewSet
    y : ndarray of shape (N,)
        Labels −1 and +1.

    Notes
    -----
    Two passes over the tiles, O(N²(d + M²)) time, M tiles of memory: no Gram matrix. The first pass
    finds the row means, so that the second sums centred values and a large mean costs no digits.
    With features Φ the products are ‖Φ_kᵀHΦ_l‖² and ‖Φ_kᵀHy‖².
    """
    labels = y - y.mean(dtype=np.float64)
    return _of_features(views, labels) if views.explicit else _of_tiles(views, labels)


def _of_features(views: ViewSet, labels: Array) -> tuple[Array, Array]:
    centred = [np.asarray(view.features(), dtype=np.float64) for view in views]
    centred = [features - features.mean(axis=0) for features in centred]
    products = np.array([[np.sum((a.T @ b) ** 2) for b in centred] for a in centred])
    return products, np.array([np.sum((features.T @ labels) ** 2) for features in centred])


def _of_tiles(views: ViewSet, labels: Array) -> tuple[Array, Array]:
    kernels, rows = [view.kernel for view in views], [view.rows for view in views]
    n_rows, n_kernels = len(labels), len(kernels)
    means = np.zeros((n_kernels, n_rows))
    for block, other, tiles in symmetric_tiles(kernels, rows):
        for index, tile in tiles:
            means[index, block] += tile.sum(axis=1, dtype=np.float64) / n_rows
            if block != other:
                means[index, other] += tile.sum(axis=0, dtype=np.float64) / n_rows
    totals = means.mean(axis=1)
    products, with_labels = np.zeros((n_kernels, n_kernels)), np.zeros(n_kernels)
    for block, other, tiles in symmetric_tiles(kernels, rows):
        times = 1 if block == other else 2
        shape = n_kernels, block.stop - block.start, other.stop - other.start
        centred = np.empty(shape)
        for index, tile in tiles:
            np.subtract(tile, means[index, block, None], out=centred[index])
            centred[index] -= means[index, other] - totals[index]
            with_labels[index] += times * (labels[block] @ (centred[index] @ labels[other]))
        flat = centred.reshape(n_kernels, -1)
        products += times * (flat @ flat.T)
    return products, with_labels
