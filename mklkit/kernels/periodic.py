"""The periodic kernel of times of day, days of the week and angles."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import gt

from mklkit.protocols import Array, FixedKernel, KernelFacts
from mklkit.protocols.component import finite_number
from mklkit.registry.hookspecs import register

__all__ = ["Periodic"]


@register
@attrs.frozen
class Periodic(FixedKernel):
    """Similarity of times that recur, k(x, z) = exp(−(2/ℓ²) Σ_c sin²(π(x_c − z_c)/p)).

    Of several columns it is the product of the kernels of each; all have the same period, so give
    columns of other periods a kernel of their own.

    Parameters
    ----------
    period : float, default=24.0
        p, in the units of the columns: 24 for hours of the day, 7 for days of the week, 360 for
        degrees; above zero.
    length : float, default=1.0
        ℓ, above zero: the larger, the wider. With ℓ = 1 times half a period apart have similarity
        exp(−2) = 0.14.

    Notes
    -----
    O(nmq) for q columns: it is the Gaussian kernel with σ = ℓ of the places on a circle, and so
    positive semi-definite. Of D. MacKay: Introduction to Gaussian processes. Neural Networks and
    Machine Learning, 1998.

    Examples
    --------
    >>> hours = np.array([[23.0], [1.0], [12.0]])
    >>> Periodic().fit(hours)(hours, hours).round(2)
    array([[1.  , 0.87, 0.14],
           [0.87, 1.  , 0.14],
           [0.14, 0.14, 1.  ]])
    """

    name: ClassVar[str] = "periodic"
    facts: ClassVar[KernelFacts] = KernelFacts(
        reads="amounts", search_space={"length": (2.0, 1.0, 0.5)}
    )

    period: float = attrs.field(default=24.0, converter=float, validator=[finite_number, gt(0)])
    length: float = attrs.field(default=1.0, converter=float, validator=[finite_number, gt(0)])

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        # 2 sin²(δ/2) = 1 − cos δ, and cos δ is the inner product of two places on the circle.
        values = self._on_circles(a) @ self._on_circles(b).T
        values -= a.shape[1]
        values /= self.length
        values /= self.length
        return np.exp(np.minimum(values, 0, out=values), out=values)

    def diagonal(self, a: Array) -> Array:
        """Return 1 for each row."""
        return np.ones(len(a))

    def _on_circles(self, rows: Array) -> Array:
        # The remainder first, which is exact: the angle of a large number has few digits left.
        angles = 2 * np.pi / self.period * np.remainder(rows, self.period, dtype=np.float64)
        return np.hstack([np.cos(angles), np.sin(angles)])
