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


@attrs.frozen(eq=False)
class KnownPairs:
    """Some of the rows (T, d) of which base quantities are known, by their places (n,)."""

    store: PairStore
    rows: Array
    places: NDArray[np.intp]

    def take(self, members: slice | NDArray[np.intp]) -> KnownPairs:
        """Return some of these rows."""
        return attrs.evolve(self, places=self.places[members])

    def gather(self, name: str, others: KnownPairs, out: Array) -> bool:
        """Write a base quantity (n, m) of these and other rows; False where it is not known."""
        values = self.store.quantity(name, self.rows) if others.rows is self.rows else None
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
        self._free = np.inf if max_memory is None else max_memory
        self._known: dict[tuple[int, str], Array | None] = {}
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
        return None if rows.shape[1] < WORTH_COLUMNS else KnownPairs(self, rows, places)

    def quantity(self, name: str, rows: Array) -> Array | None:
        """Return a base quantity (T, T) of all pairs of rows; None if it does not fit."""
        with self._lock:
            key = id(rows), name
            if key not in self._known:
                size = len(rows) ** 2 * rows.itemsize
                fits = size <= self._free
                self._free -= size if fits else 0
                self._known[key] = _all_pairs(name, rows) if fits else None
            return self._known[key]


def _all_pairs(name: str, rows: Array) -> Array:
    values = np.empty((len(rows), len(rows)), rows.dtype)

    def fill(block: slice) -> None:
        BASES[name](rows[block], rows, out=values[block])

    for _ in each(fill, row_blocks(len(rows), TILE_ROWS)):
        pass
    return values
