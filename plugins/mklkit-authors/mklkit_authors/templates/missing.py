"""Missing sources replaced by the most typical training sample in a kernel's feature space."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from mklkit.plugin import FittedKernel, Missing, as_int, register


@register
@attrs.frozen
class Sketch(Missing):
    """Treat a missing source like that of the training sample closest to the mean of all.

    Parameters
    ----------
    most : int, default=500
        The most training samples that are compared; of more, evenly spaced ones.
    """

    name: ClassVar[str] = "sketch"

    most: int = attrs.field(default=500, converter=as_int, validator=[instance_of(int), ge(1)])

    def fit(self, kernel: FittedKernel, rows: np.ndarray) -> FittedSketch:
        """Return the kernel to use, fitted to the training samples (n, d) that have its source."""
        some = rows[:: -(-len(rows) // self.most)]
        distances = kernel.diagonal(some) - 2 * kernel(some, some).mean(axis=1)
        return FittedSketch(kernel, some[[distances.argmin()]])


@register
@attrs.frozen(eq=False)
class FittedSketch(FittedKernel):
    """⟨φ(x) − φ(t), φ(z) − φ(t)⟩ for a typical sample t (1, d), whose features become zero."""

    kernel: FittedKernel
    typical: np.ndarray

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the similarities of samples a (n, d) and b (m, d): (n, m)."""
        t = self.typical
        beside = self.kernel(a, t) + self.kernel(t, b)
        return self.kernel(a, b) - beside + self.kernel.diagonal(t)

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        """Return the similarity of each sample with itself (n,)."""
        t = self.typical
        return self.kernel.diagonal(a) - 2 * self.kernel(a, t)[:, 0] + self.kernel.diagonal(t)
