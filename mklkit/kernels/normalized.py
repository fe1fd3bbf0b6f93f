"""Kernels divided by the lengths of both samples, k(x, z)/√(k(x, x) k(z, z)), and a base class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import attrs

from mklkit.kernels.inner_products import Linear
from mklkit.kernels.wrapping import WrappingKernel, as_kernel
from mklkit.numerics.pairwise import inverse_lengths
from mklkit.protocols import Array, FittedKernel, Kernel
from mklkit.registry.hookspecs import register


class NormalizedKernel(FittedKernel):
    """A fitted kernel that is normalised unless a field ``normalize`` says otherwise.

    Samples with k(x, x) = 0 have similarity zero to all samples, including themselves.
    """

    __slots__ = ()

    normalize: bool = True
    """Whether it is divided by the lengths."""

    @abstractmethod
    def parts(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return the unnormalised k of samples ``a`` (n, d) and ``b`` (m, d), and its diagonals."""

    @abstractmethod
    def squares(self, a: Array) -> Array:
        """Return the unnormalised k(x, x) of each sample: (n,)."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the samples of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        values, of_a, of_b = self.parts(a, b)
        if self.normalize:
            values = values * inverse_lengths(of_a)[:, None]
            values *= inverse_lengths(of_b)
        return values

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself: (n,)."""
        squares = self.squares(a)
        if not self.normalize:
            return squares
        return (inverse_lengths(squares) > 0).astype(squares.dtype)


def _without_cosine(value: Any) -> Kernel:
    kernel = as_kernel(value)
    # Samples of length one stay unchanged: the cosine of a cosine is that cosine.
    return kernel.kernel if isinstance(kernel, Cosine) else kernel


@register
@attrs.frozen
class Cosine(WrappingKernel):
    """Another kernel with every sample scaled to length one, k(x, z)/√(k(x, x)·k(z, z)).

    A sample with k(x, x) = 0 has similarity zero to all samples.

    Parameters
    ----------
    kernel : Kernel or str, default='linear'
        The kernel that is normalised.

    See Also
    --------
    Linear : The inner product without scaling.

    Notes
    -----
    Cost: that of the other kernel, and O(n + m) for the lengths.

    Source: J. Shawe-Taylor, N. Cristianini: Kernel Methods for Pattern Analysis. Cambridge
    University Press (2004).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[3.0, 0.0], [1.0, 1.0]])
    >>> Cosine("linear").fit(rows)(rows, rows).round(4)
    array([[1.    , 0.7071],
           [0.7071, 1.    ]])
    """

    name: ClassVar[str] = "cosine"
    sparse: ClassVar[bool] = True

    kernel: Kernel = attrs.field(factory=Linear, converter=_without_cosine)

    def wrap(self, fitted: FittedKernel, rows: Array, row_weights: Array) -> FittedCosine:
        """Return the normalised kernel."""
        return FittedCosine(fitted)


@register
@attrs.frozen
class FittedCosine(NormalizedKernel):
    """The normalised kernel, ready to evaluate."""

    kernel: FittedKernel

    @property
    def cosine_of(self) -> FittedKernel:
        """The inner kernel."""
        return self.kernel

    @property
    def chosen(self) -> dict[str, float]:
        """The fitted values of the inner kernel."""
        return {f"kernel__{name}": value for name, value in self.kernel.chosen.items()}

    def parts(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return the inner kernel of the samples of ``a`` (n, d) and ``b`` (m, d), and of each."""
        return self.kernel(a, b), self.squares(a), self.squares(b)

    def squares(self, a: Array) -> Array:
        """Return the inner kernel of each sample with itself: (n,)."""
        return self.kernel.diagonal(a)
