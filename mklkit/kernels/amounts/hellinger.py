"""The Hellinger kernel of counts and distributions."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import instance_of

from mklkit.kernels.amounts.expectations import expect_amounts, expected_amounts
from mklkit.protocols import Array, FittedKernel, Kernel, KernelFacts
from mklkit.registry.hookspecs import register

__all__ = ["FittedHellinger", "Hellinger"]


@register
@attrs.frozen
class Hellinger(Kernel):
    """Bhattacharyya's coefficient of two rows of counts, k(x, z) = Σ_c √(x_c z_c).

    The linear kernel of the roots of the counts, which have about the same variance whatever their
    size.

    Parameters
    ----------
    normalize : bool, default=True
        Whether each row is first divided by its sum, so that k(x, x) = 1. Rows of zeros stay as
        they are and have similarity zero to all rows.

    Notes
    -----
    O(nmq) for q columns, one matrix product. Of T. Jebara, R. Kondor: Bhattacharyya and expected
    likelihood kernels. COLT 2003.

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0]])
    >>> Hellinger().fit(rows)(rows, rows).round(3)
    array([[1.   , 0.966],
           [0.966, 1.   ]])
    """

    name: ClassVar[str] = "hellinger"
    facts: ClassVar[KernelFacts] = KernelFacts(reads="amounts")

    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def fit(self, rows: Array) -> FittedHellinger:
        """Return the kernel (nothing depends on the rows)."""
        expect_amounts("hellinger", rows)
        return FittedHellinger(self.normalize)


@register
@attrs.frozen
class FittedHellinger(FittedKernel):
    """The Hellinger kernel, ready to evaluate."""

    normalize: bool

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        a, b = (expected_amounts("hellinger", rows, self.normalize) for rows in (a, b))
        return np.sqrt(a) @ np.sqrt(b).T

    def diagonal(self, a: Array) -> Array:
        """Return the sum of each row: (n,)."""
        return expected_amounts("hellinger", a, self.normalize).sum(axis=1)
