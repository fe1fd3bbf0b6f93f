"""Kernels that are functions of the inner product of two samples: linear, polynomial and tanh."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of

from mklkit.protocols import Array, FixedKernel, KernelTraits
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register
from mklkit.views.kernel_rows import FittedScalarKernel, InnerProduct


@register
@attrs.frozen
class Linear(FixedKernel, InnerProduct):
    """Inner product of two samples, k(x, z) = xᵀz.

    See Also
    --------
    Polynomial : A power of the inner product.
    Cosine : The inner product of samples of length one.

    Notes
    -----
    Cost: O(nmd) for d columns, one matrix product.

    Source: J. Shawe-Taylor, N. Cristianini: Kernel Methods for Pattern Analysis. Cambridge
    University Press (2004).

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Linear().fit(rows)(rows, rows)
    array([[ 5., 11.],
           [11., 25.]])
    """

    name: ClassVar[str] = "linear"
    traits: ClassVar[KernelTraits] = KernelTraits(
        linear=True,
        sparse=True,
        proposed=tuple(
            f"cosine(linear)[{scale}]"
            for scale in ("standard", "none", "roots", "tf-idf", "log-tf-idf")
        ),
    )


@register
@attrs.frozen
class Polynomial(FixedKernel, FittedScalarKernel):
    """Power of an inner product, k(x, z) = (γ xᵀz + c₀)^degree.

    Parameters
    ----------
    degree : int, default=2
        At least 1.
    coef0 : float, default=1.0
        The constant c₀; zero or above for a positive semi-definite kernel.
    gamma : float, default=1.0
        The factor γ, above zero.

    See Also
    --------
    Linear : The inner product itself.

    Notes
    -----
    Cost: O(nmd) for d columns, one matrix product.

    Source: B. Schölkopf, A. J. Smola: Learning with Kernels. MIT Press (2002).

    Examples
    --------
    >>> rows = np.array([[1.0], [2.0]])
    >>> Polynomial(degree=2).fit(rows)(rows, rows)
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    name: ClassVar[str] = "polynomial"
    base: ClassVar[str] = "inner_product"
    traits: ClassVar[KernelTraits] = KernelTraits(
        search_space={"degree": (2, 3)},
        sparse=True,
    )

    degree: int = attrs.field(default=2, converter=as_int, validator=[instance_of(int), ge(1)])
    coef0: float = attrs.field(default=1.0, converter=float, validator=[finite_number, ge(0)])
    gamma: float = attrs.field(default=1.0, converter=float, validator=[finite_number, gt(0)])

    def of(self, base: Array, out: Array) -> Array:
        """Return the powers of the inner products."""
        np.multiply(base, self.gamma, out=out)
        out += self.coef0
        return np.power(out, self.degree, out=out)


@register
@attrs.frozen
class Tanh(FixedKernel, FittedScalarKernel):
    """Squashed inner product, k(x, z) = tanh(γ xᵀz + c₀); in general not positive semi-definite.

    Maps and learners that need a positive semi-definite kernel use its positive part.

    Parameters
    ----------
    gamma : float, default=0.01
        The factor γ (β in Price et al. 2022), above zero.
    coef0 : float, default=0.0
        The constant c₀ (γ in Price et al. 2022).

    See Also
    --------
    Polynomial : Another function of the inner product.

    Notes
    -----
    Cost: O(nmd) for d columns, one matrix product.

    Source: B. Schölkopf, A. J. Smola: Learning with Kernels. MIT Press (2002).

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0]])
    >>> Tanh(gamma=1.0).fit(rows)(rows, rows).round(3)
    array([[0.   , 0.   ],
           [0.   , 0.762]])
    """

    name: ClassVar[str] = "tanh"
    base: ClassVar[str] = "inner_product"
    monotone: ClassVar[int] = 1
    traits: ClassVar[KernelTraits] = KernelTraits(definite=False, sparse=True)

    gamma: float = attrs.field(default=0.01, converter=float, validator=[finite_number, gt(0)])
    coef0: float = attrs.field(default=0.0, converter=float, validator=finite_number)

    def of(self, base: Array, out: Array) -> Array:
        """Return tanh of the scaled inner products."""
        # Where the product overflows, the kernel is −1 or 1.
        with np.errstate(over="ignore"):
            np.multiply(base, self.gamma, out=out)
            out += self.coef0
        return np.tanh(out, out=out)
