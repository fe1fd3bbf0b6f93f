"""Columns of categories, each a number, as sparse features."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.kernels.sparse_features import numbered
from mklkit.protocols import Array

__all__ = ["PresentValues", "present_values"]


@attrs.frozen(eq=False)
class PresentValues:
    """The categories that rows have, column by column, without gaps.

    Attributes
    ----------
    owners, columns : ndarray of shape (P,)
        The row and the column of each.
    numbers : ndarray of shape (P,)
        The same for equal categories of the same column, from 0 up.
    count : int
        How many there are.
    """

    owners: NDArray[np.intp]
    columns: NDArray[np.intp]
    numbers: NDArray[np.int64]
    count: int


def present_values(rows: Array) -> PresentValues:
    """Return the categories of rows (n, q), whose gaps are NaN.

    Examples
    --------
    >>> present_values(np.array([[7.0, 7.0], [np.nan, 7.0]])).numbers
    array([0, 1, 1])
    """
    columns, owners = np.nonzero(~np.isnan(rows.T))
    numbers, count = [np.empty(0, dtype=np.int64)], 0
    for column in rows.T:
        own, different = numbered(column[~np.isnan(column)])
        numbers.append(count + own)
        count += different
    return PresentValues(owners, columns, np.concatenate(numbers), count)
