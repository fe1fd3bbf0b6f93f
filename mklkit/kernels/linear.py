"""The linear kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import attrs

from mklkit.kernels.scalar import FittedScalarKernel
from mklkit.protocols import Array
from mklkit.protocols.component import Component
from mklkit.registry.hookspecs import hookimpl

__all__ = ["FittedLinear", "Linear"]


@attrs.frozen
class Linear(Component):
    """Inner product of two rows, k(x, z) = xᵀz.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Linear().fit(rows)(rows, rows)
    array([[ 5., 11.],
           [11., 25.]])
    """

    name: ClassVar[str] = "linear"

    def fit(self, rows: Array) -> FittedLinear:
        """Return the kernel (nothing is read off the rows)."""
        return FittedLinear()


@attrs.frozen
class FittedLinear(FittedScalarKernel):
    """The linear kernel, ready to evaluate."""

    base: ClassVar[str] = "inner_product"
    monotone: ClassVar[int] = 1

    def of(self, base: Array, out: Array) -> Array:
        """Return the inner products as they are."""
        if out is not base:
            out[...] = base
        return out


@hookimpl
def mklkit_kernels() -> Iterable[type]:
    """Register the kernel."""
    return [Linear]


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register what it leaves in a model file."""
    return [FittedLinear]
