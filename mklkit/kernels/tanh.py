"""The hyperbolic tangent (sigmoid) kernel."""

from __future__ import annotations

from typing import ClassVar, Self

import attrs
import numpy as np
from attrs.validators import gt

from mklkit.protocols import Array, Kernel, KernelFacts
from mklkit.protocols.component import finite_number
from mklkit.registry.hookspecs import register
from mklkit.views.kernel_rows import FittedScalarKernel

__all__ = ["Tanh"]


@register
@attrs.frozen
class Tanh(Kernel, FittedScalarKernel):
    """Squashed inner product, k(x, z) = tanh(γ xᵀz + c₀); in general not positive semi-definite.

    Maps and learners that need a positive semi-definite kernel use its positive part.

    Parameters
    ----------
    gamma : float, default=0.01
        γ (paper 003: β), above zero.
    coef0 : float, default=0.0
        c₀ (paper 003: γ).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0]])
    >>> Tanh(gamma=1.0).fit(rows)(rows, rows).round(3)
    array([[0.   , 0.   ],
           [0.   , 0.762]])
    """

    name: ClassVar[str] = "tanh"
    base: ClassVar[str] = "inner_product"
    monotone: ClassVar[int] = 1
    facts: ClassVar[KernelFacts] = KernelFacts(definite=False)

    gamma: float = attrs.field(default=0.01, converter=float, validator=[finite_number, gt(0)])
    coef0: float = attrs.field(default=0.0, converter=float, validator=finite_number)

    def fit(self, rows: Array) -> Self:
        """Return the kernel (nothing depends on the rows)."""
        return self

    def of(self, base: Array, out: Array) -> Array:
        """Return tanh of the scaled inner products."""
        # Where the product overflows, the kernel is −1 or 1.
        with np.errstate(over="ignore"):
            np.multiply(base, self.gamma, out=out)
            out += self.coef0
        return np.tanh(out, out=out)
