"""Sparse matrices, which estimators take as sources only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.errors import DataError, type_name

TO_ARRAY = "turn it into an array with .toarray()"
INSTEAD = (
    f"{TO_ARRAY} if that fits into memory, or reduce it to some hundred columns with scikit-learn's"
    " TruncatedSVD"
)
"""What to do with sparse samples."""


def refuse_sparse(value: Any, name: str = "X") -> None:
    """Raise a ``DataError`` if rows, targets or weights are sparse: of SciPy, or a DataFrame.

    >>> refuse_sparse([[1.0]])
    """
    from scipy.sparse import issparse

    if issparse(value):
        takes = f"takes dense ones: {TO_ARRAY}"
        if name == "X":
            takes = (
                "takes it only as a source of an estimator: pass a mapping, as in"
                f" fit({{'words': X}}, y), {INSTEAD}"
            )
        raise DataError(
            f"{name} is a sparse matrix ({type_name(value)} of shape {value.shape}), and mklkit"
            f" {takes}."
        )
    if isinstance(value, pd.DataFrame) and (n_sparse := len(sparse_places(value))):
        raise DataError(
            f"{name} is a DataFrame with {n_sparse} sparse columns, and here mklkit takes dense"
            " ones: turn it into a dense one with .sparse.to_dense()."
        )


def is_sparse_frame(value: Any) -> bool:
    """Return whether a value is a DataFrame whose columns are all sparse."""
    kinds = value.dtypes.tolist() if isinstance(value, pd.DataFrame) else []
    return bool(kinds) and all(isinstance(kind, pd.SparseDtype) for kind in kinds)


def sparse_places(frame: pd.DataFrame) -> NDArray[np.intp]:
    """Return the positions of a table's sparse columns, (k,).

    >>> frame = pd.DataFrame({"a": [1.0], "b": pd.arrays.SparseArray([0.0])})
    >>> sparse_places(frame)
    array([1])
    """
    return np.flatnonzero([isinstance(kind, pd.SparseDtype) for kind in frame.dtypes])


def of_zeros(frame: pd.DataFrame) -> NDArray[np.intp]:
    """Return the positions of the sparse columns of numbers that leave out zeros, (k,)."""
    places = sparse_places(frame)
    if not len(places):
        return places
    kinds = frame.dtypes.iloc[places].tolist()
    plain = [kind.kind in "iuf" and kind.fill_value == 0 for kind in kinds]
    return places[np.array(plain, bool)]


def as_matrix(frame: pd.DataFrame) -> Any:
    """Return columns that leave out zeros as one sparse matrix (N, k) in SciPy's COO format."""
    return cast(Any, frame).sparse.to_coo()


def sparse_frame(matrix: Any, columns: Sequence[Any], index: Any = None) -> pd.DataFrame:
    """Return a sparse matrix (N, k) as a table of sparse columns."""
    frame = cast(Any, pd.DataFrame).sparse.from_spmatrix(matrix, index=index, columns=[*columns])
    return cast(pd.DataFrame, frame)


def values_of(frame: pd.DataFrame) -> NDArray[Any]:
    """Return a table of numbers as an array (N, d)."""
    # pandas would make each sparse column dense by itself.
    if frame.shape[1] and len(of_zeros(frame)) == frame.shape[1]:
        return cast(NDArray[Any], as_matrix(frame).toarray())
    return frame.to_numpy()


def count_gaps(frame: pd.DataFrame) -> NDArray[np.intp]:
    """Return the number of gaps in each column of a table (d,)."""
    places = of_zeros(frame)
    if not len(places):
        return frame.isna().sum().to_numpy()
    dense = np.setdiff1d(np.arange(frame.shape[1]), places)
    matrix = as_matrix(frame.iloc[:, places])
    counts = np.zeros(frame.shape[1], np.intp)
    counts[dense] = frame.iloc[:, dense].isna().sum()
    counts[places] = np.bincount(matrix.col[np.isnan(matrix.data)], minlength=len(places))
    return counts


def without_values(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which rows of a table (N,) have gaps in all of its columns.

    >>> sparse = pd.arrays.SparseArray([np.nan, 0.0, 1.0], fill_value=0.0)
    >>> without_values(pd.DataFrame({"a": [None, None, 1.0], "b": sparse})).tolist()
    [True, False, False]
    """
    places = of_zeros(frame)
    if not len(places):
        return cast(NDArray[np.bool_], frame.isna().all(axis=1).to_numpy(bool))
    dense = np.setdiff1d(np.arange(frame.shape[1]), places)
    matrix = as_matrix(frame.iloc[:, places])
    n_gaps = np.bincount(matrix.row[np.isnan(matrix.data)], minlength=len(frame))
    empty = frame.iloc[:, dense].isna().all(axis=1).to_numpy(bool)
    return cast(NDArray[np.bool_], empty & (n_gaps == len(places)))


def take_rows(frame: pd.DataFrame, places: Any) -> pd.DataFrame:
    """Return the rows of a table at these positions, or of a mask, or of a slice."""
    sparse = of_zeros(frame)
    if not len(sparse):
        return frame.iloc[places]
    # pandas would take the samples of each sparse column by itself.
    dense = np.setdiff1d(np.arange(frame.shape[1]), sparse)
    others = frame.iloc[:, dense].iloc[places]
    matrix = as_matrix(frame.iloc[:, sparse]).tocsr()[places]
    taken = sparse_frame(matrix, frame.columns[sparse].tolist(), others.index)
    table = pd.concat([others, taken], axis=1)
    order = np.argsort(np.concatenate([dense, sparse]), kind="stable")
    return table if (np.diff(order) == 1).all() else table.iloc[:, order]
