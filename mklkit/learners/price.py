"""The parameter C of the support vector machine, chosen by a short cross-validation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklkit.learners.support_vectors import solve_dual
from mklkit.protocols import Array, TrainingView

__all__ = ["choose_price"]

PRICES = (1.0, 10.0, 100.0)
"""Divided by the mean k(x, x) of the training rows, which is 1 for normalised kernels."""
UNTRIED = 10.0
FOLDS = 3
MOST_ROWS = 300
MOST_COMPARED = 5000
MOST_STEPS = 100_000
"""libsvm's steps per trial, a limit for kernels of very large values."""


def choose_price(side: TrainingView, y: Array, row_weights: Array | None = None) -> float:
    """Return the C with the best accuracy in three folds; among equals the smallest.

    Parameters
    ----------
    side : TrainingView
        A Gram matrix, or features, of which inner products are computed.
    y : ndarray of shape (N,)
        −1 and +1.
    row_weights : ndarray of shape (N,), optional
        How much each row counts, in the folds' fits and in their accuracy; 1 where not given.

    Returns
    -------
    float
        1, 10 or 100 over the mean k(x, x); 10 over it if a class has fewer than three rows.

    Notes
    -----
    Uses about 300 rows at most: nine support vector machines on 200 rows each, besides O(N²) for
    reading a Gram matrix or O(Np²) for features, of which those rows alone are in memory. There is
    no randomness: rows are taken from each class and assigned to folds in the order of their mean
    similarity to all rows, so that their order in the data does not matter. Equal rows of a class
    are one row that counts as often, so that no row is both learned from and scored; among more
    than 5,000 rows of features they are not looked for.

    Examples
    --------
    >>> from mklkit.views.sides import GramSide
    >>> rows = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0]])
    >>> choose_price(GramSide(rows @ rows.T / np.mean(rows**2)), np.sign(rows[:, 0]))
    1.0
    """
    if side.explicit:
        weighted = row_weights is not None
        normal = (
            side.class_moments(row_weights=row_weights).normal_matrix()
            if weighted
            else side.normal_matrix()
        )
        similarity = side.project(normal.sums)
        size = float(normal.diagonal.sum()) / normal.total
    else:
        gram = side.gram()
        similarity = gram.sum(axis=0) if row_weights is None else row_weights @ gram
        size = float(np.average(np.diagonal(gram), weights=row_weights))
    unit = 1 / size if 0 < size < np.inf else 1.0
    counts = np.ones(len(y)) if row_weights is None else row_weights
    classes = [
        _distinct(side, own[np.argsort(similarity[own], kind="stable")], counts)
        for own in (np.flatnonzero(y == label) for label in (-1, 1))
    ]
    n_rows = sum(len(members) for members, _ in classes)
    picked = [_evenly(len(members), n_rows) for members, _ in classes]
    if min(map(len, picked)) < FOLDS:
        return UNTRIED * unit
    rows, often = (
        np.concatenate([own[part][places] for own, places in zip(classes, picked, strict=True)])
        for part in (0, 1)
    )
    folds = np.concatenate([np.arange(len(places)) % FOLDS for places in picked])
    if side.explicit:
        features = side.some_features(rows)
    inner = features @ features.T if side.explicit else gram[np.ix_(rows, rows)]
    prices = [price * unit for price in PRICES]
    right = np.array([_weight_right(inner, y[rows], often, folds, price) for price in prices])
    # Sums of weights of the same rows may differ by rounding.
    return prices[int(np.argmax(right >= right.max() * (1 - 1e-12)))]


def _distinct(
    side: TrainingView, members: NDArray[np.intp], counts: Array
) -> tuple[NDArray[np.intp], Array]:
    """Return the different rows among members that are sorted by similarity, and their counts."""
    if len(members) < 2 or (side.explicit and side.n_rows > MOST_COMPARED):
        return members, counts[members]
    if side.explicit:
        values = side.some_features(members)
        gaps = np.abs(np.diff(values, axis=0)).max(axis=1)
    else:
        gram = side.gram()
        values = gram[members, members]
        beside = gram[members[1:], members[:-1]]
        gaps = np.maximum(np.abs(values[1:] - beside), np.abs(values[:-1] - beside))
    eps = float(np.finfo(values.dtype).eps)
    # Features along eigenvectors of a tiny eigenvalue have lost half of their digits.
    rounding = (4 * eps**0.5 if side.explicit else 100 * eps) * np.abs(values).max()
    firsts = np.concatenate([[0], 1 + np.flatnonzero(gaps > rounding)])
    return members[firsts], np.add.reduceat(counts[members], firsts)


def _evenly(n_members: int, n_rows: int) -> NDArray[np.intp]:
    """Return places of a class's rows, evenly spaced from the least to the most similar to all."""
    count = min(n_members, max(FOLDS, -(-MOST_ROWS * n_members // n_rows)))
    return np.linspace(0, n_members - 1, count).round().astype(np.intp)


def _weight_right(
    gram: Array, y: Array, counts: Array, folds: NDArray[np.intp], price: float
) -> float:
    """Return how much the rows count that their fold's fit has right."""
    right = 0.0
    for fold in range(FOLDS):
        training, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        known = gram[np.ix_(training, training)]
        solution = solve_dual(
            known, y[training], price, max_iter=MOST_STEPS, row_weights=counts[training]
        )
        values = gram[np.ix_(held_out, training)] @ solution.coefficients + solution.bias
        right += float(counts[held_out] @ ((values > 0) == (y[held_out] > 0)))
    return right
