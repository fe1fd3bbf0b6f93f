"""Landmarks of an empirical map: strategies that choose them among the training samples.

A strategy takes kernels with their N training samples, and returns them on ``count`` < N landmarks
instead. Kernels that share an array of samples share one of landmarks.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
from threadpoolctl import threadpool_limits

from mklkit.numerics.least_squares import Spectrum
from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array
from mklkit.views.kernel_rows import KernelRows

SAMPLE = 50_000
"""With more samples, k-means takes a random sample of this size."""
BATCH = 1024
BLOCK_ROWS = 1024


def drawn_uniformly(
    kernels: KernelRows, count: int, random_state: np.random.RandomState
) -> KernelRows:
    """Return the kernels on samples drawn without replacement, in their order; O(N)."""
    return kernels.take(np.sort(random_state.permutation(kernels.n_rows)[:count]))


def k_means_centers(
    kernels: KernelRows, count: int, random_state: np.random.RandomState
) -> KernelRows:
    """Return the kernels on centres of scikit-learn's ``MiniBatchKMeans``, in O(Npd) per pass.

    The error of the Nyström approximation is bounded by the mean squared distance of the samples
    from their landmarks, which k-means minimises (Zhang, Tsang & Kwok, Improved Nyström low-rank
    approximation and error analysis, ICML 2008). The distance is taken over the columns of all
    kernels; a column counts once for each set of columns in which it is used. At most 50,000
    samples are in memory at once.
    """
    from sklearn.cluster import MiniBatchKMeans

    members: slice | np.ndarray = slice(None)
    if kernels.n_rows > SAMPLE:
        members = np.sort(random_state.permutation(kernels.n_rows)[:SAMPLE])
    arrays = kernels.take(members).arrays
    clusters = MiniBatchKMeans(
        count, batch_size=BATCH, n_init=1, random_state=random_state.randint(2**31 - 1)
    )
    # Squares of these neither overflow nor lose the digits of samples far from zero.
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
        kernels,
        arrays=tuple(
            np.ascontiguousarray(part, dtype=array.dtype)
            for part, array in zip(parts, arrays, strict=True)
        ),
    )


def by_leverage(kernels: KernelRows, count: int, random_state: np.random.RandomState) -> KernelRows:
    """Return the kernels on samples drawn without replacement in proportion to their scores.

    The scores are those of the mean of the kernels, each divided by its mean k(x, x), so that all
    kernels have the same landmarks. They are computed from a uniform draw of as many samples as
    landmarks are needed. Samples drawn by such scores usually get a weight; the features do not
    depend on it, since K_NS K_SS⁻¹ K_SN is the same when the columns of K_NS are scaled. O(Np(Md +
    p) + p³).
    """
    pilot = kernels.take(np.sort(random_state.permutation(kernels.n_rows)[:count]))
    # Samples whose score is zero after rounding are drawn last, but at random.
    scores = np.maximum(leverage_scores(kernels, pilot), np.finfo(np.float64).eps)
    # With exponential times of these rates, the first ``count`` to end are such a draw.
    times = random_state.standard_exponential(kernels.n_rows) / scores
    return kernels.take(np.sort(np.argsort(times, kind="stable")[:count]))


def leverage_scores(kernels: KernelRows, pilot: KernelRows, ridge: float | None = None) -> Array:
    """Return the approximate ridge leverage scores (N,) of the samples, at most 1.

    With s pilot samples J drawn uniformly,

        ℓ(i) = (k(i, i) − k(i, J) (K_JJ + λsI)⁻¹ k(J, i)) / λN,

    equation (3) of Rudi, Calandriello, Carratino & Rosasco, On fast leverage score sampling and
    optimal learning, NeurIPS 2018, for a uniform J. It approximates diag(K(K + λNI)⁻¹). The
    ``ridge`` λ is relative to the mean of k(x, x); by default 1/k times the sum of all eigenvalues
    of K_JJ/s but the largest k = s/(4 log s), as in Musco & Musco, Recursive sampling for the
    Nyström method, NIPS 2017.
    """
    n_pilot = pilot.n_rows
    scales = [float(np.abs(diagonal).mean()) or 1.0 for diagonal in pilot.diagonals()]
    factors = 1 / (len(kernels) * np.array(scales))
    spectrum = Spectrum.of(_mean_kernel(pilot, pilot, factors))
    values = spectrum.values / n_pilot
    if not values.size:
        return np.ones(kernels.n_rows)
    if ridge is None:
        n_large = int(np.ceil(n_pilot / (4 * np.log(max(n_pilot, 2)))))
        rounding = n_pilot * float(np.finfo(values.dtype).eps)
        ridge = max(float(values[n_large:].sum()) / n_large, rounding * float(values[0]))
    directions = spectrum.vectors / np.sqrt(spectrum.values + ridge * n_pilot)

    def block_scores(block: slice) -> Array:
        members = kernels.take(block)
        explained = _mean_kernel(members, pilot, factors) @ directions
        return factors @ members.diagonals() - np.einsum("ij,ij->i", explained, explained)

    blocks = row_blocks(kernels.n_rows, BLOCK_ROWS)
    unexplained = np.concatenate(list(each(block_scores, blocks)))
    return np.clip(unexplained / (ridge * kernels.n_rows), 0, 1)


def _mean_kernel(rows: KernelRows, pilot: KernelRows, factors: Array) -> Array:
    """Return the weighted sum of the kernels, (n, m), in the precision of the samples."""
    dtype = np.result_type(*[array.dtype for array in rows.arrays])
    total = np.zeros((rows.n_rows, pilot.n_rows), dtype)
    for index, values in rows.similarities(pilot):
        total += float(factors[index]) * values
    return total


STRATEGIES: dict[str, Callable[[KernelRows, int, np.random.RandomState], KernelRows]] = {
    "kmeans": k_means_centers,
    "leverage": by_leverage,
    "uniform": drawn_uniformly,
}
