"""Each kernel's own columns of some rows, with one array per set of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.protocols import Reads, RowSource, TableRows, own_rows
from mklkit.views.row_parts import RowPart

__all__ = ["ColumnCuts"]


class ColumnCuts:
    """Rows (n, d) and their requested subsets of columns, each cut once.

    Kernels share base quantities where they use the same array.
    """

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self._cuts: dict[tuple[bytes, str], Any] = {}

    def of(self, columns: NDArray[np.intp] | None, reads: Reads = "numbers") -> Any:
        """Return the rows' columns (n, k), of a row source unread; None stands for all of them.

        ``reads`` is what a kernel reads in them, which matters for rows that hold more than
        numbers.
        """
        several = isinstance(self.rows, TableRows)
        if columns is None and not several:
            return self.rows
        key = b"" if columns is None else columns.tobytes(), reads if several else ""
        if key not in self._cuts:
            self._cuts[key] = self._cut(columns, reads)
        return self._cuts[key]

    def _cut(self, columns: NDArray[np.intp] | None, reads: Reads) -> Any:
        if isinstance(self.rows, RowSource):
            return RowPart(self.rows, columns=columns)
        return np.ascontiguousarray(own_rows(self.rows, columns, reads))
