"""Targets: the values to learn.

Labels ``y`` are −1 and +1 (paper symbol φ) as float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.protocols.rows import Array, protected
from mklkit.protocols.splits.split import Split, splits_by_fold
from mklkit.protocols.target_kind import NO_TARGET, NUMBERS, TWO_CLASSES, TargetKind

__all__ = ["Target"]


@attrs.frozen(eq=False)
class Target:
    """The target of N training rows.

    Attributes
    ----------
    kind : TargetKind
        What the values are: two classes, several classes, numbers, none, or of a package's task.
    values : ndarray of shape (N,) or (N, T)
        −1 and +1 for two classes, class numbers 0, 1, … for several, or numbers; T columns if
        several numbers are learned at once; zeros without labels.
    row_weights : ndarray of shape (N,), optional
        The weight of each row, above 0: a row of weight 2 counts as much as the same row twice.
        None if all rows count equally.
    groups : ndarray of shape (N,), optional
        The number of each row's group, such as its patient. Choices on held-out rows are made on
        rows of other groups, as in :meth:`folds`. None if each row is its own group.

    All components of a fit share these arrays, so they are read-only.

    Examples
    --------
    >>> target = Target.two_classes(np.array([-1.0, 1.0, 1.0]))
    >>> target.kind.name, len(target), target.take(np.array([0, 2])).values
    ('two classes', 3, array([-1.,  1.]))
    """

    kind: TargetKind
    values: Array = attrs.field(converter=protected)
    row_weights: Array | None = attrs.field(default=None, converter=protected)
    groups: NDArray[np.intp] | None = attrs.field(default=None, converter=protected)

    @classmethod
    def two_classes(
        cls,
        labels: Array,
        row_weights: Array | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> Self:
        """Return the target of labels −1 and +1 (N,)."""
        return cls(TWO_CLASSES, labels, row_weights, groups)

    @classmethod
    def numbers(
        cls,
        values: Array,
        row_weights: Array | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> Self:
        """Return the target of numbers (N,), or (N, T) for several at once."""
        return cls(NUMBERS, values, row_weights, groups)

    @classmethod
    def nothing(cls, n_rows: int, row_weights: Array | None = None) -> Self:
        """Return the target of rows without labels."""
        return cls(NO_TARGET, np.zeros(n_rows), row_weights)

    def __len__(self) -> int:
        """Return the number of rows N."""
        return len(self.values)

    @property
    def counts(self) -> Array:
        """The weight of each row (N,), 1 by default."""
        return np.ones(len(self)) if self.row_weights is None else self.row_weights

    @property
    def is_several(self) -> bool:
        """Whether a learner decides several values per row instead of one."""
        return self.kind.is_several(self.values)

    @property
    def response(self) -> Array:
        """The numbers (N,) or (N, q) that stand for the target where kernels are aligned with it.

        They are centered if their zero is arbitrary; labels are not.
        """
        return protected(self.kind.response(self.values, self.row_weights))

    def losses(self, decided: Array) -> Array:
        """Return the loss (N,) of a decision value for each row (N,); smaller is better."""
        return self.kind.losses(decided, self.values)

    def take(self, members: NDArray[np.intp]) -> Self:
        """Return the target of some of the rows."""
        weights = None if self.row_weights is None else self.row_weights[members]
        groups = None if self.groups is None else self.groups[members]
        values = self.values[members]
        return attrs.evolve(self, values=values, row_weights=weights, groups=groups)

    def folds(
        self,
        cv: int,
        random_state: np.random.RandomState,
        fold_of: NDArray[np.intp] | None = None,
    ) -> Sequence[Split]:
        """Return at most ``cv`` splits into rows to train on and rows held out.

        Shuffled folds, stratified for classes, each of which has rows to train on; rows of a group
        are in the same fold. Empty if there can't be two. Rows without groups are in the folds
        ``fold_of`` (N,), if these are given.
        """
        from mklkit.protocols.splits.making import Folds, make_splits  # scikit-learn's splitters

        if fold_of is not None and self.groups is None:
            return splits_by_fold(fold_of, cv)
        strata = self.kind.strata(self.values)
        try:
            return make_splits(
                self.values,
                Folds(cv, all_scored=True),
                seed=random_state,
                groups=self.groups,
                strata=strata,
            )
        except DataError:
            return []
