"""Kernels that are inner products of sparse features, such as counts of k-mers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.kernels.normalized import NormalizedKernel
from mklkit.numerics.sparse_rows import Sparse, sparse_products
from mklkit.protocols import Array


def numbered(keys: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Return a number from 0 up for each key, the same for equal keys, and how many there are.

    In O(len(keys)), by a table for small whole numbers.

    Examples
    --------
    >>> numbered(np.array([70, 20, 70])), numbered(np.array([3, 0, 3, 2]))
    ((array([0, 1, 0]), 2), (array([2, 0, 2, 1]), 3))
    """
    if keys.dtype == np.int64 and keys.max(initial=0) < 4 * len(keys):
        ranks = np.zeros(int(keys.max()) + 1, dtype=np.int64)
        ranks[keys] = 1
        np.cumsum(ranks, out=ranks)
        return ranks[keys] - 1, int(ranks[-1])
    numbers, uniques = pd.factorize(keys)
    return numbers, len(uniques)


class FeatureKernel(NormalizedKernel):
    """Template: a fitted kernel φ(x)ᵀGφ(z) of sparse features, normalised so that k(x, x) = 1.

    A subclass implements :meth:`features`.

    See Also
    --------
    mklkit.plugin.FittedKernel : The base.

    Examples
    --------
    The shared values of two samples of whole numbers, each counted as often as it occurs:

    >>> import scipy.sparse
    >>> class Counts(FeatureKernel):
    ...     def features(self, rows):
    ...         counts = np.stack([np.bincount(row.astype(int), minlength=9) for row in rows])
    ...         sparse = scipy.sparse.csr_array(counts.astype(float))
    ...         return sparse, sparse
    >>> rows = np.array([[1.0, 2.0], [2.0, 2.0]])
    >>> Counts()(rows, rows).round(3).tolist()
    [[1.0, 0.707], [0.707, 1.0]]
    """

    __slots__ = ()

    @abstractmethod
    def features(self, rows: Array) -> tuple[Sparse, Sparse]:
        """Return the features of samples, plain and times G.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
            Samples.

        Returns
        -------
        plain : sparse matrix of shape (n, V)
            The features φ(x).
        weighted : sparse matrix of shape (n, V)
            The products Gφ(x); the same matrix if G is the identity.
        """

    def parts(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return the products, with features of both together, since they share a numbering."""
        plain, weighted = self.features(stacked(a, b))
        squares = _squares(plain, weighted)
        return (
            sparse_products(plain[: len(a)], weighted[len(a) :]),
            squares[: len(a)],
            squares[len(a) :],
        )

    def squares(self, a: Array) -> Array:
        """Return φ(x)ᵀGφ(x): (n,)."""
        return _squares(*self.features(a))


def _squares(plain: Sparse, weighted: Sparse) -> Array:
    return np.asarray(plain.multiply(weighted).sum(axis=1), dtype=np.float64).ravel()


def stacked(a: Array, b: Array) -> Array:
    """Return the samples of both stacked; shorter ones are padded like texts."""
    both = np.full((len(a) + len(b), max(a.shape[1], b.shape[1])), -1.0)
    both[: len(a), : a.shape[1]] = a
    both[len(a) :, : b.shape[1]] = b
    return both
