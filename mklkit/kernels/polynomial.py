"""The polynomial kernel."""

from __future__ import annotations

from typing import ClassVar, Self

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of

from mklkit.protocols import Array, Kernel, KernelFacts
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register
from mklkit.views.kernel_rows import FittedScalarKernel

__all__ = ["Polynomial"]


@register
@attrs.frozen
class Polynomial(Kernel, FittedScalarKernel):
    """Power of an inner product, k(x, z) = (γ xᵀz + c₀)^degree.

    Parameters
    ----------
    degree : int, default=2
        At least 1.
    coef0 : float, default=1.0
        c₀; zero or above for a positive semi-definite kernel.
    gamma : float, default=1.0
        γ, above zero.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0], [2.0]])
    >>> Polynomial(degree=2).fit(rows)(rows, rows)
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    name: ClassVar[str] = "polynomial"
    base: ClassVar[str] = "inner_product"
    facts: ClassVar[KernelFacts] = KernelFacts(
        proposed=("cosine(polynomial(degree=2))", "cosine(polynomial(degree=3))"),
        search_space={"degree": (2, 3)},
    )

    degree: int = attrs.field(default=2, converter=as_int, validator=[instance_of(int), ge(1)])
    coef0: float = attrs.field(default=1.0, converter=float, validator=[finite_number, ge(0)])
    gamma: float = attrs.field(default=1.0, converter=float, validator=[finite_number, gt(0)])

    def fit(self, rows: Array) -> Self:
        """Return the kernel (nothing depends on the rows)."""
        return self

    def of(self, base: Array, out: Array) -> Array:
        """Return the powers of the inner products."""
        np.multiply(base, self.gamma, out=out)
        out += self.coef0
        return np.power(out, self.degree, out=out)
