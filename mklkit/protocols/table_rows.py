"""Rows of a table that also has columns of text or categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols.arrays import Array
from mklkit.protocols.facts import Reads

__all__ = ["TableRows", "own_rows"]

Columns = NDArray[np.intp] | None
"""Positions in the table; None for all of them."""


@attrs.frozen(eq=False)
class TableRows:
    """Rows (n, d) of which some columns hold text or categories, in memory.

    It has the part of an array's interface that needs no columns: length, shape, and
    ``rows[members]``. Kernels get their columns from :func:`own_rows`.

    Attributes
    ----------
    numbers : ndarray of shape (n, d)
        The columns of numbers, in their places; 0 in the others.
    texts : dict of int to ndarray of shape (n, L)
        The code points of columns of text that a kernel reads, as
        :func:`mklkit.numerics.readings.text_codes` returns them.
    categories : dict of int to ndarray of shape (n,)
        The codes of columns of categories that a kernel reads, NaN for gaps that it leaves out.
    """

    numbers: Array
    texts: Mapping[int, Array]
    categories: Mapping[int, Array]

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
        )

    def own(self, columns: Columns, reads: Reads) -> Array:
        """Return what a kernel reads in its columns (n, k), or (n, L) for text."""
        if reads == "text":
            assert columns is not None, "a kernel on text is bound to its column"
            return self.texts[int(columns[0])]
        found = self.numbers if columns is None else self.numbers[:, columns]
        if reads != "categories":
            return found
        wanted = range(found.shape[1]) if columns is None else columns.tolist()
        found = found.astype(np.float64)
        for place, column in enumerate(wanted):
            if column in self.categories:
                found[:, place] = self.categories[column]
        return found


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
        return rows.own(columns, reads)
    return rows if columns is None else rows[:, columns]
