"""The cosine-normalised wrapper of another kernel."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np

from mklkit.kernels.linear import Linear
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
class FittedCosine(FittedKernel):
    """The normalised kernel, ready to evaluate."""

    kernel: FittedKernel

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the cosines of the rows of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        values = self.kernel(a, b)
        values = values * self._inverse_length(a)[:, None]
        values *= self._inverse_length(b)
        return values

    def diagonal(self, a: Array) -> Array:
        """Return 1 for each row, 0 where k(x, x) = 0."""
        lengths = self._inverse_length(a)
        return (lengths > 0).astype(lengths.dtype)

    def _inverse_length(self, rows: Array) -> Array:
        own = self.kernel.diagonal(rows)
        # Subnormal numbers have lost digits, and cosines computed from them could exceed one.
        large = own >= np.finfo(own.dtype).tiny
        roots = np.sqrt(own, where=large, out=np.ones_like(own))
        return np.divide(1.0, roots, where=large, out=np.zeros_like(own))
