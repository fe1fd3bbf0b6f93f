"""Kernels around another, minus its mean or divided by its size on the training samples."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np

from mklkit.kernels import WrappingKernel
from mklkit.plugin import Array, FittedKernel, register

MOST_ROWS = 5000
"""The most training samples, evenly spaced, that new samples are compared with for the mean."""
BLOCK_ROWS = 256


@register
@attrs.frozen
class Centered(WrappingKernel):
    """Another kernel minus the mean of the training samples in its feature space.

    k(x, z) − m(x) − m(z) + m̄ with m(x) the mean similarity of x to the training samples and m̄
    that of m over these, so that rows and columns of the training samples' Gram matrix have mean
    zero.

    Parameters
    ----------
    kernel : Kernel or str, default='rbf'
        The kernel that is centred.

    Notes
    -----
    Cost: that of the other kernel, and O(nN) for the means of n new samples.

    The model keeps the training samples, or 5,000 evenly spaced ones, for the mean, in which
    sample weights count. A new sample is compared with all of them; the means of kept samples
    are stored. If a learner has a free bias and coefficients of sum zero, as support vector
    machines do, centring does not change decisions, only learned weights.

    Source: J. Shawe-Taylor, N. Cristianini: Kernel Methods for Pattern Analysis. Cambridge
    University Press (2004).

    Examples
    --------
    >>> rows = np.array([[1.0], [2.0], [6.0]])
    >>> Centered("linear").fit(rows)(rows, rows)
    array([[ 4.,  2., -6.],
           [ 2.,  1., -3.],
           [-6., -3.,  9.]])
    """

    name: ClassVar[str] = "centered"

    def wrap(self, fitted: FittedKernel, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the centred kernel."""
        count = min(len(rows), MOST_ROWS)
        places = np.linspace(0, len(rows) - 1, count).round().astype(np.intp)
        kept = np.ascontiguousarray(rows[places])
        shares = row_weights[places]
        order = np.argsort(_keys(kept), kind="stable")
        kept = kept[order]
        shares = shares[order] / shares.sum()
        means = _means(fitted, kept, kept, shares)
        return FittedCentered(fitted, kept, shares, means, float(shares @ means))


@register
@attrs.frozen(eq=False)
class FittedCentered(FittedKernel):
    """The centred kernel, with the samples (n, d) that define the mean, their shares and means.

    Samples are sorted by their bytes, for looking them up.
    """

    kernel: FittedKernel
    rows: Array
    shares: Array
    means: Array
    mean: float

    def mean_similarity(self, a: Array) -> Array:
        """Return the mean similarity of each sample to the training samples: (n,)."""
        if a.dtype != self.rows.dtype or a.shape[1] != self.rows.shape[1]:
            return _means(self.kernel, a, self.rows, self.shares)
        known, keys = _keys(self.rows), _keys(np.ascontiguousarray(a))
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        means = self.means[places]
        new = known[places] != keys
        if new.any():
            means[new] = _means(self.kernel, a[new], self.rows, self.shares)
        return means

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        values = self.kernel(a, b)
        values = values - (self.mean_similarity(a) - self.mean).astype(values.dtype)[:, None]
        values -= self.mean_similarity(b)
        return values

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself: (n,)."""
        values = self.kernel.diagonal(a)
        return values - (2 * self.mean_similarity(a) - self.mean).astype(values.dtype)


def _keys(rows: Array) -> Any:
    """Return each sample's bytes, which can be sorted."""
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _means(kernel: FittedKernel, a: Array, rows: Array, shares: Array) -> Array:
    starts = range(0, len(a), BLOCK_ROWS)
    blocks = [kernel(a[start : start + BLOCK_ROWS], rows) @ shares for start in starts]
    return np.concatenate(blocks).astype(np.float64)


@register
@attrs.frozen
class TraceNormalized(WrappingKernel):
    """Another kernel divided by the mean k(x, x) of the training samples, for comparable kernels.

    The trace of the training samples' Gram matrix is their number. Unlike ``cosine`` it preserves
    the relative lengths of samples. A kernel whose mean k(x, x) is not above zero stays unchanged.

    Parameters
    ----------
    kernel : Kernel or str, default='rbf'
        The kernel that is divided.

    Notes
    -----
    Cost: that of the other kernel, and O(N) for the trace.

    Source: G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui, M. I. Jordan: Learning
    the kernel matrix with semidefinite programming. Journal of Machine Learning Research 5 (2004).

    Examples
    --------
    >>> rows = np.array([[1.0], [3.0]])
    >>> TraceNormalized("linear").fit(rows)(rows, rows)
    array([[0.2, 0.6],
           [0.6, 1.8]])
    """

    name: ClassVar[str] = "trace-normalized"

    def wrap(self, fitted: FittedKernel, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel divided by its mean k(x, x)."""
        size = float(np.average(fitted.diagonal(rows).astype(np.float64), weights=row_weights))
        return FittedTraceNormalized(fitted, size if size > 0 else 1.0)


@register
@attrs.frozen
class FittedTraceNormalized(FittedKernel):
    """The kernel and its divisor, ready to evaluate."""

    kernel: FittedKernel
    size: float

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        return self.kernel(a, b) / self.size

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself: (n,)."""
        return self.kernel.diagonal(a) / self.size
