"""Weights on a unit ball other than the simplex, and the decision that keeps their scale."""

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
    """Template: the decision on Σ σ_m K_m as chosen, its weights stated on the simplex.

    With s = Σσ_m, a machine of price C on s·K is one of price s·C on K: the same decision function.
    Learners without a price take the simplex weights as they are.
    """

    def fit(
        self, views: ViewSet, y: Array, learner: Learner, random_state: np.random.RandomState
    ) -> WeightedDecision:
        """Return the decision of the learner on the weighted sum."""
        weights = self.choose(views, y, learner, random_state)
        scale = float(weights.sum())
        priced = scaled_price(learner, scale)
        return WeightedDecision.learn(views, np.asarray(weights / scale), y, priced)
