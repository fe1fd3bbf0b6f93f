"""Kernel weights that are powers of the alignment with the labels."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import gt
from mklkit.plugin import CombinerTraits, Views, WeightingCombiner, finite_number, register


@register
@attrs.frozen
class Sketch(WeightingCombiner):
    """Weight kernels by a power of their centred alignment with the labels, or numbers.

    Parameters
    ----------
    power : float, default=2.0
        Large values favour the best kernels, small ones give nearly equal weights.
    """

    name: ClassVar[str] = "sketch"
    traits: ClassVar[CombinerTraits] = attrs.evolve(
        WeightingCombiner.traits, learns=("two classes", "numbers"), row_weights="throughout"
    )

    power: float = attrs.field(default=2.0, converter=float, validator=[gt(0), finite_number])

    def weights(
        self, views: Views, y: np.ndarray, row_weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Return one weight per kernel (M,), zero or above; mklkit divides them by their sum."""
        alignments = [view.label_alignment(y, True, row_weights) for view in views]
        return np.maximum(alignments, 0.0) ** self.power
