"""Folds: stratified ones that keep every class in the training rows, and those that are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv

from mklkit.errors import DataError, SpecError, counted, plain_message
from mklkit.protocols.component import check_whole, is_whole

Rows = NDArray[np.intp]

USUAL_FOLDS = 5
"""As in scikit-learn."""


@attrs.frozen(eq=False)
class FoldPlan:
    """Repeated stratified folds; the row of a single-row class is always used for training."""

    folds: int
    repeats: int
    notes: list[str]
    rows: Rows
    """The rows that take part in the folds."""
    always: Rows
    """The rows that are used for training in every fold."""

    def splits(self, labels: NDArray[Any], seed: Any) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to train on and to score, fold by fold."""
        _, codes = np.unique(labels[self.rows], return_inverse=True)
        splitter = RepeatedStratifiedKFold(
            n_splits=self.folds, n_repeats=self.repeats, random_state=seed
        )
        for train, scored in splitter.split(self.rows, codes):
            yield np.sort(np.concatenate([self.rows[train], self.always])), self.rows[scored]


def plan_folds(labels: NDArray[Any], folds: int, repeats: int = 1) -> FoldPlan:
    """Return a plan with as many folds as the smallest class allows; its notes say if fewer.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    folds : int
        The wished number, at least 2.
    repeats : int, default=1
        How often the rows are divided into folds, each time differently.

    Raises
    ------
    SpecError
        If there are fewer than two folds or no repeats.
    DataError
        If no class has two rows, so that nothing can be scored.

    Examples
    --------
    >>> plan_folds(np.array(list("aaabbc")), folds=5).notes  # doctest: +NORMALIZE_WHITESPACE
    ['1 class has a single row, always trained on and never scored',
     '2 folds instead of 5: the smallest class has 2 rows']
    """
    check_whole("folds", folds, 2)
    check_whole("repeats", repeats, 1)
    _, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    single = counts[codes] == 1
    rows, always = np.flatnonzero(~single), np.flatnonzero(single)
    if len(rows) == 0:
        raise DataError(
            "Every class has a single row, so nothing can be scored. Cross-validation needs"
            " a class of at least two rows."
        )
    notes = []
    if len(always):
        notes.append(_single_rows_note(len(always)))
    fewest = int(counts[counts > 1].min())
    if fewest < folds:
        notes.append(f"{fewest} folds instead of {folds}: the smallest class has {fewest} rows")
    return FoldPlan(min(folds, fewest), repeats, notes, rows, always)


def _single_rows_note(n_classes: int) -> str:
    have = "has" if n_classes == 1 else "have"
    return f"{counted(n_classes, 'class')} {have} a single row, always trained on and never scored"


def splits_of(
    cv: Any,
    X: Any,
    codes: NDArray[np.intp],
    classes: NDArray[Any],
    seed: int,
    kept: NDArray[np.bool_] | None = None,
    repeats: int = 1,
) -> tuple[list[tuple[Rows, Rows]], list[str]]:
    """Return the rows to train on and to score of each fold, and notes on the folds.

    ``cv`` is a number of shuffled stratified folds (None: five), a splitter, or a list of (training
    rows, scored rows), which may number rows that are not all ``kept`` in X. A fold whose training
    rows lack a class of several rows is refused.
    """
    if cv is None:
        cv = USUAL_FOLDS
    if is_whole(cv) and cv >= 2:
        plan = plan_folds(codes, int(cv), repeats)
        return list(plan.splits(codes, seed)), plan.notes
    if not isinstance(cv, Sequence):
        kept = None
    rows = np.arange(len(codes) if kept is None else len(kept))
    splits_given = given_splits(cv, X, codes, rows, True)
    if kept is not None:
        places = np.cumsum(kept) - 1
        splits_given = [(places[a[kept[a]]], places[b[kept[b]]]) for a, b in splits_given]
    splits = []
    moved: set[int] = set()
    for fold, (training, scored) in enumerate(splits_given):
        absent = np.setdiff1d(codes, codes[training])
        if (np.bincount(codes)[absent] > 1).any():
            raise DataError(
                f"The training rows of fold {fold} lack class"
                f" {classes.tolist()[absent[0]]!r}; use stratified folds."
            )
        moved.update(absent.tolist())
        single = np.isin(codes[scored], absent)
        splits.append((np.concatenate([training, scored[single]]), scored[~single]))
    return splits, [_single_rows_note(len(moved))] if moved else []


def given_splits(
    cv: Any, X: NDArray[Any], y: NDArray[Any], rows: Rows, classifier: bool
) -> list[tuple[Rows, Rows]]:
    """Return the folds of a splitter or list, of which ``rows`` are the rows that it may name."""
    reason = "it gives no fold"
    try:
        parts = check_cv(cv, y, classifier=classifier).split(X, y)
        splits = [(rows[training], rows[scored]) for training, scored in parts]
    except (TypeError, ValueError, IndexError) as error:
        splits, reason = [], plain_message(error)
    if not splits:
        raise SpecError(
            "cv must be a number of folds (at least 2), a splitter, or a list of (training rows,"
            f" test rows); got {cv!r:.80}: {reason:.200}."
        )
    return splits
