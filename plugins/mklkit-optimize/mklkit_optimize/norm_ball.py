"""Weights on a unit ball other than the simplex, and the decision function at their scale."""

from __future__ import annotations

import attrs
import numpy as np

from mklkit import (
    Array,
    LearnedWeighting,
    Learner,
    Target,
    ViewSet,
    scaled_price,
)

__all__ = ["NormBallWeighting"]


@attrs.frozen
class NormBallWeighting(LearnedWeighting):
    """Template: the decision function of Σ σ_m K_m, with weights reported on the simplex.

    With s = Σσ_m, a support vector machine with C on s·K has the decision function of one with s·C
    on K. Learners without a C are fitted with the simplex weights.
    """

    def prepare(
        self, views: ViewSet, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> tuple[Array, Learner]:
        """Return the weights on the simplex, and the learner with its C at their scale."""
        weights = self.choose(views, target, learner, random_state)
        scale = float(weights.sum())
        return np.asarray(weights / scale), scaled_price(learner, scale)
