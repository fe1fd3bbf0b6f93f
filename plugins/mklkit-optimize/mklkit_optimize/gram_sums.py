"""Sums over the views' Gram matrices: what the optimisers read of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit import View, ViewSet, symmetric_tiles

__all__ = ["Array", "gram_stack", "mean_diagonals", "quadratic_forms", "weighted_gram"]

Array = NDArray[np.floating[Any]]


def gram_stack(views: ViewSet) -> Array:
    """Return all Gram matrices, (M, N, N): for methods that sum them anew at every step."""
    stack = np.empty((len(views), len(views.rows), len(views.rows)))
    if views.explicit:
        for gram, view in zip(stack, views, strict=True):
            np.matmul(view.features(), view.features().T, out=gram, casting="same_kind")
        return stack
    for block, other, tiles in symmetric_tiles(*_kernels_and_rows(views)):
        for index, tile in tiles:
            stack[index, block, other] = (tile + tile.T) / 2 if block == other else tile
            if block != other:
                stack[index, other, block] = tile.T
    return stack


def weighted_gram(views: ViewSet, weights: Array) -> Array:
    """Return Σ w_m K_m, (N, N), in one matrix of memory."""
    side = views.weighted(weights)
    if views.explicit:
        features = np.asarray(side.features(), dtype=np.float64)
        return features @ features.T
    return np.asarray(side.gram(keep=False), dtype=np.float64)


def mean_diagonals(views: ViewSet) -> Array:
    """Return each Gram matrix's trace over N, (M,)."""
    return np.array([_diagonal(view).mean(dtype=np.float64) for view in views])


def _diagonal(view: View) -> Array:
    if view.explicit:
        features = view.features()
        return np.einsum("ij,ij->i", features, features)
    return view.kernel.diagonal(view.rows)


def quadratic_forms(views: ViewSet, coefficients: Array) -> Array:
    """Return cᵀK_m c for each kernel, (M,), from the tiles of the rows where c isn't zero."""
    if views.explicit:
        return np.array([float(np.sum(view.project_back(coefficients) ** 2)) for view in views])
    support = np.flatnonzero(coefficients)
    kept = coefficients[support]
    kernels, rows = _kernels_and_rows(views)
    cuts: dict[int, Array] = {}
    # Kernels that see the same array share distances; they must go on seeing the same one.
    own_rows = [cuts.setdefault(id(array), array[support]) for array in rows]
    forms = np.zeros(len(views))
    for block, other, tiles in symmetric_tiles(kernels, own_rows):
        times = 1 if block == other else 2
        for index, tile in tiles:
            forms[index] += times * float(kept[block] @ (tile @ kept[other]))
    return forms


def _kernels_and_rows(views: ViewSet) -> tuple[list[Any], list[Array]]:
    return [view.kernel for view in views], [view.rows for view in views]
