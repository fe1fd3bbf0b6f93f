"""The rows of a source that some rows of the table lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

__all__ = ["SourceRows", "lacking", "patterns", "row_scale", "scale_of", "where_present"]

Array = NDArray[np.floating[Any]]


@attrs.frozen(eq=False)
class SourceRows:
    """A kernel's columns (n, d_m) of rows, some of which lack all of them, as ``lacks`` (n,) tells.

    Converted to an array, it is ``values``, with medians in place of gaps. Similarities to rows
    that lack the source are zero, and so are their features.

    >>> rows = SourceRows(np.array([[1.0], [2.0], [3.0]]), np.array([False, True, False]))
    >>> rows.present.ravel().tolist(), type(rows[:1]).__name__
    ([1.0, 3.0], 'ndarray')
    """

    values: Array
    lacks: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows and columns."""
        return self.values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        """The memory of the values."""
        return self.values.nbytes

    @property
    def present(self) -> Array:
        """The rows that have the source; all of them, as medians, if fewer than two do."""
        return self.values if (~self.lacks).sum() < 2 else self.values[~self.lacks]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def __getitem__(self, members: Any, /) -> Any:
        """Return some of the rows, as an array if none of them lacks the source."""
        values, lacks = self.values[members], self.lacks[members]
        return SourceRows(values, lacks) if lacks.any() else values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.values if dtype is None else self.values.astype(dtype)


def where_present(function: Callable[[Any], Array], rows: Any) -> Array:
    """Return a function (n, …) of rows, zero for those that lack the source."""
    if not isinstance(rows, SourceRows):
        return function(rows)
    values = np.array(function(rows.values))
    values[rows.lacks] = 0
    return values


def lacking(rows: Sequence[Any]) -> NDArray[np.bool_] | None:
    """Return which rows lack each of the sources, (n, M); None if all rows have all."""
    length = next((len(source) for source in rows if isinstance(source, SourceRows)), None)
    if length is None:
        return None
    every = np.zeros(length, bool)
    return np.column_stack([s.lacks if isinstance(s, SourceRows) else every for s in rows])


def patterns(lacks: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the number (N,) of each row's pattern of missing sources, and the K patterns (K, M).

    >>> codes, table = patterns(np.array([[True, False], [False, False], [True, False]]))
    >>> codes.tolist(), table.tolist()
    ([1, 0, 1], [[False, False], [True, False]])
    """
    codes = np.zeros(len(lacks), np.intp)
    for absent in lacks[:, lacks.any(axis=0)].T:
        codes = np.unique(2 * codes + absent, return_inverse=True)[1]
    return codes, lacks[np.unique(codes, return_index=True)[1]]


def row_scale(rows: Sequence[Any], weights: Array) -> Array | None:
    """Return :func:`scale_of` rows (n,); None if all rows have all sources."""
    lacks = lacking(rows)
    return None if lacks is None else scale_of(lacks, weights)


def scale_of(lacks: NDArray[np.bool_], weights: Array) -> Array:
    """Return √(Σ w_m / s(x)) of rows (n,), s(x) = Σ w_m over the sources that a row has.

    0 for a row without a source of non-zero weight.
    """
    # The total is summed in the same order, so that a row with all sources has scale exactly 1.
    sums = np.where(np.vstack([lacks, np.zeros_like(lacks[:1])]), 0.0, weights).sum(axis=1)
    positive = sums[:-1] > 0
    return np.sqrt(np.divide(sums[-1], sums[:-1], where=positive, out=np.zeros(len(lacks))))
