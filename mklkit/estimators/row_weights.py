"""Weights of rows: checked, and rows that do not count left out."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from mklkit.errors import DataError, counted
from mklkit.protocols import Array, Rows
from mklkit.views.row_parts import take_rows

__all__ = ["checked_row_weights", "counting_rows"]


def checked_row_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Return the weights of rows (N,) in float64; None where all of them are 1.

    Parameters
    ----------
    sample_weight : None, number, or array-like of shape (N,)
    n_rows : int

    Raises
    ------
    DataError
        If there are not as many weights as rows, or one is negative, NaN or infinite, or all are 0.

    Examples
    --------
    >>> checked_row_weights([1, 2], 2)
    array([1., 2.])
    >>> checked_row_weights([1, 1], 2) is None
    True
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n_rows, sample_weight)
    try:
        weights = np.asarray(column_or_1d(sample_weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Weights of rows must be one number per row, an array of shape ({n_rows},): {error}"
        ) from None
    if len(weights) != n_rows:
        raise DataError(
            f"There must be one weight per row; got {counted(len(weights), 'weight')} for"
            f" {counted(n_rows, 'row')}."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(
            f"Weights of rows must be finite and not negative; that of row {wrong[0]} (counted"
            f" from 0) is {weights[wrong[0]]:g}."
        )
    if not weights.any():
        raise DataError("All weights of rows are zero, so there is no row to learn from.")
    return None if (weights == 1).all() else weights


def counting_rows(
    X: Rows, values: NDArray[Any], weights: Array | None
) -> tuple[Rows, NDArray[Any], Array | None]:
    """Return rows, values and weights without rows of weight 0, which are no rows."""
    if weights is None or weights.all():
        return X, values, weights
    kept = np.flatnonzero(weights)
    left = weights[kept]
    return take_rows(X, kept), values[kept], None if (left == 1).all() else left
