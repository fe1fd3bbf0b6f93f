"""How rows are divided into those to train on and those to score: one part held out, or folds."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedKFold, train_test_split

from mklkit.errors import DataError
from mklkit.estimators.folds import Rows, given_splits, splits_of
from mklkit.numerics.sampling import own_stream
from mklkit.protocols.component import is_whole

MANY_ROWS = 200_000
"""With so many rows the shares of the classes in a random part are those of the whole."""

Folds = tuple[list[tuple[Rows, Rows]], list[str]]
"""The rows to train on and to score of each fold, and notes."""


@attrs.frozen(eq=False)
class Split:
    """Row numbers to train on and to hold out, with a description of the choice."""

    train: Rows
    held_out: Rows
    kind: str


def hold_out(labels: NDArray[np.generic], share: float, seed: int) -> Split:
    """Choose the rows to hold out.

    Stratified if every class can spare a row; otherwise at random among the rows that their class
    can spare, so that no class is missing in training.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    share : float
        The fraction of rows to hold out, from 0 up to but not including 1.
    seed : int
        The seed of the choice.

    Returns
    -------
    Split
        With no row held out where ``share`` is 0 or no class has a row to spare.
    """
    every = np.arange(len(labels))
    n_held_out = int(np.ceil(share * len(labels)))
    if n_held_out == 0:
        return Split(every, every[:0], "none")
    _, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    n_classes = len(counts)
    if counts.min() >= 2 and n_classes <= n_held_out <= len(labels) - n_classes:
        train, held = train_test_split(
            every, test_size=n_held_out, random_state=seed, stratify=codes
        )
        if len(np.unique(codes[train])) == n_classes:
            return Split(np.sort(train), np.sort(held), "stratified")
    # One row of each class stays in training; the others can be held out.
    shuffled = np.random.default_rng(seed).permutation(every)
    _, first = np.unique(codes[shuffled], return_index=True)
    spare = np.delete(shuffled, first)[:n_held_out]
    if len(spare) == 0:
        return Split(every, spare, "none, every class has a single row")
    return Split(np.setdiff1d(every, spare), np.sort(spare), "at random, too few rows to stratify")


def hold_out_any(targets: NDArray[Any], share: float, seed: int) -> Split:
    """Choose rows to hold out at random; two stay in training."""
    n_rows = len(targets)
    order = np.random.default_rng(seed).permutation(n_rows)
    count = max(0, min(int(np.ceil(share * n_rows)), n_rows - 2))
    kind = "at random" if count else "none"
    return Split(np.sort(order[count:]), np.sort(order[:count]), kind)


def held_out_mask(
    codes: NDArray[np.integer], share: float, seed: int
) -> tuple[NDArray[np.bool_], str]:
    """Return which of millions of rows are held out, chosen in little memory, and how.

    Rows with the class number -1 take no part. :func:`hold_out` chooses if there are few rows.
    """
    known = codes >= 0
    held = np.zeros(len(codes), dtype=bool)
    if known.sum() <= MANY_ROWS:
        places = np.flatnonzero(known)
        split = hold_out(codes[places], share, seed)
        held[places[split.held_out]] = True
        return held, split.kind
    if share == 0:
        return held, "none"
    held = known & (own_stream(seed).random(len(codes), dtype=np.float32) < share)
    trained = np.bincount(codes[known & ~held], minlength=int(codes.max()) + 1)
    for code in np.flatnonzero(trained == 0):
        held[np.flatnonzero(codes == code)[0]] = False
    return held, "at random"


def stratified_folds(cv: Any, labels: NDArray[Any], seed: Any, repeats: int = 1) -> Folds:
    """Return the folds of a number, splitter or list of them; of a number they are stratified."""
    classes, codes = np.unique(labels, return_inverse=True)
    return splits_of(cv, codes[:, None], codes, classes, seed, repeats=repeats)


def shuffled_folds(cv: Any, numbers: NDArray[Any], seed: Any, repeats: int = 1) -> Folds:
    """Return the folds of a number, splitter or list of them; of a number with two rows in each."""
    rows, notes = np.arange(len(numbers)), []
    if is_whole(cv) and cv >= 2:
        if len(rows) < 4:
            raise DataError(f"R² on folds needs four rows at least; there are {len(rows)}.")
        n_folds = min(int(cv), len(rows) // 2)
        if n_folds < cv:
            notes.append(f"{n_folds} folds instead of {cv}: there are {len(rows)} rows")
        cv = RepeatedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
    return given_splits(cv, rows[:, None], numbers, rows, False), notes
