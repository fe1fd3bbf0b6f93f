"""The fusion template through small subclasses with known answers."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest
from builders import TRIO, Mean

from mklkit import MKLClassifier
from mklkit.plugin import CombinerFacts, LearnedFusion


@attrs.frozen
class Stacked:
    """A fitted fusion: the least-squares weights of the views."""

    view_weights: np.ndarray

    def fuse(self, scores):
        return scores @ self.view_weights


@attrs.frozen
class Stacking(LearnedFusion):
    name: ClassVar[str] = "stacking"
    facts: ClassVar[CombinerFacts] = CombinerFacts(weight_range=(-np.inf, np.inf))

    def learn(self, scores, y, random_state):
        return Stacked(np.linalg.lstsq(scores, y, rcond=None)[0])


def single_scores(rows, y, new, feature_map, learner):
    models = [
        MKLClassifier(kernel, feature_map=feature_map, learner=learner).fit(rows, y)
        for kernel in TRIO
    ]
    return np.column_stack([model.decision_function(new) for model in models])


PAIRS = [("implicit", "svm"), ("implicit", "kmhks"), ("empirical", "mhks")]


@pytest.mark.parametrize(("feature_map", "learner"), PAIRS)
@pytest.mark.parametrize("combiner", [Mean(), Stacking()])
def test_scores_of_the_views_are_those_of_single_decisions(
    two_classes, rng, combiner, feature_map, learner
):
    """A learned fusion sees those of the training rows."""
    rows, y = two_classes
    new = rng.normal(size=(2100, 4))
    expected = np.full(3, 1 / 3)
    if isinstance(combiner, Stacking):
        training = single_scores(rows, y, rows, feature_map, learner)
        expected = np.linalg.lstsq(training, y, rcond=None)[0]
    model = MKLClassifier(TRIO, combiner=combiner, feature_map=feature_map, learner=learner)
    model.fit(rows, y)
    np.testing.assert_allclose(model.weights_, [expected], rtol=1e-5)
    decisions = single_scores(rows, y, new, feature_map, learner) @ expected
    np.testing.assert_allclose(model.decision_function(new), decisions, atol=1e-6)
