"""Strategies: only present sources, plain or centred; medians; only complete rows."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of

from mklkit.protocols import Array, FittedKernel, Missing
from mklkit.protocols.component import as_int
from mklkit.registry.hookspecs import register


@register
@attrs.frozen
class Present(Missing):
    """Compare rows by the sources that both have, scaled by the weight of these sources.

    K(x, z) = Σ w_m a_m(x) a_m(z) k_m(x, z) / √(s(x) s(z)), with a_m(x) = 1 where row x has source
    m, else 0, and s(x) = Σ w_m a_m(x): positive semi-definite, as each a_m a_mᵀ ∘ K_m is, 1 on the
    diagonal where all k_m are, and the plain sum without gaps. Bandwidths and weighting rules see
    each kernel on the rows that have its source.
    """

    name: ClassVar[str] = "present"


@register
@attrs.frozen
class PresentCentered(Missing):
    """Like ``present``, on kernels centred on the rows that have the source: a gap is the mean.

    k̃(x, z) = ⟨φ(x) − μ, φ(z) − μ⟩, where μ is the mean of φ over the rows that have the source.

    Parameters
    ----------
    most : int, default=500
        The most rows in the mean; of more, evenly spaced ones.
    """

    name: ClassVar[str] = "present-centered"
    searched_as: ClassVar[dict[str, str]] = {"present-centered": "present-centered"}

    most: int = attrs.field(default=500, converter=as_int, validator=[instance_of(int), ge(1)])

    def fit(self, kernel: FittedKernel, rows: Array) -> FittedKernel:
        """Return the kernel, centred on some of the rows (n, d)."""
        some = rows[:: -(-len(rows) // self.most)]
        return CenteredKernel(kernel, some, float(np.mean(kernel(some, some), dtype=np.float64)))


@register
@attrs.frozen(eq=False)
class CenteredKernel(FittedKernel):
    """⟨φ(x) − μ, φ(z) − μ⟩, where μ is the mean of φ over some rows, and ``mean`` is ‖μ‖²."""

    kernel: FittedKernel
    rows: Array
    mean: float

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities (n, m)."""
        values = self.kernel(a, b) - self.kernel(a, self.rows).mean(axis=1)[:, None]
        values -= self.kernel(b, self.rows).mean(axis=1) - values.dtype.type(self.mean)
        return values

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself (n,)."""
        values = self.kernel.diagonal(a)
        beside = self.kernel(a, self.rows).mean(axis=1)
        return np.asarray(values - 2 * beside + values.dtype.type(self.mean))


@register
@attrs.frozen
class Impute(Missing):
    """Fill sources that rows lack with the medians of the columns, like any other gap."""

    name: ClassVar[str] = "impute"
    fills: ClassVar[bool] = True
    searched_as: ClassVar[dict[str, str]] = dict.fromkeys(("median", "medians", "fill"), "impute")


@register
@attrs.frozen
class Drop(Missing):
    """Learn from the rows that have all sources, and refuse new rows that lack one."""

    name: ClassVar[str] = "drop"
    drops: ClassVar[bool] = True
    searched_as: ClassVar[dict[str, str]] = {"complete-case": "drop"}
