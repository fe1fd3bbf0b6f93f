"""Targets: the values to learn.

Labels ``y`` are −1 and +1 (paper symbol φ) as float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self, get_args

import attrs
import numpy as np
from attrs.validators import and_, deep_iterable, in_, instance_of, min_len
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.protocols.rows import Array, protected
from mklkit.protocols.splits.split import Split, splits_by_fold

__all__ = ["TASK_NAMES", "Target", "Task"]

Task = Literal["two classes", "several classes", "numbers", "none"]
"""The kinds of targets."""

TASKS = deep_iterable(in_(get_args(Task)), and_(instance_of(tuple), min_len(1)))
"""The validator of a tuple of tasks."""

TASK_NAMES: dict[Task, str] = {
    "two classes": "two classes",
    "several classes": "several classes in one fit",
    "numbers": "numbers (regression)",
    "none": "rows without labels",
}
"""The names of tasks in messages on components that can't do them."""


@attrs.frozen(eq=False)
class Target:
    """What a model learns: the target of N training samples.

    All components of a fit share the arrays, so they are read-only.

    Parameters
    ----------
    task : {"two classes", "several classes", "numbers", "none"}
        What is learned.
    values : ndarray of shape (N,) or (N, T)
        −1 and +1 for two classes (paper symbol φ), class numbers 0, 1, … for several, or numbers; T
        columns if several numeric targets are learned at once; zeros without labels.
    row_weights : ndarray of shape (N,), optional
        The weight of each sample, above 0: a sample of weight 2 counts as much as the same sample
        twice. None if all count equally.
    groups : ndarray of int of shape (N,), optional
        The number of each sample's group, such as its patient. Choices on held-out samples are made
        on samples of other groups, as in :meth:`folds`. None if each sample is its own group.

    Attributes
    ----------
    counts : ndarray of shape (N,)
        The weight of each sample, 1 by default.

    See Also
    --------
    Learner.fit : A method that takes it.
    Combiner.fit : Another.

    Examples
    --------
    >>> target = Target.two_classes(np.array([-1.0, 1.0, 1.0]))
    >>> target.task, len(target), target.take(np.array([0, 2])).values
    ('two classes', 3, array([-1.,  1.]))
    """

    task: Task
    values: Array = attrs.field(converter=protected)
    row_weights: Array | None = attrs.field(default=None, converter=protected)
    groups: NDArray[np.intp] | None = attrs.field(default=None, converter=protected)

    @classmethod
    def two_classes(cls, labels: Array, row_weights: Array | None = None) -> Self:
        """Return the target of labels −1 and +1.

        Parameters
        ----------
        labels : ndarray of shape (N,)
            −1 and +1, as floats.
        row_weights : ndarray of shape (N,), optional
            The weight of each sample, above 0; by default all count equally.

        Returns
        -------
        Target
            With the task ``"two classes"``.
        """
        return cls("two classes", labels, row_weights)

    @classmethod
    def numbers(cls, values: Array, row_weights: Array | None = None) -> Self:
        """Return the target of one or several numeric targets.

        Parameters
        ----------
        values : ndarray of shape (N,) or (N, T)
            The numbers, one column per target.
        row_weights : ndarray of shape (N,), optional
            The weight of each sample, above 0; by default all count equally.

        Returns
        -------
        Target
            With the task ``"numbers"``.
        """
        return cls("numbers", values, row_weights)

    @classmethod
    def nothing(cls, n_rows: int, row_weights: Array | None = None) -> Self:
        """Return the target of samples without labels.

        Parameters
        ----------
        n_rows : int
            The number of samples N.
        row_weights : ndarray of shape (N,), optional
            The weight of each sample, above 0; by default all count equally.

        Returns
        -------
        Target
            With the task ``"none"``, and zeros as values.
        """
        return cls("none", np.zeros(n_rows), row_weights)

    def __len__(self) -> int:
        """Return the number of rows N."""
        return len(self.values)

    @property
    def counts(self) -> Array:
        """The weight of each row (N,), 1 by default."""
        return np.ones(len(self)) if self.row_weights is None else self.row_weights

    def take(self, members: NDArray[np.intp]) -> Self:
        """Return the target of some of the samples.

        Parameters
        ----------
        members : ndarray of int of shape (n,)
            Their positions.

        Returns
        -------
        Target
            The same task, with the values, weights and groups of these samples.
        """
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
        """Return splits into samples to train on and samples held out.

        The folds are shuffled, stratified for classes, and keep the samples of a group together.
        Every split trains on every class.

        Parameters
        ----------
        cv : int
            The number of folds; there are fewer if a class has fewer samples or groups.
        random_state : RandomState
            The source of the shuffling.
        fold_of : ndarray of int of shape (N,), optional
            The fold of each sample, which replaces shuffled folds if there are no groups.

        Returns
        -------
        sequence of Split
            Each unpacks into the positions of its training samples and of those held out. Empty if
            there can't be two folds.
        """
        from mklkit.protocols.splits.making import Folds, make_splits  # scikit-learn's splitters

        if fold_of is not None and self.groups is None:
            return splits_by_fold(fold_of, cv)
        request = Folds(cv, all_scored=True)
        has_classes = self.task != "numbers"
        try:
            return make_splits(
                self.values, request, seed=random_state, groups=self.groups, classes=has_classes
            )
        except DataError:
            return []
