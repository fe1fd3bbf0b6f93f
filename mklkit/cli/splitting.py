"""Splits of the rows that keep every class in training, however few its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from mklkit.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.intp]

__all__ = ["FoldPlan", "Split", "hold_out", "plan_folds"]


@attrs.frozen(eq=False)
class Split:
    """Row numbers to train on and to hold out, and how they were chosen in words."""

    train: Rows
    held_out: Rows
    kind: str


def hold_out(labels: NDArray[np.generic], share: float, seed: int) -> Split:
    """Choose the rows to hold out.

    Stratified where every class has a row to spare; otherwise at random among the rows that
    their class can spare, so that no class is missing in training.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    share : float
        The share of rows to hold out, from 0 up to but not including 1.
    seed : int
        Seed of the choice.

    Returns
    -------
    Split
        With no row held out where ``share`` is 0 or no class has a row to spare.
    """
    import numpy as np
    from sklearn.model_selection import train_test_split

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
    # One row of each class is spoken for; the others can be held out.
    shuffled = np.random.default_rng(seed).permutation(every)
    _, first = np.unique(codes[shuffled], return_index=True)
    spare = np.delete(shuffled, first)[:n_held_out]
    if len(spare) == 0:
        return Split(every, spare, "none, every class has a single row")
    return Split(np.setdiff1d(every, spare), np.sort(spare), "at random, too few rows to stratify")


@attrs.frozen(eq=False)
class FoldPlan:
    """Repeated stratified folds; rows that are their class's only one are always trained on."""

    folds: int
    repeats: int
    notes: list[str]
    rows: Rows
    """The rows that take part in the folds."""
    always: Rows
    """The rows that are trained on in every fold."""

    def splits(self, labels: NDArray[np.generic], seed: int) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to train on and to score, fold by fold."""
        import numpy as np
        from sklearn.model_selection import RepeatedStratifiedKFold

        _, codes = np.unique(labels[self.rows], return_inverse=True)
        splitter = RepeatedStratifiedKFold(
            n_splits=self.folds, n_repeats=self.repeats, random_state=seed
        )
        for train, scored in splitter.split(self.rows, codes):
            yield np.sort(np.concatenate([self.rows[train], self.always])), self.rows[scored]


def plan_folds(labels: NDArray[np.generic], folds: int, repeats: int) -> FoldPlan:
    """Settle how many folds the smallest class allows.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    folds : int
        As many as wished, at least 2.
    repeats : int
        How often the rows are dealt into folds.

    Returns
    -------
    FoldPlan
        ``notes`` says where it is not as wished.

    Raises
    ------
    DataError
        If no class has two rows, so that nothing can be scored.
    """
    import numpy as np

    _, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    single = counts[codes] == 1
    rows, always = np.flatnonzero(~single), np.flatnonzero(single)
    if len(rows) == 0:
        raise DataError(
            "Every class has a single row: nothing is left to score. Cross-validation needs"
            " classes of at least two rows."
        )
    notes = []
    if len(always):
        classes = "1 class has" if len(always) == 1 else f"{len(always)} classes have"
        notes.append(f"{classes} a single row, always trained on and never scored")
    fewest = int(counts[counts > 1].min())
    if fewest < folds:
        notes.append(f"{fewest} folds instead of {folds}: the smallest class has {fewest} rows")
    return FoldPlan(min(folds, fewest), repeats, notes, rows, always)
