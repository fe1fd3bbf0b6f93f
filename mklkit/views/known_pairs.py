"""Base quantities of all pairs of rows in memory, of which folds take their parts."""

from __future__ import annotations

from threading import Lock

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.pairwise import BASES, TILE_ROWS, row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array
from mklkit.views.rows import ColumnCuts

__all__ = ["KnownPairs", "PairStore"]

WORTH_COLUMNS = 32
"""With fewer columns, a quantity takes no longer to compute than to gather from a large matrix."""


class _Quantities:
    """The base quantities (T, T) of all pairs of the same rows, each computed when first needed."""

    def __init__(self, rows: Array, spare: _Budget) -> None:
        self.rows = rows
        self._spare = spare
        self._made: dict[str, Array | None] = {}
        self._lock = Lock()

    def of(self, name: str) -> Array | None:
        """Return a base quantity; None if it does not fit into memory."""
        with self._lock:
            if name not in self._made:
                self._made[name] = self._make(name)
            return self._made[name]

    def _make(self, name: str) -> Array | None:
        n_rows = len(self.rows)
        if not self._spare.take(n_rows * n_rows * self.rows.dtype.itemsize):
            return None
        values = np.empty((n_rows, n_rows), self.rows.dtype)

        def fill(block: slice) -> None:
            BASES[name](self.rows[block], self.rows, out=values[block])

        for _ in each(fill, row_blocks(n_rows, TILE_ROWS)):
            pass
        return values


class _Budget:
    """An amount of memory, in bytes, of which parts are taken; None for no limit."""

    def __init__(self, size: int | None) -> None:
        self._left = size
        self._lock = Lock()

    def take(self, size: int) -> bool:
        """Return whether so much is left, which is taken then."""
        with self._lock:
            if self._left is None:
                return True
            if size > self._left:
                return False
            self._left -= size
            return True


@attrs.frozen(eq=False)
class KnownPairs:
    """Some of the rows of which base quantities are known.

    Attributes
    ----------
    places : ndarray of shape (n,)
        Which ones.
    """

    quantities: _Quantities
    places: NDArray[np.intp]

    def take(self, members: slice | NDArray[np.intp]) -> KnownPairs:
        """Return some of these rows."""
        return KnownPairs(self.quantities, self.places[members])

    def gather(self, name: str, others: KnownPairs, out: Array) -> bool:
        """Write a base quantity (n, m) of these and other rows; False where it is not known."""
        values = self.quantities.of(name) if others.quantities is self.quantities else None
        if values is None or values.dtype != out.dtype:
            return False
        np.take(values[self.places], others.places, axis=1, out=out, mode="clip")
        return True


class PairStore:
    """The rows (T, d) of which folds are parts, with base quantities for each set of columns.

    Parameters
    ----------
    rows : ndarray of shape (T, d)
    max_memory : int, optional
        Bytes that the quantities may take; without limit where not given.
    """

    def __init__(self, rows: Array, max_memory: int | None = None) -> None:
        self._cuts = ColumnCuts(rows)
        self._spare = _Budget(max_memory)
        self._made: dict[bytes | None, _Quantities] = {}
        self._lock = Lock()

    def of(self, columns: NDArray[np.intp] | None, places: NDArray[np.intp]) -> KnownPairs | None:
        """Return some rows as pairs on some columns; None where that gains nothing.

        Examples
        --------
        >>> rows = np.random.default_rng(0).normal(size=(5, 40))
        >>> some = PairStore(rows).of(None, np.array([4, 1]))
        >>> out = np.empty((2, 2))
        >>> some.gather("inner_product", some, out), np.allclose(out, rows[[4, 1]] @ rows[[4, 1]].T)
        (True, True)
        """
        with self._lock:
            rows = self._cuts.of(columns)
            if rows.shape[1] < WORTH_COLUMNS:
                return None
            key = None if columns is None else columns.tobytes()
            if key not in self._made:
                self._made[key] = _Quantities(rows, self._spare)
            return KnownPairs(self._made[key], places)
