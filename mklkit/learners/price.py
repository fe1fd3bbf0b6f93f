"""The parameter C of the support vector machine, chosen by a short cross-validation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklkit.learners.support_vectors import solve_dual
from mklkit.protocols import Array, TrainingSide

__all__ = ["choose_price"]

PRICES = (1.0, 10.0, 100.0)
"""Divided by the mean k(x, x) of the training rows, which is 1 for normalised kernels."""
UNTRIED = 10.0
FOLDS = 3
MOST_ROWS = 300
MOST_STEPS = 100_000
"""libsvm's steps per trial, a limit for kernels of very large values."""


def choose_price(side: TrainingSide, y: Array) -> float:
    """Return the C with the best accuracy in three folds; among equals the smallest.

    Parameters
    ----------
    side : TrainingSide
        A Gram matrix, or features, of which inner products are computed.
    y : ndarray of shape (N,)
        −1 and +1.

    Returns
    -------
    float
        1, 10 or 100 over the mean k(x, x); 10 over it if a class has fewer than three rows.

    Notes
    -----
    Uses about 300 rows at most: nine support vector machines on 200 rows each, besides O(N²) for
    reading a Gram matrix or O(Np²) for features, of which those rows alone are in memory. There is
    no randomness: rows are taken from each class and assigned to folds in the order of their mean
    similarity to all rows, so that their order in the data does not matter.

    Examples
    --------
    >>> from mklkit.views.sides import GramSide
    >>> rows = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0]])
    >>> choose_price(GramSide(rows @ rows.T / np.mean(rows**2)), np.sign(rows[:, 0]))
    1.0
    """
    if side.explicit:
        normal = side.normal_matrix()
        similarity = side.project(normal.sums)
        size = float(normal.diagonal.sum()) / side.n_rows
    else:
        gram = side.gram()
        similarity, size = gram.sum(axis=0), float(np.diagonal(gram).mean())
    unit = 1 / size if 0 < size < np.inf else 1.0
    classes = [_sample(similarity, np.flatnonzero(y == label), len(y)) for label in (-1, 1)]
    if min(len(members) for members in classes) < FOLDS:
        return UNTRIED * unit
    rows = np.concatenate(classes)
    folds = np.concatenate([np.arange(len(members)) % FOLDS for members in classes])
    if side.explicit:
        features = side.some_features(rows)
    inner = features @ features.T if side.explicit else gram[np.ix_(rows, rows)]
    prices = [price * unit for price in PRICES]
    right = np.array([_rows_right(inner, y[rows], folds, price) for price in prices])
    return prices[int(right.argmax())]


def _sample(similarity: Array, members: NDArray[np.intp], n_rows: int) -> NDArray[np.intp]:
    """Return rows of one class, evenly spaced from the least to the most similar to all."""
    count = min(len(members), max(FOLDS, -(-MOST_ROWS * len(members) // n_rows)))
    places = np.linspace(0, len(members) - 1, count).round().astype(np.intp)
    return members[np.argsort(similarity[members], kind="stable")][places]


def _rows_right(gram: Array, y: Array, folds: NDArray[np.intp], price: float) -> int:
    right = 0
    for fold in range(FOLDS):
        training, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        known = gram[np.ix_(training, training)]
        solution = solve_dual(known, y[training], price, max_iter=MOST_STEPS)
        values = gram[np.ix_(held_out, training)] @ solution.coefficients + solution.bias
        right += int(((values > 0) == (y[held_out] > 0)).sum())
    return right
