"""Weights by alignment with the kernel of the target, yyᵀ."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from mklkit.combiners.templates.weighting import WeightingCombiner
from mklkit.protocols import Array, CombinerTraits, Views
from mklkit.registry.hookspecs import register


@register
@attrs.frozen
class Alignment(WeightingCombiner):
    """Weight a kernel by its alignment with the labels, max(0, ⟨K, yyᵀ⟩/(‖K‖‖yyᵀ‖)).

    Numbers are centred first, since their zero is arbitrary.

    Notes
    -----
    One pass over the tiles, O(N²) per kernel. Source: Cristianini et al. (2001); paper 002,
    equation (14).
    """

    name: ClassVar[str] = "alignment"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        tasks=("two classes", "numbers"), from_moments=True, row_weights="throughout"
    )
    centered: ClassVar[bool] = False

    def weights(self, views: Views, y: Array, row_weights: Array | None = None) -> Array:
        """Return the alignments, 0 where negative."""
        alignments = [view.label_alignment(y, self.centered, row_weights) for view in views]
        return np.maximum(alignments, 0.0)


@register
@attrs.frozen
class CenteredAlignment(Alignment):
    """Weight a kernel by its centred alignment with the target, ⟨HKH, yyᵀ⟩/(‖HKH‖‖HyyᵀH‖).

    Centring (H = I − 11ᵀ/N) removes the mean in feature space, which unbalanced classes would
    otherwise reward.

    Notes
    -----
    Two passes over the tiles, O(N²) per kernel. Source: Cortes et al. (2012).
    """

    name: ClassVar[str] = "centered-alignment"
    centered: ClassVar[bool] = True
