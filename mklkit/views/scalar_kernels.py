"""The template of fitted kernels that are a scalar function of a base quantity of two rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import attrs
import numpy as np

from mklkit.numerics.pairwise import BASES
from mklkit.protocols import Array, FittedKernel

__all__ = ["FittedScalarKernel", "InnerProduct"]


class FittedScalarKernel(FittedKernel):
    """A kernel that is a scalar function of a base quantity of two rows.

    A subclass names the ``base``, states whether it is ``monotone`` in it, and implements ``of``.
    Kernels with the same base on the same rows are then evaluated together, and the quartiles of a
    monotone kernel are computed from those of its base (a rank is kept or reversed).
    """

    __slots__ = ()

    @abstractmethod
    def of(self, base: Array, out: Array) -> Array:
        """Return the kernel's values at the base's, written into ``out`` (or ``base``)."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        values = BASES[self.base](a, b)
        return self.of(values, values)

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""
        if self.base == "inner_product":
            values = np.einsum("ij,ij->i", a, a)
        else:
            values = np.zeros(len(a), dtype=a.dtype)
        return self.of(values, values)


@attrs.frozen
class InnerProduct(FittedScalarKernel):
    """xᵀz: the linear kernel; on features, the kernel that a feature map represents."""

    base: ClassVar[str] = "inner_product"
    monotone: ClassVar[int] = 1

    def of(self, base: Array, out: Array) -> Array:
        """Return the inner products unchanged."""
        if out is not base:
            out[...] = base
        return out
