"""Each kernel's own columns of some rows, with one array per set of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Array

__all__ = ["ColumnCuts"]


class ColumnCuts:
    """Rows (n, d) and their requested subsets of columns, each cut once.

    Kernels share base quantities where they use the same array.
    """

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self._cuts: dict[bytes, Array] = {}

    def of(self, columns: NDArray[np.intp] | None) -> Array:
        """Return the rows' columns (n, k); None stands for all of them."""
        if columns is None:
            return self.rows
        key = columns.tobytes()
        if key not in self._cuts:
            self._cuts[key] = np.ascontiguousarray(self.rows[:, columns])
        return self._cuts[key]
