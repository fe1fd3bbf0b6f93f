"""A problem: some rows of the training data, and what is to be learned of them at once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array, Target, Task

__all__ = ["ALL_ROWS", "Problem", "WholeProblem"]

ALL_ROWS = "all rows"
"""The name of the one problem of an estimator that learns from all rows at once."""


class Problem(Protocol):
    """One of the problems into which an estimator's target is divided."""

    @property
    def key(self) -> Hashable:
        """What tells it from the other problems of the estimator."""
        ...

    def rows(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Return the indices of its rows, by the values of all rows (N,)."""
        ...

    def target(self, values: NDArray[Any], dtype: Any, row_weights: Array | None = None) -> Target:
        """Return the target of its rows, by their values and their weights (n,)."""
        ...


@attrs.frozen
class WholeProblem:
    """All rows at once: several classes, numbers, or rows without labels.

    Attributes
    ----------
    task : Task
    column : int, optional
        The column of numbers that is learned, where they are several; all of them if not given.
    """

    task: Task
    column: int | None = None

    @property
    def key(self) -> Hashable:
        """The task and the column."""
        return self.task, self.column

    def rows(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Return the indices of all rows."""
        return np.arange(len(values))

    def target(self, values: NDArray[Any], dtype: Any, row_weights: Array | None = None) -> Target:
        """Return the target of values (N,) or (N, T)."""
        one = values if self.column is None else values[:, self.column]
        return Target(self.task, np.asarray(one, dtype), row_weights)
