"""Sparse matrices, which no estimator takes as rows yet."""

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
        raise DataError(
            f"{name} is a sparse matrix ({type_name(value)} of shape {value.shape}), and mklkit"
            f" takes dense ones: {INSTEAD if name == 'X' else TO_ARRAY}."
        )
    kinds = value.dtypes.tolist() if isinstance(value, pd.DataFrame) else []
    if kinds and all(isinstance(kind, pd.SparseDtype) for kind in kinds):
        raise DataError(
            f"{name} is a DataFrame of {len(kinds)} sparse columns, and mklkit takes dense ones:"
            " turn it into a dense one with .sparse.to_dense()."
        )
