"""Sparse matrices, which estimators take as sources only."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mklkit.errors import DataError, type_name

TO_ARRAY = "turn it into an array with .toarray()"
INSTEAD = (
    f"{TO_ARRAY} if that fits into memory, or reduce it to some hundred columns with scikit-learn's"
    " TruncatedSVD"
)
"""What to do with sparse rows."""


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
    if is_sparse_frame(value):
        raise DataError(
            f"{name} is a DataFrame of {value.shape[1]} sparse columns, and mklkit takes dense"
            " ones: turn it into a dense one with .sparse.to_dense()."
        )


def is_sparse_frame(value: Any) -> bool:
    """Return whether a value is a DataFrame whose columns are all sparse."""
    kinds = value.dtypes.tolist() if isinstance(value, pd.DataFrame) else []
    return bool(kinds) and all(isinstance(kind, pd.SparseDtype) for kind in kinds)
