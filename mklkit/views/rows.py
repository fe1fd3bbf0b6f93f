"""Some rows, some columns, or pairs of rows, of rows in memory or read in parts."""

from __future__ import annotations

from threading import Lock
from typing import Any, Protocol, runtime_checkable

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, counted
from mklkit.numerics.pairwise import BASES, TILE_ROWS, row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import (
    Array,
    Reads,
    Rows,
    RowSource,
    SourceRows,
    TableRows,
    own_rows,
    protected,
)

WORTH_COLUMNS = 32
"""With fewer columns, computing a quantity is as fast as gathering it from a large matrix."""


@attrs.frozen(eq=False)
class RowPart:
    """Some rows and columns (None for all) of a row source, read on demand."""

    source: RowSource
    members: NDArray[np.intp] | None = None
    columns: NDArray[np.intp] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        n_rows, n_columns = self.source.shape
        return (
            n_rows if self.members is None else len(self.members),
            n_columns if self.columns is None else len(self.columns),
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The source's type."""
        return self.source.dtype

    @property
    def column_names(self) -> list[str] | None:
        """The names of the columns."""
        names = self.source.column_names
        if names is None or self.columns is None:
            return None if names is None else list(names)
        return [names[int(column)] for column in self.columns]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, members: slice | NDArray[np.intp], /) -> Array:
        """Return some of the rows."""
        rows = self.source[members if self.members is None else self.members[members]]
        return rows if self.columns is None else np.ascontiguousarray(rows[:, self.columns])

    def check_unchanged(self) -> None:
        """Check the source."""
        self.source.check_unchanged()


@runtime_checkable
class DistributedRows(Protocol):
    """Rows (N, d) that are elsewhere, with the engine that works there."""

    @property
    def engine(self) -> Any:
        """The :class:`mklkit.views.engines.Engine`."""
        ...

    def take_rows(self, members: NDArray[np.intp], /) -> RowSource:
        """Return some of the rows, without moving them."""
        ...


def take_rows(rows: Any, members: Any) -> Any:
    """Return some of the rows: a copy in memory, or a part of the source to be read later."""
    if isinstance(rows, DistributedRows):
        return rows.take_rows(members)
    return RowPart(rows, members) if isinstance(rows, RowSource) else rows[members]


def check_unchanged(rows: Rows) -> None:
    """Raise a DataError if rows outside of memory have changed since they were opened."""
    if isinstance(rows, RowSource):
        rows.check_unchanged()


def check_width(expected: int, n_columns: int) -> None:
    """Raise a DataError if rows do not have the number of columns of training."""
    if n_columns != expected:
        raise DataError(
            f"The model was trained on {counted(expected, 'column')}; these rows have {n_columns}."
        )


def rows_at(rows: Rows, place: slice | NDArray[np.intp]) -> Any:
    """Return a block of rows in memory; refuse NaN and infinity in rows that were read."""
    block: Any = rows[place]
    if isinstance(rows, RowSource) and not np.isfinite(block).all():
        broken = int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])
        number = place.indices(len(rows))[0] + broken if isinstance(place, slice) else place[broken]
        raise DataError(
            f"Row {number} (counted from 0) has NaN or infinity, which kernels can't compare in"
            " rows read in parts. Fill the gaps, leave such rows out, or pass a table in memory."
        )
    return block


def row_numbers(members: slice | NDArray[Any], n_rows: int) -> NDArray[np.intp]:
    """Return the non-negative numbers of the rows that a slice, a mask or numbers select."""
    if isinstance(members, slice):
        return np.arange(*members.indices(n_rows))
    numbers = np.asarray(members)
    if numbers.dtype == bool:
        if numbers.shape != (n_rows,):
            raise IndexError(f"a mask of shape {numbers.shape} for {n_rows} rows")
        numbers = np.flatnonzero(numbers)
    numbers = np.where(numbers < 0, numbers + n_rows, numbers).astype(np.intp, copy=False)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < n_rows):
        raise IndexError(f"rows {numbers.min()} to {numbers.max()} of {n_rows}")
    return numbers


def is_dask(value: Any) -> bool:
    """Return whether an object is a Dask array, DataFrame or Series."""
    return type(value).__module__.partition(".")[0] in ("dask", "dask_expr")


@attrs.define(eq=False)
class ColumnCuts:
    """Rows (n, d) and subsets of columns, each cut once: an array identifies its quantities.

    Kernels share the arrays, which are read-only.
    """

    rows: Any = attrs.field(converter=protected)
    _cuts: dict[tuple[bytes, str], Any] = attrs.field(factory=dict, init=False)

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
            if isinstance(self.rows, RowSource):
                self._cuts[key] = RowPart(self.rows, columns=columns)
            else:
                cut = own_rows(self.rows, columns, reads)
                plain = not isinstance(cut, SourceRows)
                self._cuts[key] = protected(np.ascontiguousarray(cut)) if plain else cut
        return self._cuts[key]


@attrs.frozen(eq=False)
class KnownPairs:
    """Some of the rows (T, d) with known base quantities, by their places (n,)."""

    store: PairStore
    rows: Array
    places: NDArray[np.intp]

    def take(self, members: slice | NDArray[np.intp]) -> KnownPairs:
        """Return some of these rows."""
        return attrs.evolve(self, places=self.places[members])

    def gather(self, name: str, others: KnownPairs, out: Array) -> bool:
        """Write a base quantity (n, m) of these and other rows; False if it is unknown."""
        values = self.store.quantity(name, self.rows) if others.rows is self.rows else None
        if values is None or values.dtype != out.dtype:
            return False
        np.take(values[self.places], others.places, axis=1, out=out, mode="clip")
        return True


class PairStore:
    """The rows (T, d) that folds are taken from, with base quantities for each set of columns.

    They take up to ``max_memory`` bytes; None means no limit.
    """

    def __init__(self, rows: Array, max_memory: int | None = None) -> None:
        self._cuts = ColumnCuts(rows)
        self._free = np.inf if max_memory is None else max_memory
        self._known: dict[tuple[int, str], Array | None] = {}
        self._lock = Lock()

    def of(self, columns: NDArray[np.intp] | None, places: NDArray[np.intp]) -> KnownPairs | None:
        """Return some rows as pairs on some columns; None if that gains nothing."""
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
