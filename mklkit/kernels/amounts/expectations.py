"""What kernels on amounts ask of their columns."""

from __future__ import annotations

import numpy as np

from mklkit.errors import DataError
from mklkit.protocols import Array

__all__ = ["expect_amounts", "expect_presence", "expected_amounts", "ratio", "shares"]


def expect_amounts(name: str, *arrays: Array) -> None:
    """Refuse numbers below zero, and such as are none.

    Raises
    ------
    DataError
    """
    for rows in arrays:
        if rows.size and not rows.min() >= 0:
            raise DataError(
                f"{name} compares amounts, such as counts or shares, which are zero or above; got"
                f" {float(rows.min()):g}: choose columns of amounts for it, as they are, unscaled."
            )


def expect_presence(name: str, *arrays: Array) -> None:
    """Refuse everything but zeros and ones.

    Raises
    ------
    DataError
    """
    for rows in arrays:
        other = (rows != 0) & (rows != 1)
        if other.any():
            raise DataError(
                f"{name} compares columns of 0 and 1; got {float(rows[other][0]):g}: choose columns"
                " of 0 and 1 for it, or a kernel on amounts, such as 'tanimoto' or 'min-max'."
            )


def shares(rows: Array) -> Array:
    """Return amounts (n, q) divided by their sum in each row; rows of zeros stay as they are.

    Examples
    --------
    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    sums = rows.sum(axis=1, dtype=np.float64)[:, None]
    return np.divide(rows, sums, where=sums > 0, out=np.zeros(rows.shape))


def expected_amounts(name: str, rows: Array, as_shares: bool) -> Array:
    """Return amounts (n, q) in float64, or their shares of each row's sum.

    Raises
    ------
    DataError
        For numbers below zero; the message has the name of the kernel.
    """
    expect_amounts(name, rows)
    return shares(rows) if as_shares else np.asarray(rows, dtype=np.float64)


def ratio(common: Array, total: Array) -> Array:
    """Return ``common / total``, and 1 where the total is 0: nothing is equal to nothing.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, 1. ])
    """
    return np.divide(common, total, where=total > 0, out=np.ones(np.shape(total)))
