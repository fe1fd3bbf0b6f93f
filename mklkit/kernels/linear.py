"""The linear kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import attrs

from mklkit.protocols import Array, Kernel, KernelFacts
from mklkit.registry.hookspecs import hookimpl, register
from mklkit.views.kernel_rows import InnerProduct

__all__ = ["Linear"]


@register
@attrs.frozen
class Linear(Kernel):
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
    facts: ClassVar[KernelFacts] = KernelFacts(proposed=("cosine(linear)",))

    def fit(self, rows: Array) -> InnerProduct:
        """Return the kernel (nothing depends on the rows)."""
        return InnerProduct()


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register the type that it stores in a model file."""
    return [InnerProduct]
