"""The target: what is to be learned of the training rows, and how much each of them counts."""

from __future__ import annotations

from typing import Literal, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols.arrays import Array

__all__ = ["TASK_NAMES", "Target", "Task"]

Task = Literal["two classes", "several classes", "numbers", "none"]
"""What the values of a target are."""

TASK_NAMES: dict[Task, str] = {
    "two classes": "two classes",
    "several classes": "several classes in one fit",
    "numbers": "numbers (regression)",
    "none": "rows without labels",
}
"""What a component that can't do a task is said to be unable to learn."""


@attrs.frozen(eq=False)
class Target:
    """What is to be learned of N training rows.

    Attributes
    ----------
    task : {"two classes", "several classes", "numbers", "none"}
    values : ndarray of shape (N,) or (N, T)
        −1 and +1 of two classes, class numbers 0, 1, … of several, or numbers; T columns where
        several numbers are learned at once; zeros where there is nothing to learn.
    row_weights : ndarray of shape (N,), optional
        How much each row counts, above 0: a row of weight 2 as much as the same row twice. None
        where all rows count the same.

    Examples
    --------
    >>> target = Target.two_classes(np.array([-1.0, 1.0, 1.0]))
    >>> target.task, len(target), target.take(np.array([0, 2])).values
    ('two classes', 3, array([-1.,  1.]))
    """

    task: Task
    values: Array
    row_weights: Array | None = None

    @classmethod
    def two_classes(cls, labels: Array, row_weights: Array | None = None) -> Self:
        """Return the target of labels −1 and +1 (N,)."""
        return cls("two classes", labels, row_weights)

    @classmethod
    def several_classes(cls, codes: Array, row_weights: Array | None = None) -> Self:
        """Return the target of class numbers (N,)."""
        return cls("several classes", codes, row_weights)

    @classmethod
    def numbers(cls, values: Array, row_weights: Array | None = None) -> Self:
        """Return the target of numbers (N,), or (N, T) for several at once."""
        return cls("numbers", values, row_weights)

    @classmethod
    def nothing(cls, n_rows: int, row_weights: Array | None = None) -> Self:
        """Return the target of rows without labels."""
        return cls("none", np.zeros(n_rows), row_weights)

    def __len__(self) -> int:
        """Return the number of rows N."""
        return len(self.values)

    @property
    def counts(self) -> Array:
        """How much each row counts, (N,): its weight, or 1."""
        return np.ones(len(self)) if self.row_weights is None else self.row_weights

    def take(self, members: NDArray[np.intp]) -> Self:
        """Return the target of some of the rows."""
        weights = None if self.row_weights is None else self.row_weights[members]
        return attrs.evolve(self, values=self.values[members], row_weights=weights)
