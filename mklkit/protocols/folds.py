"""Folds of rows: shuffled, stratified for classes, without dividing groups of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from mklkit.errors import DataError, counted
from mklkit.protocols.component import check_whole

Rows = NDArray[np.intp]


@attrs.frozen(eq=False)
class FoldPlan:
    """Repeated stratified folds; the only row or group of a class is always used for training."""

    folds: int
    repeats: int
    notes: list[str]
    rows: Rows
    """The rows that are divided into folds."""
    always: Rows
    """The rows that are used for training in every fold."""
    groups: NDArray[Any] | None = None

    def splits(self, labels: NDArray[Any], seed: Any) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to train on and to score, fold by fold."""
        _, codes = np.unique(labels, return_inverse=True)
        generator = check_random_state(seed)
        for _ in range(self.repeats):
            fold_of = np.full(len(codes), -1)
            groups = None if self.groups is None else self.groups[self.rows]
            fold_of[self.rows] = dealt(self.folds, generator, codes[self.rows], groups)
            if self.groups is not None:
                fold_of = _with_every_class(fold_of, codes, self.groups)
            for fold in range(self.folds):
                yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)


def plan_folds(
    labels: NDArray[Any], folds: int, repeats: int = 1, groups: NDArray[Any] | None = None
) -> FoldPlan:
    """Return a plan with up to the requested folds; fewer, with a note, for a small class.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    folds : int
        The requested number, at least 2.
    repeats : int, default=1
        How often the rows are divided into folds, each time differently.
    groups : ndarray of shape (n_rows,), optional
        The group of each row, such as its patient. Rows of a group are in the same fold.

    Raises
    ------
    SpecError
        If there are fewer than two folds or no repeats.
    DataError
        If no class has two rows, or rows of two groups, so that nothing can be scored.

    Examples
    --------
    >>> plan_folds(np.array(list("aaabbc")), folds=5).notes  # doctest: +NORMALIZE_WHITESPACE
    ['1 class has a single row, always trained on and never scored',
     '2 folds instead of 5: the smallest class has 2 rows']
    >>> patients = np.array([1, 1, 2, 2, 3, 3])
    >>> plan = plan_folds(np.array(list("abaabb")), folds=2, groups=patients)
    >>> folds = plan.splits(np.array(list("abaabb")), 0)
    >>> [set(patients[train]) & set(patients[scored]) for train, scored in folds]
    [set(), set()]
    """
    check_whole("folds", folds, 2)
    check_whole("repeats", repeats, 1)
    _, codes = np.unique(labels, return_inverse=True)
    unit, units = "row", np.arange(len(codes))
    if groups is not None:
        unit, units = "group", np.unique(groups, return_inverse=True)[1]
    pairs = np.unique(np.column_stack([codes, units]), axis=0)
    counts = np.bincount(pairs[:, 0])
    single = np.isin(units, pairs[counts[pairs[:, 0]] == 1, 1])
    rows, always = np.flatnonzero(~single), np.flatnonzero(single)
    if len(np.unique(units[rows])) < 2:
        raise DataError(
            f"Every class has a single {unit}, so nothing can be scored. Cross-validation needs"
            f" a class of at least two {unit}s."
        )
    notes = []
    if len(always):
        notes.append(single_note(int((counts == 1).sum()), unit))
    fewest = min(int(counts[counts > 1].min()), len(np.unique(units[rows])))
    if fewest < folds:
        notes.append(f"{fewest} folds instead of {folds}: the smallest class has {fewest} {unit}s")
    return FoldPlan(min(folds, fewest), repeats, notes, rows, always, groups)


def single_note(n_classes: int, unit: str = "row") -> str:
    """Return a note on classes whose only row or group is never scored."""
    have = "has" if n_classes == 1 else "have"
    classes = counted(n_classes, "class")
    return f"{classes} {have} a single {unit}, always trained on and never scored"


def dealt(
    n_folds: int,
    generator: np.random.RandomState,
    codes: NDArray[np.intp],
    groups: NDArray[Any] | None = None,
    stratified: bool = True,
) -> Rows:
    """Return the fold of each row (N,), by class numbers (N,) if folds are stratified."""
    if groups is not None:
        kind = StratifiedGroupKFold if stratified else GroupKFold
    else:
        kind = StratifiedKFold if stratified else KFold
    if groups is not None and stratified:
        # scikit-learn warns of classes with fewer rows than folds, but here groups count.
        counts = np.bincount(codes)
        codes = np.where(counts[codes] < n_folds, counts.argmax(), codes)
    fold_of = np.empty(len(codes), np.intp)
    splitter = kind(n_folds, shuffle=True, random_state=generator)
    for fold, (_, held_out) in enumerate(splitter.split(codes, codes, groups)):
        fold_of[held_out] = fold
    return fold_of


def _with_every_class(fold_of: Rows, codes: NDArray[np.intp], groups: NDArray[Any]) -> Rows:
    """Return folds of groups such that the rows outside each fold have every class.

    A group of a class that is only in one fold is trained on in all folds, with number -1.
    """
    kept = fold_of.copy()
    for code in np.unique(codes):
        folds = np.unique(kept[codes == code])
        if len(folds) == 1 and folds[0] >= 0:
            names, counts = np.unique(groups[codes == code], return_counts=True)
            kept[groups == names[counts.argmin()]] = -1
    return kept
