"""The leave-one-out error of kernel ridge regression, from one eigendecomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mklkit.numerics.centring import centred_gram

__all__ = ["leave_one_out_error"]

RIDGES = (0.01, 0.1, 1.0, 10.0)
"""Times the variance of the rows in feature space, tr(HKH)/n."""


def leave_one_out_error(gram: NDArray[Any], targets: NDArray[Any]) -> float:
    """Return the mean squared error of each row predicted from all others, at the best ridge.

    Kernel ridge regression with an intercept, for ridges of 0.01, 0.1, 1 and 10 times tr(HKH)/n.
    Exact without a fit per row: the residual of the fit to all rows is divided by 1 − h_ii, with H
    the matrix that maps targets to predictions (Allen 1974; Hastie, Tibshirani and Friedman, "The
    Elements of Statistical Learning", equation 7.64).

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    targets : ndarray of shape (n, q)

    Returns
    -------
    float
        Summed over the q targets; that of the mean of the others for a constant kernel.

    Notes
    -----
    O(n³), once for all ridges.

    Examples
    --------
    >>> import numpy as np
    >>> rows, y = np.arange(4.0), np.array([0.0, 0.0, 1.0, 1.0])
    >>> leave_one_out_error(np.outer(rows, rows), y[:, None])  # doctest: +ELLIPSIS
    0.115...
    """
    n_rows = len(gram)
    mean = targets.mean(axis=0)
    values, vectors = eigh(centred_gram(gram), check_finite=False)
    values = np.maximum(values, 0)
    spread = values.sum() / n_rows
    turned, squares = vectors.T @ (targets - mean), vectors**2
    errors = []
    for ridge in RIDGES if spread > 0 else (1.0,):
        shares = values / (values + (ridge * spread or 1.0))
        residuals = targets - mean - vectors @ (shares[:, None] * turned)
        left_out = np.maximum(1 - 1 / n_rows - squares @ shares, np.finfo(np.float64).eps)
        errors.append(float(np.square(residuals / left_out[:, None]).sum() / n_rows))
    return min(errors)
