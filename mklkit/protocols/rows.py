"""Rows and targets: arrays, rows of a table or a file, and the values to learn.

Shapes: ``n`` new rows, ``N`` training rows, ``M`` kernels (views), ``p`` columns of a map.
Labels ``y`` are −1 and +1 (paper symbol φ) as float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, Self, get_args, runtime_checkable

import attrs
import numpy as np
from attrs.validators import and_, deep_iterable, in_, instance_of, min_len
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.protocols.source_rows import SourceRows
from mklkit.protocols.splits.split import Split, splits_by_fold

__all__ = [
    "TASK_NAMES",
    "Array",
    "Reads",
    "RowSource",
    "Rows",
    "TableRows",
    "Target",
    "Task",
    "own_rows",
    "protected",
]

Array = NDArray[np.floating[Any]]
"""The array type of all protocols."""

Reads = Literal["numbers", "amounts", "text", "categories", "row ids"]
"""The kinds of values in the columns of a kernel."""

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


def protected(array: Any) -> Any:
    """Return a read-only view of an array, for components that share it; others unchanged.

    >>> labels = np.ones(2)
    >>> protected(labels).flags.writeable, labels.flags.writeable
    (False, True)
    """
    if isinstance(array, np.ndarray):
        array = array.view()
        array.flags.writeable = False
    return array


@attrs.frozen(eq=False)
class Target:
    """The target of N training rows.

    Attributes
    ----------
    task : {"two classes", "several classes", "numbers", "none"}
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
    >>> target.task, len(target), target.take(np.array([0, 2])).values
    ('two classes', 3, array([-1.,  1.]))
    """

    task: Task
    values: Array = attrs.field(converter=protected)
    row_weights: Array | None = attrs.field(default=None, converter=protected)
    groups: NDArray[np.intp] | None = attrs.field(default=None, converter=protected)

    @classmethod
    def two_classes(cls, labels: Array, row_weights: Array | None = None) -> Self:
        """Return the target of labels −1 and +1 (N,)."""
        return cls("two classes", labels, row_weights)

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
        """The weight of each row (N,), 1 by default."""
        return np.ones(len(self)) if self.row_weights is None else self.row_weights

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
        request = Folds(cv, all_scored=True)
        has_classes = self.task != "numbers"
        try:
            return make_splits(
                self.values, request, seed=random_state, groups=self.groups, classes=has_classes
            )
        except DataError:
            return []


Columns = NDArray[np.intp] | None
"""Positions in the table; None for all of them."""


@attrs.frozen(eq=False)
class TableRows:
    """Rows (n, d) in memory, with some columns of text or categories.

    It has the part of an array's interface that needs no columns: length, shape, and
    ``rows[members]``. Kernels get their columns from :func:`own_rows`.

    Attributes
    ----------
    numbers : ndarray of shape (n, d)
        The columns of numbers, at their positions; 0 in the others.
    texts : dict of int to ndarray of shape (n, L)
        The code points of columns of text that a kernel reads, as
        :func:`mklkit.registry.readings.text_codes` returns them; NaN for gaps.
    categories : dict of int to ndarray of shape (n,)
        The codes of columns of categories that a kernel reads, NaN for gaps that it skips.
    medians : ndarray of shape (d,), optional
        The values for gaps. A kernel gets :class:`SourceRows` if rows lack all its columns.
    """

    numbers: Array
    """The columns of numbers (n, d), at their positions; 0 in the others."""
    texts: Mapping[int, Array]
    """The code points (n, L) of each column of text that a kernel reads, by its position."""
    categories: Mapping[int, Array]
    """The codes (n,) of each column of categories that a kernel reads, NaN for gaps."""
    medians: Array | None = None
    """The values for gaps (d,), if rows may have some; NaN in columns whose gaps kernels skip."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        n_rows, n_columns = self.numbers.shape
        return n_rows, n_columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers, and so of labels and Gram matrices."""
        return self.numbers.dtype

    @property
    def parts(self) -> list[Array]:
        """All arrays that it consists of."""
        return [self.numbers, *self.texts.values(), *self.categories.values()]

    @property
    def nbytes(self) -> int:
        """The memory of all columns."""
        return sum(part.nbytes for part in self.parts)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    def __getitem__(self, members: slice | NDArray[np.intp], /) -> TableRows:
        """Return some of the rows."""
        return TableRows(
            self.numbers[members],
            {column: codes[members] for column, codes in self.texts.items()},
            {column: codes[members] for column, codes in self.categories.items()},
            self.medians,
        )

    def astype(self, dtype: Any) -> TableRows:
        """Return the rows with numbers of another type."""
        return attrs.evolve(self, numbers=self.numbers.astype(dtype))

    def filled(self) -> Array | TableRows:
        """Return the rows with medians in all gaps, which no longer lack a source."""
        numbers = self.numbers
        if self.medians is not None:
            numbers = np.where(np.isnan(numbers), self.medians, numbers).astype(numbers.dtype)
        plain = not (self.texts or self.categories)
        return numbers if plain else attrs.evolve(self, numbers=numbers, medians=None)

    def columns_read(self, columns: Columns, reads: Reads) -> Array | SourceRows:
        """Return what a kernel reads in its columns (n, k), or (n, L) for text."""
        if reads == "text":
            assert columns is not None, "a kernel on text is bound to its column"
            codes = self.texts[int(columns[0])]
            absent = np.isnan(codes[:, 0])
            codes = np.nan_to_num(codes, nan=-1.0) if absent.any() else codes  # an empty text
            return SourceRows(codes, absent) if absent.any() and self.medians is not None else codes
        numbers = self.numbers if columns is None else self.numbers[:, columns]
        if reads == "categories":
            wanted = range(numbers.shape[1]) if columns is None else columns.tolist()
            numbers = numbers.astype(np.float64)
            for place, column in enumerate(wanted):
                if column in self.categories:
                    numbers[:, place] = self.categories[column]
        if self.medians is None:
            return numbers
        gaps = np.isnan(numbers)
        lacks = np.asarray(gaps.all(axis=1))
        medians = self.medians if columns is None else self.medians[columns]
        values = np.ascontiguousarray(np.where(gaps, medians, numbers), numbers.dtype)
        return SourceRows(values, lacks) if lacks.any() else values


def own_rows(rows: Any, columns: Columns, reads: Reads) -> Any:
    """Return what a kernel reads in its own columns of some rows (n, d).

    Examples
    --------
    >>> rows = TableRows(np.array([[1.0, 0.0], [2.0, 0.0]]), {1: np.array([[97.0], [98.0]])}, {})
    >>> own_rows(rows, np.array([1]), "text").tolist()
    [[97.0], [98.0]]
    >>> own_rows(rows[:1], np.array([0]), "numbers").tolist()
    [[1.0]]
    """
    if isinstance(rows, TableRows):
        return rows.columns_read(columns, reads)
    return rows if columns is None else rows[:, columns]


@runtime_checkable
class RowSource(Protocol):
    """Rows (N, d) outside of memory, such as an array in a file, read by slices or row numbers.

    It has the part of an array's interface that reading needs, so that code with ``rows[slice]``
    works on both.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(N, d)."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """``float32`` or ``float64``, the type of the blocks."""

    @property
    def column_names(self) -> Sequence[str] | None:
        """The names of the columns, for binding kernels; None if they have none."""

    def __len__(self) -> int:
        """Return the number of rows N."""

    def __getitem__(self, members: slice | NDArray[np.intp], /) -> Array:
        """Return some rows (n, d) as an array in memory."""

    def check_unchanged(self) -> None:
        """Raise a :class:`mklkit.errors.DataError` if the rows have changed since they were opened.

        It is called between passes; an array in a file compares its size and time stamp.
        """


Rows = Array | TableRows | RowSource
"""Training or new rows (N, d), in memory or read in parts."""
