"""The intersection kernel of histograms."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import instance_of
from scipy.spatial.distance import cdist

from mklkit.kernels.amounts.expectations import expect_amounts, expected_amounts
from mklkit.protocols import Array, FittedKernel, Kernel, KernelFacts
from mklkit.registry.hookspecs import register

__all__ = ["FittedIntersection", "Intersection"]


@register
@attrs.frozen
class Intersection(Kernel):
    """Overlap of two histograms, k(x, z) = Σ_c min(x_c, z_c).

    Parameters
    ----------
    normalize : bool, default=True
        Whether each row is first divided by its sum, so that k(x, x) = 1. Rows of zeros stay as
        they are and have similarity zero to all rows.

    Notes
    -----
    O(nmq) for q columns. Of M. Swain, D. Ballard: Color indexing. International Journal of Computer
    Vision 7 (1991); positive semi-definite by F. Odone, A. Barla, A. Verri: Building kernels from
    binary strings for image matching. IEEE Transactions on Image Processing 14 (2005).

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0]])
    >>> Intersection().fit(rows)(rows, rows)
    array([[1.  , 0.75],
           [0.75, 1.  ]])
    """

    name: ClassVar[str] = "intersection"
    facts: ClassVar[KernelFacts] = KernelFacts(reads="amounts")

    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def fit(self, rows: Array) -> FittedIntersection:
        """Return the kernel (nothing depends on the rows)."""
        expect_amounts("intersection", rows)
        return FittedIntersection(self.normalize)


@register
@attrs.frozen
class FittedIntersection(FittedKernel):
    """The intersection kernel, ready to evaluate."""

    normalize: bool

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        a, b = (expected_amounts("intersection", rows, self.normalize) for rows in (a, b))
        # The sum of both rows is Σ min + Σ max, and their distance Σ max − Σ min.
        common = a.sum(axis=1)[:, None] + b.sum(axis=1) - cdist(a, b, "cityblock")
        return np.maximum(common, 0, out=common) / 2

    def diagonal(self, a: Array) -> Array:
        """Return the sum of each row: (n,)."""
        return expected_amounts("intersection", a, self.normalize).sum(axis=1)
