"""The cosine-normalised wrapper of another kernel."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from mklkit.kernels.linear import Linear
from mklkit.kernels.normalised import NormalisedKernel
from mklkit.protocols import Array, FittedKernel, Kernel, KernelFacts, facts_of
from mklkit.registry.hookspecs import register

__all__ = ["Cosine", "FittedCosine"]


def _as_kernel(value: Any) -> Kernel:
    # The registry imports this module, so it is imported at call time.
    from mklkit.registry.registry import get_registry

    kernel: Kernel = get_registry().create("kernel", value)
    # Rows of length one stay unchanged: the cosine of a cosine is that cosine.
    return kernel.kernel if isinstance(kernel, Cosine) else kernel


@register
@attrs.frozen
class Cosine(Kernel):
    """Another kernel with every row scaled to length one, k(x, z)/√(k(x, x)·k(z, z)).

    A row with k(x, x) = 0 has similarity zero to all rows.

    Parameters
    ----------
    kernel : Kernel or str, default='linear'
        The kernel that is normalised.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[3.0, 0.0], [1.0, 1.0]])
    >>> Cosine("linear").fit(rows)(rows, rows).round(4)
    array([[1.    , 0.7071],
           [0.7071, 1.    ]])
    """

    name: ClassVar[str] = "cosine"

    kernel: Kernel = attrs.field(factory=Linear, converter=_as_kernel)

    @property
    def facts(self) -> KernelFacts:
        """The properties of the inner kernel, whose parameters are nested; it proposes nothing."""
        inner = facts_of(self.kernel, KernelFacts)
        space = {f"kernel__{name}": values for name, values in inner.search_space.items()}
        return attrs.evolve(inner, search_space=space, proposed=())

    def fit(self, rows: Array) -> FittedCosine:
        """Return the kernel with the inner one fitted."""
        return FittedCosine(self.kernel.fit(rows))

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedCosine:
        """Return the kernel with the inner one fitted to rows that count by their weights (N,)."""
        return FittedCosine(self.kernel.fit_weighted(rows, row_weights))


@register
@attrs.frozen
class FittedCosine(NormalisedKernel):
    """The normalised kernel, ready to evaluate."""

    kernel: FittedKernel

    def parts(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return the inner kernel of the rows of ``a`` (n, d) and ``b`` (m, d), and of each."""
        return self.kernel(a, b), self.squares(a), self.squares(b)

    def squares(self, a: Array) -> Array:
        """Return the inner kernel of each row with itself: (n,)."""
        return self.kernel.diagonal(a)
