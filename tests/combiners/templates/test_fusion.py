"""The fusion template through small subclasses with known answers."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest
from helpers.builders import TRIO, Mean, trio_grams, views_of
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC

from mklkit import MKLClassifier
from mklkit.learners import SVM
from mklkit.plugin import LearnedFusion, Target


@attrs.frozen
class Stacked:
    """A fitted fusion: the least-squares weights of the views."""

    view_weights: np.ndarray

    def fuse(self, scores):
        return scores @ self.view_weights


@attrs.frozen
class Stacking(LearnedFusion):
    name: ClassVar[str] = "stacking"
    traits = attrs.evolve(LearnedFusion.traits, weight_range=(-np.inf, np.inf))

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
@pytest.mark.parametrize("combiner", [Mean(), Stacking(cv=0)])
def test_scores_of_the_views_are_those_of_single_decisions(
    two_classes, rng, combiner, feature_map, learner
):
    """Without folds a learned fusion sees those of the training rows."""
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


def test_a_fusion_learns_from_scores_out_of_fold(two_classes):
    rows, y = two_classes
    target, seed = Target.two_classes(y), np.random.RandomState
    splits = target.folds(5, seed(0))
    machine = SVC(kernel="precomputed", tol=1e-8)
    scores = [
        cross_val_predict(machine, gram, y, cv=splits, method="decision_function")
        for gram in trio_grams(rows)
    ]
    decision = Stacking().fit(views_of(TRIO, rows), target, SVM(C=1.0, tol=1e-8), seed(0))
    expected = np.linalg.lstsq(np.column_stack(scores), y, rcond=None)[0]
    np.testing.assert_allclose(decision.weights, expected, atol=1e-4)
