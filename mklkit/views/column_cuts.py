"""Each kernel's own columns of some rows, with one array per set of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import RowSource
from mklkit.views.row_parts import RowPart

__all__ = ["ColumnCuts"]


class ColumnCuts:
    """Rows (n, d) and their requested subsets of columns, each cut once.

    Kernels share base quantities where they use the same array.
    """

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self._cuts: dict[bytes, Any] = {}

    def of(self, columns: NDArray[np.intp] | None) -> Any:
        """Return the rows' columns (n, k), of a row source unread; None stands for all of them."""
        if columns is None:
            return self.rows
        key = columns.tobytes()
        if key not in self._cuts:
            self._cuts[key] = self._cut(columns)
        return self._cuts[key]

    def _cut(self, columns: NDArray[np.intp]) -> Any:
        if isinstance(self.rows, RowSource):
            return RowPart(self.rows, columns=columns)
        return np.ascontiguousarray(self.rows[:, columns])
