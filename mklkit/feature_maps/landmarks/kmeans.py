"""Landmarks that are the centres of k-means clusters of the training rows."""

from __future__ import annotations

import attrs
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from mklkit.views.kernel_rows import KernelRows

__all__ = ["choose"]

SAMPLE = 50_000
"""Rows beyond which the centres are those of a random sample of so many rows."""

BATCH = 1024


def choose(seen: KernelRows, count: int, random_state: np.random.RandomState) -> KernelRows:
    """Return the kernels on centres of scikit-learn's ``MiniBatchKMeans``.

    The error of the Nyström approximation is bounded by the mean squared distance of the rows from
    their landmarks, which k-means minimises (Zhang, Tsang & Kwok, Improved Nyström low-rank
    approximation and error analysis, ICML 2008). The distance is taken over the columns of all
    kernels; a column counts once for each set of columns in which it is used.

    Notes
    -----
    O(Npd) per pass over at most 50,000 rows, which are in memory at once.
    """
    members: slice | np.ndarray = slice(None)
    if seen.n_rows > SAMPLE:
        members = np.sort(random_state.permutation(seen.n_rows)[:SAMPLE])
    arrays = seen.take(members).arrays
    clusters = MiniBatchKMeans(
        count, batch_size=BATCH, n_init=1, random_state=random_state.randint(2**31 - 1)
    )
    # Squares of these neither overflow nor lose the digits of rows far from zero.
    near = np.hstack(arrays)
    largest = np.abs(near).max() or near.dtype.type(1)
    near = near / largest
    middle = near.mean(axis=0)
    near -= middle
    # One thread, so that the order of its sums, and with it the centres, is always the same.
    with threadpool_limits(1):
        clusters.fit(near)
    ends = np.cumsum([array.shape[1] for array in arrays])[:-1]
    parts = np.split((clusters.cluster_centers_ + middle) * largest, ends, axis=1)
    return attrs.evolve(
        seen,
        arrays=tuple(
            np.ascontiguousarray(part, dtype=array.dtype)
            for part, array in zip(parts, arrays, strict=True)
        ),
    )
