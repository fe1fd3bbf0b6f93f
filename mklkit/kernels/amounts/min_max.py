"""The min-max kernel of amounts."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from scipy.spatial.distance import cdist

from mklkit.kernels.amounts.expectations import expect_amounts, ratio
from mklkit.protocols import Array, FittedKernel, Kernel, KernelFacts
from mklkit.registry.hookspecs import register

__all__ = ["FittedMinMax", "MinMax"]


@register
@attrs.frozen
class MinMax(Kernel):
    """Common share of two rows of amounts, k(x, z) = Σ_c min(x_c, z_c)/Σ_c max(x_c, z_c).

    For columns of 0 and 1 this is Jaccard's index, as :class:`Tanimoto` is; in columns of counts
    large ones have less weight here. Two rows of zeros have similarity one.

    Notes
    -----
    O(nmq) for q columns. Also known as Ruzicka's similarity or generalised Jaccard. Of L.
    Ralaivola, S. Swamidass, H. Saigo, P. Baldi: Graph kernels for chemical informatics. Neural
    Networks 18 (2005).

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0]])
    >>> MinMax().fit(rows)(rows, rows)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    name: ClassVar[str] = "min-max"
    facts: ClassVar[KernelFacts] = KernelFacts(reads="amounts")

    def fit(self, rows: Array) -> FittedMinMax:
        """Return the kernel (nothing depends on the rows)."""
        expect_amounts("min-max", rows)
        return FittedMinMax()


@register
@attrs.frozen
class FittedMinMax(FittedKernel):
    """The min-max kernel, ready to evaluate."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        expect_amounts("min-max", a, b)
        # The sum of both rows is Σ min + Σ max, and their distance Σ max − Σ min.
        apart = cdist(a, b, "cityblock")
        both = a.sum(axis=1, dtype=np.float64)[:, None] + b.sum(axis=1, dtype=np.float64)
        return ratio(np.maximum(both - apart, 0), both + apart)

    def diagonal(self, a: Array) -> Array:
        """Return 1 for each row."""
        return np.ones(len(a))
