"""One learner per kernel; the mean of their squashed decision values."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import gt
from mklkit.plugin import FusionCombiner, finite_number, register


@register
@attrs.frozen
class Sketch(FusionCombiner):
    """Average the views' decision values, each squashed to between −1 and 1.

    Parameters
    ----------
    steepness : float, default=1.0
        Large values approach a majority vote, small ones the plain mean.
    """

    name: ClassVar[str] = "sketch"

    steepness: float = attrs.field(default=1.0, converter=float, validator=[gt(0), finite_number])

    def fuse(self, scores: np.ndarray) -> np.ndarray:
        """Return the fused decision values (n,) of the views' decision values (n, M)."""
        return np.tanh(self.steepness * scores).mean(axis=1)
