"""The Laplacian kernel."""

from __future__ import annotations

from typing import ClassVar

import attrs

from mklkit.numerics.pairwise import scaled_exp
from mklkit.protocols import Array, Kernel, KernelFacts
from mklkit.protocols.component import AUTO, auto_or_number
from mklkit.registry.hookspecs import register
from mklkit.views.kernel_rows import FittedScalarKernel

__all__ = ["FittedLaplacian", "Laplacian"]


@register
@attrs.frozen
class Laplacian(Kernel):
    """Exponential of the Manhattan distance, k(x, z) = exp(−γ‖x − z‖₁).

    Parameters
    ----------
    gamma : float or str, default='auto'
        γ, above zero, or ``'auto'``: 1/d for d columns, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [2.0]])
    >>> Laplacian(gamma=0.5).fit(rows)(rows, rows).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    name: ClassVar[str] = "laplacian"
    facts: ClassVar[KernelFacts] = KernelFacts(proposed=("laplacian",))

    gamma: float | str = auto_or_number()

    def fit(self, rows: Array) -> FittedLaplacian:
        """Return the kernel with γ as a number."""
        return FittedLaplacian(1 / rows.shape[1] if self.gamma == AUTO else float(self.gamma))


@register
@attrs.frozen
class FittedLaplacian(FittedScalarKernel):
    """The Laplacian kernel with its γ, ready to evaluate."""

    base: ClassVar[str] = "manhattan_distance"
    monotone: ClassVar[int] = -1

    gamma: float

    def of(self, base: Array, out: Array) -> Array:
        """Return exp(−γ·base)."""
        return scaled_exp(base, -self.gamma, out=out)
