"""Kernels on amounts: fingerprints, histograms, and times that recur."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import gt
from scipy.spatial.distance import cdist

from mklkit.kernels import AmountKernel, HistogramKernel
from mklkit.plugin import Array, FittedKernel, Kernel, KernelTraits, finite_number, register


@register
@attrs.frozen
class Tanimoto(AmountKernel):
    """Common share of two fingerprints, k(x, z) = xᵀz/(‖x‖² + ‖z‖² − xᵀz).

    For columns of 0 and 1 this is Jaccard's index, the share of the columns that both have among
    those that at least one has. Two samples of zeros have similarity one.

    Notes
    -----
    Cost: O(nmq) for q columns, one matrix product. Positive semi-definite for all samples,
    as it is Σ_t (xᵀz/(‖x‖² + ‖z‖²))^t over t from 1 up. Source: L. Ralaivola, S. Swamidass, H.
    Saigo, P. Baldi: Graph kernels for chemical informatics. Neural Networks 18 (2005).

    Examples
    --------
    >>> rows = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> Tanimoto().fit(rows)(rows, rows).round(3)
    array([[1.   , 0.333],
           [0.333, 1.   ]])
    """

    name: ClassVar[str] = "tanimoto"

    def similar(self, a: Array, b: Array) -> Array:
        """Return the inner products over the remainder of both squared lengths."""
        common = a @ b.T
        lengths = [np.einsum("ij,ij->i", rows, rows) for rows in (a, b)]
        total = lengths[0][:, None] + lengths[1] - common
        return np.divide(common, total, where=total > 0, out=np.ones(total.shape))


@register
@attrs.frozen
class Intersection(HistogramKernel):
    """Overlap of two histograms, k(x, z) = Σ_c min(x_c, z_c).

    Parameters
    ----------
    normalize : bool, default=True
        Whether each sample is first divided by its sum, so that k(x, x) = 1. All-zero samples stay
        unchanged and have similarity zero to all samples.

    Notes
    -----
    Cost: O(nmq) for q columns. Source: M. Swain, D. Ballard: Color indexing.
    International Journal of Computer Vision 7 (1991); positive semi-definite by F. Odone, A. Barla,
    A. Verri: Building kernels from binary strings for image matching. IEEE Transactions on Image
    Processing 14 (2005).

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0]])
    >>> Intersection().fit(rows)(rows, rows)
    array([[1.  , 0.75],
           [0.75, 1.  ]])
    """

    name: ClassVar[str] = "intersection"

    def similar(self, a: Array, b: Array) -> Array:
        """Return the sums of the lesser values."""
        # The values of both samples add up to Σ min + Σ max, and their distance Σ max − Σ min.
        sums = a.sum(axis=1)[:, None] + b.sum(axis=1)
        return np.maximum(sums - cdist(a, b, "cityblock"), 0) / 2


@register
@attrs.frozen
class Periodic(Kernel, FittedKernel):
    """Similarity of recurring times, k(x, z) = exp(−(2/ℓ²) Σ_c sin²(π(x_c − z_c)/p)).

    For several columns it is the product of the kernels of each; all have the same period, so give
    columns with other periods a separate kernel.

    Parameters
    ----------
    period : float, default=24.0
        p, in the units of the columns: 24 for hours of the day, 7 for days of the week, 360 for
        degrees; above zero.
    length : float, default=1.0
        ℓ, above zero: the larger, the wider. With ℓ = 1 times half a period apart have similarity
        exp(−2) = 0.14.

    Notes
    -----
    Cost: O(nmq) for q columns. It is the Gaussian kernel with σ = ℓ of the places on a
    circle, and so positive semi-definite. Source: D. MacKay: Introduction to Gaussian processes.
    Neural Networks and Machine Learning, 1998.

    Examples
    --------
    >>> hours = np.array([[23.0], [1.0], [12.0]])
    >>> Periodic().fit(hours)(hours, hours).round(2)
    array([[1.  , 0.87, 0.14],
           [0.87, 1.  , 0.14],
           [0.14, 0.14, 1.  ]])
    """

    name: ClassVar[str] = "periodic"
    traits: ClassVar[KernelTraits] = KernelTraits(
        reads="amounts", search_space={"length": (2.0, 1.0, 0.5)}
    )

    period: float = attrs.field(default=24.0, converter=float, validator=[finite_number, gt(0)])
    length: float = attrs.field(default=1.0, converter=float, validator=[finite_number, gt(0)])

    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel itself, which does not depend on the samples."""
        return self

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        # 2 sin²(δ/2) = 1 − cos δ, and cos δ is the inner product of two places on the circle.
        values = self._on_circles(a) @ self._on_circles(b).T
        values -= a.shape[1]
        values /= self.length
        values /= self.length
        return np.exp(np.minimum(values, 0, out=values), out=values)

    def diagonal(self, a: Array) -> Array:
        """Return 1 for each sample."""
        return np.ones(len(a))

    def _on_circles(self, rows: Array) -> Array:
        # First the exact remainder: the angle of a large number has few digits left.
        angles = 2 * np.pi / self.period * np.remainder(rows, self.period, dtype=np.float64)
        return np.hstack([np.cos(angles), np.sin(angles)])
