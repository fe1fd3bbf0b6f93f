"""The Tanimoto kernel of fingerprints and counts."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from mklkit.kernels.amounts.expectations import expect_amounts, ratio
from mklkit.protocols import Array, FittedKernel, Kernel, KernelFacts
from mklkit.registry.hookspecs import register

__all__ = ["FittedTanimoto", "Tanimoto"]


@register
@attrs.frozen
class Tanimoto(Kernel):
    """Common share of two fingerprints, k(x, z) = xᵀz/(‖x‖² + ‖z‖² − xᵀz).

    For columns of 0 and 1 this is Jaccard's index, the share of the columns that both have among
    those that at least one has. Two rows of zeros have similarity one.

    Notes
    -----
    O(nmq) for q columns, one matrix product. Positive semi-definite for all rows, as it is
    Σ_t (xᵀz/(‖x‖² + ‖z‖²))^t over t from 1 up. Of L. Ralaivola, S. Swamidass, H. Saigo, P. Baldi:
    Graph kernels for chemical informatics. Neural Networks 18 (2005).

    Examples
    --------
    >>> rows = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> Tanimoto().fit(rows)(rows, rows).round(3)
    array([[1.   , 0.333],
           [0.333, 1.   ]])
    """

    name: ClassVar[str] = "tanimoto"
    facts: ClassVar[KernelFacts] = KernelFacts(reads="amounts")

    def fit(self, rows: Array) -> FittedTanimoto:
        """Return the kernel (nothing depends on the rows)."""
        expect_amounts("tanimoto", rows)
        return FittedTanimoto()


@register
@attrs.frozen
class FittedTanimoto(FittedKernel):
    """The Tanimoto kernel, ready to evaluate."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        expect_amounts("tanimoto", a, b)
        common = np.asarray(a @ b.T, dtype=np.float64)
        lengths = [np.einsum("ij,ij->i", rows, rows) for rows in (a, b)]
        return ratio(common, lengths[0][:, None] + lengths[1] - common)

    def diagonal(self, a: Array) -> Array:
        """Return 1 for each row."""
        return np.ones(len(a))
