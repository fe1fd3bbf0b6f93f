"""Moments of columns: number of known values, mean, standard deviation and kurtosis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from mklkit.numerics.pairwise import row_blocks

CELLS = 1 << 21
"""The cells whose powers are in memory at a time."""
POWERS = 5
"""Sums of the powers 0 to 4 give the moments."""

Values = NDArray[np.float64]


def column_moments(numbers: Any) -> Values:
    """Return the moments (4, d) of columns (n, d), sparse or not, that may have gaps.

    They are the number of values, their mean, their standard deviation and their kurtosis (3 of a
    normal distribution), 0 where values are too few or all the same.

    >>> column_moments(np.array([[1.0], [2.0], [3.0], [np.nan]])).tolist()
    [[3.0], [2.0], [1.0], [1.5]]
    """
    if issparse(numbers):
        sums = _sums_of_sparse(numbers)
        mean = sums[1] / np.maximum(1, sums[0])
        return moments_of_sums(about(sums, mean), mean)
    values = np.asarray(numbers)
    moments = np.zeros((4, values.shape[1]))
    for place in row_blocks(values.shape[1], max(1, CELLS // max(1, len(values)))):
        part = values[:, place].astype(np.float64)
        n = np.maximum(1, (~np.isnan(part)).sum(axis=0))
        mean = np.nansum(part, axis=0) / n
        moments[:, place] = moments_of_sums(power_sums(part - mean), mean)
    return moments


def _sums_of_sparse(numbers: Any) -> Values:
    """Return the sums (5, d) of the powers 0 to 4 of the known values of sparse columns (n, d)."""
    columns = numbers.tocsc()
    n_rows, width = columns.shape
    owners = np.repeat(np.arange(width), np.diff(columns.indptr))
    gaps = np.isnan(columns.data)
    owners, values = owners[~gaps], columns.data[~gaps].astype(np.float64)
    n_gaps = np.diff(columns.indptr) - np.bincount(owners, minlength=width)
    sums = [np.bincount(owners, values**power, minlength=width) for power in range(1, POWERS)]
    return np.stack([n_rows - n_gaps, *sums])


def power_sums(values: Values) -> Values:
    """Return the sums (5, d) of the powers 0 to 4 of known values (n, d)."""
    with np.errstate(over="ignore", invalid="ignore"):
        known = ~np.isnan(values)
        squares = values**2
        sums = [values, squares, squares * values, squares**2]
        return np.stack([known.sum(axis=0), *(np.nansum(each, axis=0) for each in sums)])


def about(sums: Values, center: Values) -> Values:
    """Return the sums of powers of values less a number for each column."""
    n, x, xx, xxx, xxxx = sums.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.stack(
            [
                n,
                x - n * center,
                xx - 2 * center * x + n * center**2,
                xxx - 3 * center * xx + 3 * center**2 * x - n * center**3,
                xxxx - 4 * center * xxx + 6 * center**2 * xx - 4 * center**3 * x + n * center**4,
            ]
        )


def moments_of_sums(sums: Values, mean: Values) -> Values:
    """Return the moments (4, d) of columns from sums of powers of the values less their mean."""
    n = sums[0].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        squares, fourths = np.maximum(0, sums[2]), np.maximum(0, sums[4])
        deviation = np.sqrt(squares / (n - 1))
        kurtosis = n * fourths / squares**2
    few = (n < 2) | (squares == 0)
    return np.stack([n, mean, np.where(few, 0, deviation), np.where(few, 0, kurtosis)])
