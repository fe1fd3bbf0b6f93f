"""Functions of rows as lazy Dask arrays: one value or several for each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.numerics.threads import one_blas_thread
from mklkit.views.dask.rows import as_array
from mklkit.views.dask.scheduling import lazily, unchanged
from mklkit.views.rows import check_width

__all__ = ["each_row", "in_memory"]


def each_row(
    function: Callable[[Any], NDArray[Any]],
    X: Any,
    dtype: Any,
    width: int | None = None,
    names: Sequence[str] | None = None,
    n_columns: int | None = None,
) -> Any:
    """Return a function of rows as a Dask array, which is computed when it is asked for.

    Parameters
    ----------
    function : callable
        Takes rows (n, d) and returns an array (n,) or (n, width).
    X : dask array or DataFrame of shape (N, d)
    dtype : dtype
        Of the values.
    width : int, optional
        The number of values per row, if the function returns a matrix.
    names : sequence of str, optional
        The names of the columns in training.
    n_columns : int, optional
        The number of columns in training.

    Raises
    ------
    DataError
        If the columns are others than in training, or it is not a table of numbers.
    """
    array, columns = as_array(X)
    if names is not None and columns is not None and list(names) != columns:
        raise DataError(
            f"The model was trained on the columns {', '.join(names):.200}; these rows have"
            f" {', '.join(columns):.200}."
        )
    if n_columns is not None:
        check_width(n_columns, array.shape[1])
    array = array.rechunk({1: -1})
    shape = {"drop_axis": 1} if width is None else {"chunks": (array.chunks[0], (width,))}
    # A task of its own, so that the function is not sent again with each chunk.
    task = lazily(unchanged)(_Held(function))
    named = None if names is None else list(names)
    return array.map_blocks(
        _on_chunk, held=task, names=named, dtype=dtype, meta=_meta(dtype, width), **shape
    )


def in_memory(labels: Any) -> Any:
    """Return the values of a Dask array or Series, each row's one."""
    return np.asarray(labels.compute())


class _Held:
    """A function that Dask does not look into."""

    def __init__(self, function: Callable[[Any], NDArray[Any]]) -> None:
        self.function = function


def _meta(dtype: Any, width: int | None) -> NDArray[Any]:
    return np.empty((0,) if width is None else (0, 0), dtype)


def _on_chunk(rows: NDArray[Any], held: Any, names: list[str] | None) -> NDArray[Any]:
    table = rows if names is None else pd.DataFrame(rows, columns=names)
    with one_blas_thread():
        return held.function(table)
