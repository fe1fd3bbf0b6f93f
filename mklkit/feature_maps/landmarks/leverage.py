"""Landmarks drawn by approximate ridge leverage scores of the training rows."""

from __future__ import annotations

import numpy as np

from mklkit.numerics.least_squares import Spectrum
from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import Array
from mklkit.views.kernel_rows import KernelRows

__all__ = ["choose", "leverage_scores"]

BLOCK_ROWS = 1024


def choose(seen: KernelRows, count: int, random_state: np.random.RandomState) -> KernelRows:
    """Return the kernels on rows drawn without replacement in proportion to their scores.

    The scores are those of the mean of the kernels, each divided by its mean k(x, x), so that all
    kernels have the same landmarks. They are computed from as many rows drawn uniformly as there
    are to be landmarks. Rows drawn by such scores usually get a weight; the features do not depend
    on it, as K_NS K_SS⁻¹ K_SN stays the same when the columns of K_NS are scaled.

    Notes
    -----
    O(Np(Md + p) + p³) for p landmarks.
    """
    pilot = seen.take(np.sort(random_state.permutation(seen.n_rows)[:count]))
    # Rows whose score is zero after rounding are drawn last, but at random.
    scores = np.maximum(leverage_scores(seen, pilot), np.finfo(np.float64).eps)
    # Of exponential times with these rates, the first ``count`` to end are such a draw.
    times = random_state.standard_exponential(seen.n_rows) / scores
    return seen.take(np.sort(np.argsort(times, kind="stable")[:count]))


def leverage_scores(seen: KernelRows, pilot: KernelRows, ridge: float | None = None) -> Array:
    """Return the approximate ridge leverage scores (N,) of the rows, at most 1.

    With s pilot rows J drawn uniformly,

        ℓ(i) = (k(i, i) − k(i, J) (K_JJ + λsI)⁻¹ k(J, i)) / λN,

    equation (3) of Rudi, Calandriello, Carratino & Rosasco, On fast leverage score sampling and
    optimal learning, NeurIPS 2018, for a uniform J. It approximates diag(K(K + λNI)⁻¹).

    Parameters
    ----------
    seen : KernelRows
        The kernels and the training rows.
    pilot : KernelRows
        The same kernels on the rows J.
    ridge : float, optional
        λ, relative to the mean of k(x, x); by default 1/k times the sum of all eigenvalues of
        K_JJ/s but the largest k = s/(4 log s), as in Musco & Musco, Recursive sampling for the
        Nyström method, NIPS 2017.
    """
    n_pilot = pilot.n_rows
    scales = [float(np.abs(diagonal).mean()) or 1.0 for diagonal in pilot.diagonals()]
    factors = 1 / (len(seen) * np.array(scales))
    spectrum = Spectrum.of(_mean_kernel(pilot, pilot, factors))
    values = spectrum.values / n_pilot
    if not values.size:
        return np.ones(seen.n_rows)
    if ridge is None:
        n_large = int(np.ceil(n_pilot / (4 * np.log(max(n_pilot, 2)))))
        rounding = n_pilot * float(np.finfo(values.dtype).eps)
        ridge = max(float(values[n_large:].sum()) / n_large, rounding * float(values[0]))
    directions = spectrum.vectors / np.sqrt(spectrum.values + ridge * n_pilot)

    def block_scores(block: slice) -> Array:
        own = seen.take(block)
        explained = _mean_kernel(own, pilot, factors) @ directions
        return factors @ own.diagonals() - np.einsum("ij,ij->i", explained, explained)

    blocks = row_blocks(seen.n_rows, BLOCK_ROWS)
    unexplained = np.concatenate(list(each(block_scores, blocks)))
    return np.clip(unexplained / (ridge * seen.n_rows), 0, 1)


def _mean_kernel(rows: KernelRows, others: KernelRows, factors: Array) -> Array:
    """Return the weighted sum of the kernels, (n, m), in the precision of the rows."""
    total = np.zeros((rows.n_rows, others.n_rows), dtype=np.result_type(*rows.arrays))
    for index, values in rows.similarities(others):
        total += float(factors[index]) * values
    return total
