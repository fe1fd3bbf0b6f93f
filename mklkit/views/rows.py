"""Numbers of samples, and base quantities of pairs of samples."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import attrs
import joblib
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, counted
from mklkit.numerics.pairwise import BASES, TILE_ROWS, row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array, Reader, Rows
from mklkit.views.cache import Cache

WORTH_COLUMNS = 32
"""With fewer columns, computing a quantity is as fast as gathering it from a large matrix."""


def check_width(expected: int, n_columns: int) -> None:
    """Raise a DataError if samples do not have the number of columns of training."""
    if n_columns != expected:
        raise DataError(
            f"The model was trained on {counted(expected, 'column')}; these have {n_columns}."
        )


def row_numbers(members: slice | NDArray[Any], n_rows: int) -> NDArray[np.intp]:
    """Return the non-negative numbers of the samples that a slice, a mask or numbers select."""
    if isinstance(members, slice):
        return np.arange(*members.indices(n_rows))
    numbers = np.asarray(members)
    if numbers.dtype == bool:
        if numbers.shape != (n_rows,):
            raise IndexError(f"a mask of shape {numbers.shape} for {n_rows} samples")
        numbers = np.flatnonzero(numbers)
    numbers = np.where(numbers < 0, numbers + n_rows, numbers).astype(np.intp, copy=False)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < n_rows):
        raise IndexError(f"samples {numbers.min()} to {numbers.max()} of {n_rows}")
    return numbers


def is_dask(value: Any) -> bool:
    """Return whether an object is a Dask array, DataFrame or Series."""
    return type(value).__module__.partition(".")[0] in ("dask", "dask_expr")


@attrs.frozen(eq=False)
class KnownPairs:
    """Some of the samples (T, d) with known base quantities, by their places (n,).

    The samples' ``key`` in the cache is that of their content.
    """

    cache: Cache
    key: Hashable
    rows: Array
    places: NDArray[np.intp]

    def take(self, members: slice | NDArray[np.intp]) -> KnownPairs:
        """Return some of these samples."""
        return attrs.evolve(self, places=self.places[members])

    def gather(self, name: str, others: KnownPairs, out: Array) -> bool:
        """Write a base quantity (n, m) of these and other samples; False if it is unknown."""
        values = self._of_all(name) if others.key == self.key else None
        if values is None or values.dtype != out.dtype:
            return False
        np.take(values[self.places], others.places, axis=1, out=out, mode="clip")
        return True

    def _of_all(self, name: str) -> Array | None:
        """Return a base quantity (T, T) of all pairs; None if it takes most of the cache."""
        budget = self.cache.budget
        if budget is not None and self.rows.shape[0] ** 2 * self.rows.dtype.itemsize > budget // 2:
            return None
        return self.cache.of(("pairs", name, self.key), lambda: _all_pairs(name, self.rows))


@attrs.frozen(eq=False)
class AllPairs:
    """The samples (T, d) that folds are taken from, whose pairs the folds share in a cache."""

    rows: Rows
    cache: Cache

    def of(self, kernel: Reader, places: NDArray[np.intp]) -> KnownPairs | None:
        """Return some samples as pairs on a kernel's columns; None if that gains nothing."""
        (array,) = self.rows.arrays_of([kernel])
        if array.shape[1] < WORTH_COLUMNS:
            return None
        columns = b"" if kernel.columns is None else kernel.columns.tobytes()
        key = self.rows.digest, columns, joblib.hash(kernel.scaling)
        return KnownPairs(self.cache, key, array, places)


def _all_pairs(name: str, rows: Array) -> Array:
    n_rows = rows.shape[0]
    values = np.empty((n_rows, n_rows), rows.dtype)

    def fill(block: slice) -> None:
        BASES[name](rows[block], rows, out=values[block])

    for _ in each(fill, row_blocks(n_rows, TILE_ROWS)):
        pass
    return values
