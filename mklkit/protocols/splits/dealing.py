"""How samples are dealt to folds: in random order, stratified for classes, with whole groups.

Every class is trained on in every fold: the only sample or group of a class is never tested.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from mklkit.errors import DataError, counted
from mklkit.protocols.splits.split import Indices


@attrs.frozen(eq=False)
class SplitRows:
    """The samples to split.

    Attributes
    ----------
    targets : ndarray of shape (N,) or (N, T)
        Labels, or numbers.
    codes : ndarray of shape (N,), optional
        The number of each sample's class; None if the targets are no classes.
    groups : ndarray of shape (N,), optional
        The group of each sample, such as its patient.
    """

    targets: NDArray[np.generic]
    codes: NDArray[np.intp] | None = None
    groups: NDArray[np.generic] | None = None

    def __len__(self) -> int:
        """Return the number of samples N."""
        return len(self.targets)

    @property
    def unit(self) -> str:
        """What is dealt to folds: "sample" or "group"."""
        return "sample" if self.groups is None else "group"

    @property
    def units(self) -> NDArray[np.intp]:
        """The number of each sample's unit (N,)."""
        if self.groups is None:
            return np.arange(len(self))
        return np.asarray(np.unique(self.groups, return_inverse=True)[1])

    def units_of_classes(self) -> NDArray[np.intp]:
        """Return how many units each class has, (C,)."""
        assert self.codes is not None
        pairs = np.unique(np.column_stack([self.codes, self.units]), axis=0)
        return np.bincount(pairs[:, 0])


@attrs.frozen(eq=False)
class Deal:
    """How many folds samples can be dealt to, which of them are dealt, and notes."""

    rows: SplitRows
    n_folds: int
    dealt: NDArray[np.bool_]
    """Which samples are dealt; the others are always trained on."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, rows: SplitRows, n_folds: int, least: int = 1) -> Deal:
        """Return how samples are dealt to up to ``n_folds`` folds; DataError if two are impossible.

        Without classes, each fold has ``least`` samples or more.
        """
        return cls._any(rows, n_folds, least) if rows.codes is None else cls._classes(rows, n_folds)

    @classmethod
    def _any(cls, rows: SplitRows, n_folds: int, least: int) -> Deal:
        n_rows, n_units = len(rows), len(np.unique(rows.units))
        if n_rows < 2 * least:
            raise DataError(f"Two folds need at least {2 * least} samples; got {n_rows}.")
        if n_units < 2:
            raise DataError("All samples belong to one group, so there is no other group to score.")
        fewest = min(n_rows // least, n_units)
        notes: tuple[str, ...] = ()
        if fewest < n_folds:
            there = counted(n_rows if rows.groups is None else n_units, rows.unit)
            notes = (f"{fewest} folds instead of {n_folds}: there are {there}",)
        return cls(rows, min(n_folds, fewest), np.ones(n_rows, bool), notes)

    @classmethod
    def _classes(cls, rows: SplitRows, n_folds: int) -> Deal:
        units = rows.units
        counts = rows.units_of_classes()
        unit = rows.unit
        alone = np.isin(units, units[counts[rows.codes] == 1])
        n_units = len(np.unique(units[~alone]))
        if n_units < 2:
            raise DataError(
                f"Every class has a single {unit}, so nothing can be scored. Cross-validation needs"
                f" a class of at least two {unit}s."
            )
        notes = [single_note(int((counts == 1).sum()), unit)] if alone.any() else []
        fewest = min(int(counts[counts > 1].min()), n_units)
        if fewest < n_folds:
            notes.append(
                f"{fewest} folds instead of {n_folds}: the smallest class has {fewest} {unit}s"
            )
        return cls(rows, min(n_folds, fewest), ~alone, tuple(notes))

    def folds(self, generator: np.random.RandomState) -> Indices:
        """Return the fold of each sample (N,), -1 if it is always trained on."""
        codes, groups = self.rows.codes, self.rows.groups
        places = np.flatnonzero(self.dealt)
        fold_of = np.full(len(self.rows), -1)
        of_classes = np.zeros(len(places), np.intp) if codes is None else codes[places]
        stratified, together = codes is not None, groups is not None
        splitters = {
            (False, False): KFold,
            (False, True): GroupKFold,
            (True, False): StratifiedKFold,
            (True, True): StratifiedGroupKFold,
        }
        if stratified and together:
            # scikit-learn warns of classes with fewer samples than folds, but here groups count.
            sizes = np.bincount(of_classes)
            of_classes = np.where(sizes[of_classes] < self.n_folds, sizes.argmax(), of_classes)
        kind = splitters[stratified, together]
        splitter = kind(self.n_folds, shuffle=True, random_state=generator)
        of_groups = None if groups is None else groups[places]
        for fold, (_, test) in enumerate(splitter.split(of_classes, of_classes, of_groups)):
            fold_of[places[test]] = fold
        if codes is not None and groups is not None:
            return _with_every_class(fold_of, codes, groups)
        return fold_of


def single_note(n_classes: int, unit: str = "sample") -> str:
    """Return a note on classes whose only sample or group is never scored."""
    have = "has" if n_classes == 1 else "have"
    classes = counted(n_classes, "class")
    return f"{classes} {have} a single {unit}, always trained on and never scored"


def _with_every_class(
    fold_of: Indices, codes: NDArray[np.intp], groups: NDArray[np.generic]
) -> Indices:
    """Return folds of groups such that the samples outside each fold have every class.

    A group of a class that is only in one fold is trained on in all folds, with number -1.
    """
    kept = fold_of.copy()
    for code in np.unique(codes):
        folds = np.unique(kept[codes == code])
        if len(folds) == 1 and folds[0] >= 0:
            names, counts = np.unique(groups[codes == code], return_counts=True)
            kept[groups == names[counts.argmin()]] = -1
    return kept
