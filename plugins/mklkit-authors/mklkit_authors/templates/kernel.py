"""The rational quadratic kernel, a mixture of Gaussian kernels of all widths."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import gt
from mklkit.plugin import FittedScalarKernel, Kernel, finite_number, register


@register
@attrs.frozen
class Sketch(Kernel):
    """Similarity that falls slowly with the distance, k(x, z) = 1 / (1 + ‖x − z‖² / s²d).

    Parameters
    ----------
    scale : float, default=1.0
        s, the distance per column at which the similarity is one half.
    """

    name: ClassVar[str] = "sketch"

    scale: float = attrs.field(default=1.0, converter=float, validator=[gt(0), finite_number])

    def fit(self, rows: np.ndarray) -> FittedSketch:
        """Return the kernel with its parameters computed from the training samples (N, d)."""
        return FittedSketch(self.scale**2 * rows.shape[1])


@register
@attrs.frozen
class FittedSketch(FittedScalarKernel):
    """The kernel with its parameters as numbers, ready to evaluate."""

    base: ClassVar[str] = "squared_distance"
    monotone: ClassVar[int] = -1

    unit: float

    def of(self, base: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Return the similarities at squared distances, written into ``out``."""
        np.divide(base, self.unit, out=out)
        out += 1
        return np.divide(1, out, out=out)
