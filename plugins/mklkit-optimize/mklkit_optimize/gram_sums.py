"""Sums over the views' Gram matrices, which the optimisers need."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np

from mklkit.plugin import Array, Views

TILE = 512


def gram_stack(views: Views) -> Array:
    """Return all Gram matrices (M, N, N), for methods that sum them with new weights per step."""
    stack = np.empty((len(views), len(views.rows), len(views.rows)))
    for block, other, tiles in _tiles(views):
        for index, tile in tiles:
            stack[index, block, other] = (tile + tile.T) / 2 if block == other else tile
            if block != other:
                stack[index, other, block] = tile.T
    return stack


def quadratic_forms(views: Views, coefficients: Array) -> Array:
    """Return cᵀK_m c per kernel (M,), from the tiles of the rows where c is not zero."""
    if views.explicit:
        return np.array([float(np.sum(view.project_back(coefficients) ** 2)) for view in views])
    support = np.flatnonzero(coefficients)
    kept = coefficients[support]
    forms = np.zeros(len(views))
    for block, other, tiles in _tiles(views.restricted(support)):
        times = 1 if block == other else 2
        for index, tile in tiles:
            forms[index] += times * float(kept[block] @ (tile @ kept[other]))
    return forms


def _tiles(views: Views) -> Iterator[tuple[slice, slice, Iterator[tuple[int, Array]]]]:
    """Yield rows, columns and each kernel's tile, on and above the diagonals."""
    kernels = views.learner_kernels
    starts = range(0, len(views.rows), TILE)
    for start, second in combinations_with_replacement(starts, 2):
        block, other = slice(start, start + TILE), slice(second, second + TILE)
        yield block, other, kernels.take(block).similarities(kernels.take(other))
