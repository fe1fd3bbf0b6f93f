"""The nearest class mean, in the feature space of the kernel."""

from __future__ import annotations

from typing import ClassVar

import attrs
from mklkit.plugin import Learner, LearnerTraits, LinearDecision, Target, TrainingView, register


@register
@attrs.frozen
class Sketch(Learner):
    """Predict the class whose mean is nearer; without parameters or iterations."""

    name: ClassVar[str] = "sketch"
    traits: ClassVar[LearnerTraits] = LearnerTraits(on_features=True, on_gram=True)

    def fit(self, side: TrainingView, target: Target) -> LinearDecision:
        """Return the decision function learned from labels −1 and +1."""
        y = target.values
        positive, negative = (y > 0) / (y > 0).sum(), (y < 0) / (y < 0).sum()
        if side.explicit:
            first, second = side.project_back(positive), side.project_back(negative)
            return LinearDecision(first - second, float(second @ second - first @ first) / 2)
        gram = side.gram()
        bias = (negative @ gram @ negative - positive @ gram @ positive) / 2
        return LinearDecision(positive - negative, float(bias))
