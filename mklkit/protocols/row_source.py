"""Rows that are read in parts, because they need not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mklkit.protocols.arrays import Array
from mklkit.protocols.table_rows import TableRows

__all__ = ["RowSource", "Rows"]


@runtime_checkable
class RowSource(Protocol):
    """Rows (N, d) outside of memory, such as an array in a file, read by slices or row numbers.

    It has the part of an array's interface that reading needs, so that code that takes
    ``rows[slice]`` works on both.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(N, d)."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """``float32`` or ``float64``, the type of the blocks."""
        ...

    @property
    def column_names(self) -> Sequence[str] | None:
        """The names of the columns, by which kernels may be bound to them; None for none."""
        ...

    def __len__(self) -> int:
        """Return the number of rows N."""
        ...

    def __getitem__(self, members: slice | NDArray[np.intp], /) -> Array:
        """Return some rows (n, d) as an array in memory."""
        ...

    def check_unchanged(self) -> None:
        """Raise a :class:`mklkit.errors.DataError` if the rows have changed since they were opened.

        It is called between passes; an array in a file compares its size and time stamp.
        """
        ...


Rows = Array | TableRows | RowSource
"""Training or new rows (N, d), in memory or read in parts."""
