"""The parameter C of support vector machines, chosen by a short cross-validation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mklkit.learners.support_vectors import SVMSolution, solve_dual, solve_svr
from mklkit.protocols import Array, TrainingView

__all__ = ["choose_C", "choose_C_of_regression"]

FACTORS = (1.0, 10.0, 100.0)
"""Over the mean k(x, x) of the training rows, which is 1 for normalised kernels."""
UNTRIED = 10.0
FOLDS = 3
MOST_ROWS = 300
MOST_COMPARED = 5000
MOST_STEPS = 100_000
"""libsvm's steps per trial, a limit for kernels of very large values."""


def choose_C(side: TrainingView, y: Array, row_weights: Array | None = None) -> float:
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
    >>> choose_C(GramSide(rows @ rows.T / np.mean(rows**2)), np.sign(rows[:, 0]))
    1.0
    """
    if side.explicit:
        weighted = row_weights is not None
        moments = side.class_moments(row_weights=row_weights) if weighted else side
        normal = moments.normal_matrix()
        similarity = side.project(normal.sums)
        size = float(normal.diagonal.sum()) / normal.total
    else:
        gram = side.gram()
        similarity = gram.sum(axis=0) if row_weights is None else row_weights @ gram
        size = float(np.average(np.diagonal(gram), weights=row_weights))
    unit = 1 / size if 0 < size < np.inf else 1.0
    counts = np.ones(len(y)) if row_weights is None else row_weights
    classes = [
        _distinct(side, members[np.argsort(similarity[members], kind="stable")], counts)
        for members in (np.flatnonzero(y == label) for label in (-1, 1))
    ]
    n_rows = sum(len(members) for members, _ in classes)
    places = [_evenly(len(members), n_rows) for members, _ in classes]
    if min(map(len, places)) < FOLDS:
        return UNTRIED * unit
    rows, repeats = (
        np.concatenate([pair[part][taken] for pair, taken in zip(classes, places, strict=True)])
        for part in (0, 1)
    )
    folds = np.concatenate([np.arange(len(taken)) % FOLDS for taken in places])
    if side.explicit:
        features = side.some_features(rows)
    inner = features @ features.T if side.explicit else gram[np.ix_(rows, rows)]
    labels = y[rows]

    def solve(training: NDArray[np.intp], C: float) -> SVMSolution:
        known = inner[np.ix_(training, training)]
        weights = repeats[training]
        return solve_dual(known, labels[training], C, max_iter=MOST_STEPS, row_weights=weights)

    def wrong(held_out: NDArray[np.intp], values: Array) -> float:
        return float(repeats[held_out] @ ((values > 0) != (labels[held_out] > 0)))

    return _best(inner, folds, unit, solve, wrong)


def choose_C_of_regression(
    columns: Array, y: Array, epsilon: float, spread: float, explicit: bool
) -> float:
    """Return the C of least absolute error in three folds; among equals the smallest.

    Rows are taken evenly, and dealt to folds, in the order of their targets. C is 1, 10 or 100
    times the spread of the target over the mean k(x, x).
    """
    squares = np.einsum("ij,ij->i", columns, columns) if explicit else np.diagonal(columns)
    size = float(squares.mean())
    unit = spread / size if 0 < size < np.inf else spread
    count = min(len(y), MOST_ROWS)
    if count < 2 * FOLDS:
        return UNTRIED * unit
    places = np.linspace(0, len(y) - 1, count).round().astype(np.intp)
    rows = np.argsort(y, kind="stable")[places]
    inner = columns[rows] @ columns[rows].T if explicit else columns[np.ix_(rows, rows)]
    targets = y[rows]

    def solve(training: NDArray[np.intp], C: float) -> SVMSolution:
        known = inner[np.ix_(training, training)]
        return solve_svr(known, targets[training], C, epsilon, max_iter=MOST_STEPS)

    def error(held_out: NDArray[np.intp], values: Array) -> float:
        return float(np.abs(values - targets[held_out]).sum())

    return _best(inner, np.arange(count) % FOLDS, unit, solve, error)


def _best(
    gram: Array,
    folds: NDArray[np.intp],
    unit: float,
    solve: Callable[[NDArray[np.intp], float], SVMSolution],
    error: Callable[[NDArray[np.intp], Array], float],
) -> float:
    """Return the C of least error, summed over the folds; among equals the smallest."""
    candidates = [factor * unit for factor in FACTORS]
    errors = np.zeros(len(candidates))
    for place, C in enumerate(candidates):
        for fold in range(FOLDS):
            training, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            solution = solve(training, C)
            columns = gram[np.ix_(held_out, training)]
            errors[place] += error(held_out, columns @ solution.coefficients + solution.bias)
    # Sums of weights of the same rows may differ by rounding.
    least = errors.min() + 1e-12 * errors.max()
    return candidates[int(np.argmax(errors <= least))]


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
