"""Stratified folds that never take a class away from training, however few its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from mklkit.errors import DataError, SpecError, counted, quoted
from mklkit.protocols.component import is_whole

__all__ = ["FoldPlan", "Rows", "plan_folds", "single_rows_note"]

Rows = NDArray[np.intp]


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

    def splits(self, labels: NDArray[Any], seed: Any) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to train on and to score, fold by fold."""
        _, codes = np.unique(labels[self.rows], return_inverse=True)
        splitter = RepeatedStratifiedKFold(
            n_splits=self.folds, n_repeats=self.repeats, random_state=seed
        )
        for train, scored in splitter.split(self.rows, codes):
            yield np.sort(np.concatenate([self.rows[train], self.always])), self.rows[scored]


def plan_folds(labels: NDArray[Any], folds: int, repeats: int = 1) -> FoldPlan:
    """Settle how many folds the smallest class allows.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    folds : int
        As many as wished, at least 2.
    repeats : int, default=1
        How often the rows are dealt into folds.

    Returns
    -------
    FoldPlan
        ``notes`` says where it is not as wished.

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
    for name, given, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        if not is_whole(given) or given < least:
            raise SpecError(
                f"{name} must be a whole number, {least} or above; got {quoted(given)}."
            )
    _, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    single = counts[codes] == 1
    rows, always = np.flatnonzero(~single), np.flatnonzero(single)
    if len(rows) == 0:
        raise DataError(
            "Every class has a single row: nothing is left to score. Cross-validation needs"
            " a class of at least two rows."
        )
    notes = []
    if len(always):
        notes.append(single_rows_note(len(always)))
    fewest = int(counts[counts > 1].min())
    if fewest < folds:
        notes.append(f"{fewest} folds instead of {folds}: the smallest class has {fewest} rows")
    return FoldPlan(min(folds, fewest), repeats, notes, rows, always)


def single_rows_note(n_classes: int) -> str:
    """Say what becomes of classes of one row.

    Examples
    --------
    >>> single_rows_note(2)
    '2 classes have a single row, always trained on and never scored'
    """
    have = "has" if n_classes == 1 else "have"
    return f"{counted(n_classes, 'class')} {have} a single row, always trained on and never scored"
