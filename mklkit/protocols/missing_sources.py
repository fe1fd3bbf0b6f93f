"""Masks of missing sources: which samples (n,) have none of the columns that a kernel reads.

A mask is True where a sample misses the source, and (n, M) for M kernels; ``None`` stands for
samples that have everything. Similarities and features are zero there, and a weighted sum is scaled
by what each sample has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Mask",
    "members_with",
    "missing_patterns",
    "present_weights",
    "sample_scale",
    "times_rows",
    "zeroed",
]

Array = NDArray[np.floating[Any]]

Mask = NDArray[np.bool_] | None
"""Which samples miss a source (n,), or each of several (n, M); None if they have everything."""


def members_with(missing: Mask) -> NDArray[np.intp] | None:
    """Return the samples that have a source; None if all have, or fewer than two.

    Statistics of a kernel, its bandwidth and its map are those of these samples.

    >>> members_with(np.array([False, True, False])).tolist()
    [0, 2]
    """
    members = np.flatnonzero(~missing) if missing is not None and missing.any() else ()
    return np.asarray(members) if len(members) > 1 else None


def zeroed(values: Array, missing: Mask, others: Mask = None) -> Array:
    """Set values (n, …) of samples that miss the source to zero, in place, and return them.

    ``others`` are the samples of the columns of similarities (n, m).
    """
    if missing is not None:
        values[missing] = 0
    if others is not None:
        values[:, others] = 0
    return values


def missing_patterns(missing: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the number (N,) of each sample's pattern of missing sources, and the patterns (K, M).

    >>> codes, table = missing_patterns(np.array([[True, False], [False, False], [True, False]]))
    >>> codes.tolist(), table.tolist()
    ([1, 0, 1], [[False, False], [True, False]])
    """
    codes = np.zeros(len(missing), np.intp)
    for of_source in missing[:, missing.any(axis=0)].T:
        codes = np.unique(2 * codes + of_source, return_inverse=True)[1]
    return codes, missing[np.unique(codes, return_index=True)[1]]


def sample_scale(missing: NDArray[np.bool_], weights: Array) -> Array:
    """Return the scale √(Σ w_m / s(x)) of samples that miss sources.

    s(x) is the sum of the weights of the sources that sample x has.

    Parameters
    ----------
    missing : ndarray of bool of shape (n, M)
        Which samples miss each source.
    weights : ndarray of shape (M,)
        The weights w of the sources, none negative.

    Returns
    -------
    ndarray of shape (n,)
        The scales: 1 for a sample with all sources, 0 for one without a source of non-zero weight.

    Examples
    --------
    >>> sample_scale(np.array([[False, False], [False, True]]), np.array([1.0, 3.0])).tolist()
    [1.0, 2.0]
    """
    # The total is summed in the same order, so that a sample with all sources has scale exactly 1.
    sums = np.where(np.vstack([missing, np.zeros_like(missing[:1])]), 0.0, weights).sum(axis=1)
    positive = sums[:-1] > 0
    return np.sqrt(np.divide(sums[-1], sums[:-1], where=positive, out=np.zeros(len(missing))))


def present_weights(missing: NDArray[np.bool_], weights: Array) -> Array:
    """Return the weights of the sources that samples have (n, M), with the sum of all weights (M,).

    They are 0 for a sample without a source of non-zero weight.

    >>> present_weights(np.array([[False, False], [False, True]]), np.array([0.25, 0.75])).tolist()
    [[0.25, 0.75], [1.0, 0.0]]
    """
    shares = np.where(missing, 0.0, weights)
    sums = shares.sum(axis=1, keepdims=True)
    scaled = np.divide(shares, sums, where=sums > 0, out=np.zeros_like(shares)) * weights.sum()
    return np.where(missing.any(axis=1, keepdims=True), scaled, weights)


def times_rows(columns: Array, scale: Array, out: Array | None = None) -> Array:
    """Return columns (n, …) times one number per sample (n,), in their own type."""
    factors = scale.reshape(-1, *[1] * (columns.ndim - 1)).astype(columns.dtype)
    return np.multiply(columns, factors, out=out)
