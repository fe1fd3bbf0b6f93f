"""Rows that are the chunks of a Dask array or DataFrame, and functions of them as Dask arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype, is_object_dtype

from mklkit.errors import DataError
from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import one_blas_thread
from mklkit.protocols import Array, RowSource, Store, StorePart
from mklkit.views.dask import computed, lazily, persisted, unchanged, workers_in_use
from mklkit.views.dask.engine import DaskEngine
from mklkit.views.deciding import BLOCK_ROWS
from mklkit.views.rows import check_width, row_numbers

TYPES = (np.dtype(np.float32), np.dtype(np.float64))
PART_ROWS, PART_BYTES = 1 << 18, 1 << 26
"""The most of a part. More parts than threads take time: Dask moves them between workers."""
SENT_BYTES = 1 << 24
"""The most bytes to send at a time."""


class DaskRows(Store):
    """Samples (N, d) in parts that Dask's workers hold, or compute on demand.

    The parts are the results of ``tasks``, in order; ``kept`` says whether the workers keep them.
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

        Chunks of unknown size are counted in a separate pass. The workers keep the samples if these
        take up to half of their memory, in equal parts, the same number for each thread.
        Samples that are recomputed in each pass stay in the array's chunks if there are enough.
        """
        workers = workers_in_use()
        array, names = _as_array(X)
        if np.isnan(array.shape[0]):
            array = _with_lengths(array)
        dtype = array.dtype if array.dtype in TYPES else np.dtype(np.float64)
        n_rows, n_columns = array.shape
        size = n_columns * dtype.itemsize
        kept = workers.memory is None or 2 * n_rows * size <= workers.memory
        rows = _part_rows(n_rows, size, workers.threads)
        lengths = array.chunks[0]
        if kept or max(lengths) > max(rows, PART_ROWS) or len(lengths) < workers.threads:
            array = array.rechunk({0: rows})
        array = array.rechunk({1: -1})
        tasks = []
        start = 0
        check = lazily(_checked)
        for chunk, length in zip(array.to_delayed().ravel(), array.chunks[0], strict=True):
            tasks.append(check(chunk, start, dtype))
            start += length
        return cls(tasks, array.chunks[0], n_columns, dtype, names, kept)

    @classmethod
    def sent(cls, rows: RowSource) -> Self:
        """Return samples that are read here and sent to the workers, part by part.

        The scheduler keeps a copy, from which samples on a lost worker are sent again.
        """
        size = rows.shape[1] * rows.dtype.itemsize
        part_rows = _part_rows(len(rows), size, workers_in_use().threads, SENT_BYTES)
        check = lazily(_checked)
        tasks = []
        places = list(row_blocks(len(rows), part_rows))
        for place in places:
            tasks += persisted([check(rows[place], place.start, rows.dtype)])
        lengths = [len(range(*place.indices(len(rows)))) for place in places]
        return cls(tasks, lengths, rows.shape[1], rows.dtype, rows.column_names)

    @cached_property
    def parts(self) -> list[Any]:
        """The tasks of the parts, on the workers if they are kept."""
        return persisted(self._tasks) if self._kept else self._tasks

    def __getitem__(self, members: slice | NDArray[Any], /) -> Array:
        """Return some samples (n, d) as an array in memory; only these travel."""
        numbers = row_numbers(members, len(self))
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

    def take(self, members: slice | NDArray[np.intp]) -> Self | StorePart:
        """Return some of the samples, which stay on the workers; only their numbers travel.

        Samples in another order than here are read on demand.
        """
        members = row_numbers(members, len(self))
        if not len(members) or (np.diff(members) < 0).any():
            return StorePart(self, members)
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

    def __repr__(self) -> str:
        return f"DaskRows({self.shape}, {self.dtype}, {len(self.lengths)} parts)"

    def _by_part(self, ordered: NDArray[np.intp]) -> list[tuple[int, NDArray[np.intp]]]:
        """Return the numbers, in ascending order, within each part."""
        stops = np.cumsum(self.lengths)
        cuts = np.split(ordered, np.searchsorted(ordered, stops[:-1]))
        pairs = zip(cuts, stops - self.lengths, strict=True)
        return [(index, numbers - start) for index, (numbers, start) in enumerate(pairs)]


def each_row(
    function: Callable[[Any], NDArray[Any]],
    X: Any,
    dtype: Any,
    width: int | None = None,
    names: Sequence[str] | None = None,
    n_columns: int | None = None,
) -> Any:
    """Return a function of samples, with (n,) or (n, width) values, as a Dask array.

    It is computed lazily. ``names`` and ``n_columns`` are those of training, which X, a Dask array
    or DataFrame, must have.
    """
    array, columns = _as_array(X)
    if names is not None and columns is not None and list(names) != columns:
        raise DataError(
            f"The model was trained on the columns {', '.join(names):.200}; these samples have"
            f" {', '.join(columns):.200}."
        )
    if n_columns is not None:
        check_width(n_columns, array.shape[1])
    array = array.rechunk({1: -1})
    shape = {"drop_axis": 1} if width is None else {"chunks": (array.chunks[0], (width,))}
    # A separate task, so that the function is not sent with each chunk.
    task = lazily(unchanged)(_Held(function))
    meta = np.empty((0,) if width is None else (0, 0), dtype)
    named = None if names is None else list(names)
    return array.map_blocks(_on_chunk, held=task, names=named, dtype=dtype, meta=meta, **shape)


def in_memory(labels: Any) -> Any:
    """Return the values of a Dask array or Series, one per sample."""
    return np.asarray(computed([lazily(np.asarray)(labels)])[0])


def _with_lengths(array: Any) -> Any:
    """Return a Dask array (N, d) whose chunks have unknown lengths with these, each counted."""
    import dask.array as da

    chunks = array.rechunk({1: -1}).to_delayed().ravel()
    lengths = computed([lazily(len)(chunk) for chunk in chunks])
    parts = zip(chunks, lengths, strict=True)
    return da.concatenate(
        [da.from_delayed(chunk, (n, array.shape[1]), dtype=array.dtype) for chunk, n in parts]
    )


def _as_array(X: Any) -> tuple[Any, list[str] | None]:
    """Return a Dask array or DataFrame as an array (N, d), and the names of its columns."""
    names = None
    if hasattr(X, "to_dask_array"):
        if X.ndim == 2:
            names = [str(name) for name in X.columns]
            for name, kind in zip(X.columns, X.dtypes, strict=True):
                if not (is_numeric_dtype(kind) or is_object_dtype(kind)):
                    raise DataError(
                        f"Kernels compare numbers, and column {str(name)!r} of the Dask DataFrame"
                        " holds text, dates or categories: encode it first, or leave it out."
                    )
        X = X.to_dask_array()
    if X.ndim != 2:
        raise DataError(f"Expected a Dask array of rows and columns; it has {X.ndim} axes.")
    if X.dtype.kind not in "biufO":
        raise DataError(f"Kernels compare numbers; the Dask array has values of {X.dtype}.")
    return X, names


def _part_rows(n_rows: int, row_bytes: int, threads: int, most: int = PART_BYTES) -> int:
    """Return the size of parts: limited, and the same number of parts for each thread.

    Parts are a block of samples or more.
    """
    rows = max(1, min(PART_ROWS, most // max(1, row_bytes)))
    count = threads * -(-n_rows // (threads * rows))
    return max(1, min(n_rows, max(BLOCK_ROWS, -(-n_rows // count))))


# What the workers run.


def _checked(chunk: Any, start: int, dtype: Any) -> Array:
    """Return a chunk as an array of finite numbers; ``start`` is the number of its first row."""
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
            f"Sample {start + int(np.argmin(finite))} (counted from 0) has NaN or infinity, which"
            " kernels can't compare. Fill the gaps first, or leave such samples out."
        )
    return rows


def _taken(rows: Array, members: NDArray[np.intp]) -> Array:
    return rows[members]


class _Held:
    """A function that Dask does not inspect."""

    def __init__(self, function: Callable[[Any], NDArray[Any]]) -> None:
        self.function = function


def _on_chunk(rows: NDArray[Any], held: Any, names: list[str] | None) -> NDArray[Any]:
    table = rows if names is None else pd.DataFrame(rows, columns=names)
    with one_blas_thread():
        return held.function(table)
