"""Weights on a unit ball other than the simplex, and the decision function at their scale."""

from __future__ import annotations

import attrs
import numpy as np

from mklkit.learners import Ridge
from mklkit.plugin import Array, LearnedWeighting, Learner, Target, Views


@attrs.frozen
class NormBallWeighting(LearnedWeighting):
    """Template: the decision function of Σ σ_m K_m, with weights reported on the simplex.

    With s = Σσ_m, a support vector machine with C on s·K has the decision function of one with s·C
    on K, and a ridge regression with α that of one with α/s. Learners without a number for either
    are fitted with the simplex weights.
    """

    def prepare(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> tuple[Array, Learner]:
        """Return the weights on the simplex, and the learner with its C or ridge at their scale."""
        weights = self.choose(views, target, learner, random_state)
        scale = float(weights.sum())
        if isinstance(learner, Ridge) and not isinstance(learner.alpha, str):
            return np.asarray(weights / scale), learner.with_params(alpha=learner.alpha / scale)
        if learner.fixed_C is not None:
            learner = learner.with_params(C=learner.fixed_C * scale)
        return np.asarray(weights / scale), learner
