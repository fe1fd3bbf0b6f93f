"""Rows that are the chunks of a Dask array or DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.numerics.pairwise import row_blocks
from mklkit.protocols import Array, RowSource
from mklkit.views.dask.engine import DaskEngine
from mklkit.views.dask.scheduling import Workers, computed, lazily, persisted, workers_in_use
from mklkit.views.deciding import BLOCK_ROWS
from mklkit.views.engines import PART_ROWS
from mklkit.views.rows import RowPart

__all__ = ["DaskRows", "as_array"]

TYPES = (np.dtype(np.float32), np.dtype(np.float64))
PARTS_PER_THREAD = 4


class DaskRows:
    """Rows (N, d) in parts that Dask's workers hold, or make when they are asked for.

    Parameters
    ----------
    tasks : sequence of dask.delayed.Delayed
        Their results are the parts of the rows, in order.
    lengths : sequence of int
        The number of rows of each part.
    n_columns : int
    dtype : dtype
        ``float32`` or ``float64``.
    column_names : sequence of str, optional
    kept : bool, default=True
        Whether the workers keep the parts when they have made them.
    engine : DaskEngine, optional
    """

    def __init__(
        self,
        tasks: Sequence[Any],
        lengths: Sequence[int],
        n_columns: int,
        dtype: Any,
        column_names: Sequence[str] | None = None,
        kept: bool = True,
        engine: DaskEngine | None = None,
    ) -> None:
        self.lengths = [int(length) for length in lengths]
        self.shape = (sum(self.lengths), int(n_columns))
        self.dtype = np.dtype(dtype)
        self.column_names = None if column_names is None else list(column_names)
        self.engine = DaskEngine() if engine is None else engine
        self._tasks = list(tasks)
        self._kept = kept

    @classmethod
    def of(cls, X: Any) -> Self:
        """Return the rows of a Dask array (N, d) or DataFrame.

        Chunks of unknown size are counted, in a pass of its own; chunks that are too small, or too
        few for all workers, are cut anew. The workers keep the rows if these take up to half of
        their memory.

        Raises
        ------
        DataError
            If it is not a table of numbers.
        MKLKitError
            If a worker can't run mklkit.
        """
        workers = workers_in_use()
        array, names = as_array(X, lengths=True)
        if np.isnan(array.shape[0]):
            array.compute_chunk_sizes()
        dtype = array.dtype if array.dtype in TYPES else np.dtype(np.float64)
        n_rows, n_columns = array.shape
        array = array.rechunk({0: _chunks(array.chunks[0], workers), 1: -1})
        tasks, start = [], 0
        check = lazily(_checked)
        for chunk, length in zip(array.to_delayed().ravel(), array.chunks[0], strict=True):
            tasks.append(check(chunk, start, dtype))
            start += length
        size = 2 * n_rows * n_columns * dtype.itemsize
        kept = workers.memory is None or size <= workers.memory
        return cls(tasks, array.chunks[0], n_columns, dtype, names, kept)

    @classmethod
    def sent(cls, rows: RowSource) -> Self:
        """Return rows that are read here and sent to the workers, part by part.

        The scheduler keeps a copy, from which rows on a lost worker are sent again.
        """
        workers = workers_in_use()
        chunks = _chunks((len(rows),), workers)
        most = max(1, int(2**24 // max(1, rows.shape[1] * rows.dtype.itemsize)))
        size = min(chunks[0] if isinstance(chunks, tuple) else chunks, most)
        check, tasks, places = lazily(_checked), [], list(row_blocks(len(rows), size))
        for place in places:
            tasks += persisted([check(rows[place], place.start, rows.dtype)])
        lengths = [len(range(*place.indices(len(rows)))) for place in places]
        return cls(tasks, lengths, rows.shape[1], rows.dtype, rows.column_names)

    @cached_property
    def parts(self) -> list[Any]:
        """The tasks of the parts, on the workers if they are kept."""
        return persisted(self._tasks) if self._kept else self._tasks

    def __len__(self) -> int:
        """Return the number of rows N."""
        return self.shape[0]

    def __getitem__(self, members: slice | NDArray[Any], /) -> Array:
        """Return some rows (n, d) as an array in memory; only these travel."""
        if isinstance(members, slice):
            start, stop, step = members.indices(len(self))
            members = np.arange(start, stop, step)
        numbers = np.asarray(members)
        if numbers.dtype == bool:
            numbers = np.flatnonzero(numbers)
        numbers = np.where(numbers < 0, numbers + len(self), numbers).astype(np.intp, copy=False)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(self)):
            raise IndexError(f"rows {numbers.min()} to {numbers.max()} of {len(self)}")
        order = np.argsort(numbers, kind="stable")
        take = lazily(_taken)
        tasks = [
            take(self.parts[index], places)
            for index, places in self._by_part(numbers[order])
            if len(places)
        ]
        out = np.empty((len(numbers), self.shape[1]), self.dtype)
        if tasks:
            out[order] = np.concatenate(computed(tasks))
        return out

    def take_rows(self, members: NDArray[np.intp], /) -> Self | RowPart:
        """Return some of the rows, which stay where they are; only their numbers travel.

        Rows in another order than here are read when they are asked for.
        """
        if not len(members) or (np.diff(members) < 0).any():
            return RowPart(self, members)
        take = lazily(_taken)
        cut = [(index, places) for index, places in self._by_part(members) if len(places)]
        return type(self)(
            [take(self.parts[index], places) for index, places in cut],
            [len(places) for _, places in cut],
            self.shape[1],
            self.dtype,
            self.column_names,
            self._kept,
            self.engine,
        )

    def check_unchanged(self) -> None:
        """Do nothing: a Dask array does not change."""

    def __repr__(self) -> str:
        return f"DaskRows({self.shape}, {self.dtype}, {len(self.lengths)} parts)"

    def _by_part(self, ordered: NDArray[np.intp]) -> list[tuple[int, NDArray[np.intp]]]:
        """Return the numbers, in ascending order, within each part."""
        stops = np.cumsum(self.lengths)
        cuts = np.split(ordered, np.searchsorted(ordered, stops[:-1]))
        pairs = zip(cuts, stops - self.lengths, strict=True)
        return [(index, numbers - start) for index, (numbers, start) in enumerate(pairs)]


def as_array(X: Any, lengths: bool = False) -> tuple[Any, list[str] | None]:
    """Return a Dask array or DataFrame as an array (N, d), and the names of its columns.

    Raises
    ------
    DataError
        If it is not a table of numbers.
    """
    names = None
    if hasattr(X, "to_dask_array"):
        if X.ndim == 2:
            names = [str(name) for name in X.columns]
            _check_numbers(X)
        X = X.to_dask_array(lengths=lengths or None)
    if X.ndim != 2:
        raise DataError(f"Expected a Dask array of rows and columns; it has {X.ndim} axes.")
    if X.dtype.kind not in "biufO":
        raise DataError(f"Kernels compare numbers; the Dask array has values of {X.dtype}.")
    return X, names


def _check_numbers(frame: Any) -> None:
    from pandas.api.types import is_numeric_dtype, is_object_dtype

    pairs = zip(frame.columns, frame.dtypes, strict=True)
    other = [
        str(name) for name, kind in pairs if not (is_numeric_dtype(kind) or is_object_dtype(kind))
    ]
    if other:
        raise DataError(
            f"Kernels compare numbers, and column {other[0]!r} of the Dask DataFrame holds text,"
            " dates or categories: encode it first, or leave it out."
        )


def _chunks(lengths: tuple[int, ...], workers: Workers) -> tuple[int, ...] | int:
    """Return the chunks of rows to use: those given if there are enough and none too many."""
    n_rows = sum(lengths)
    enough = min(PARTS_PER_THREAD * workers.threads, -(-n_rows // BLOCK_ROWS))
    if all(lengths) and len(lengths) >= enough and n_rows >= len(lengths) * BLOCK_ROWS:
        return lengths
    return max(1, min(PART_ROWS, -(-n_rows // max(1, enough))))


# What the workers run.


def _checked(chunk: Any, start: int, dtype: Any) -> Array:
    """Return a chunk as an array of numbers, all finite; ``start`` is the number of its row 0."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.ascontiguousarray(chunk, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Kernels compare numbers, and among rows {start} to {start + len(chunk) - 1} (counted"
            f" from 0) there are other values: {error}."
        ) from None
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise DataError(
            f"Row {start + int(np.argmin(finite))} (counted from 0) has NaN or infinity, which"
            " kernels can't compare. Fill the gaps first, or leave such rows out."
        )
    return rows


def _taken(rows: Array, members: NDArray[np.intp]) -> Array:
    return rows[members]
