"""Weights on a unit ball other than the simplex, and the decision function at their scale."""

from __future__ import annotations

import attrs
import numpy as np

from mklkit import (
    Array,
    LearnedWeighting,
    Learner,
    ViewSet,
    WeightedDecision,
    scaled_price,
)

__all__ = ["NormBallWeighting"]


@attrs.frozen
class NormBallWeighting(LearnedWeighting):
    """Template: the decision function of Σ σ_m K_m, with weights reported on the simplex.

    With s = Σσ_m, a support vector machine with C on s·K has the decision function of one with s·C
    on K. Learners without a C are fitted with the simplex weights.
    """

    def fit(
        self, views: ViewSet, y: Array, learner: Learner, random_state: np.random.RandomState
    ) -> WeightedDecision:
        """Return the decision of the learner on the weighted sum."""
        weights = self.choose(views, y, learner, random_state)
        scale = float(weights.sum())
        priced = scaled_price(learner, scale)
        return WeightedDecision.learn(views, np.asarray(weights / scale), y, priced)
