"""KOMD against a generic solver, PWMK against scikit-learn's folds."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from mklkit_optimize import KOMD, PWMK
from optimize_problems import grams_of, random_problem, specs, weights_by
from scipy.optimize import minimize
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC

from mklkit import MKLClassifier, SpecError
from mklkit.learners import SVM
from mklkit.plugin import GramSide, Target
from mklkit.registry.columns import bind_kernels, resolve_columns
from mklkit.registry.registry import get_registry
from mklkit.views.view_set import ViewSet

ROWS, LABELS = random_problem(2, n_rows=45)


@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
@pytest.mark.parametrize("alpha", [0.02, 0.3])
def test_komd_decides_by_the_nearest_distributions(alpha, feature_map):
    gram = grams_of(ROWS)[2]
    positive, negative = (LABELS > 0).sum(), (LABELS < 0).sum()
    ridge = alpha * positive * negative / (positive + negative)
    matrix = (1 - alpha) * gram * np.outer(LABELS, LABELS) + ridge * np.eye(45)
    classes = [(LABELS > 0).astype(float), (LABELS < 0).astype(float)]
    gamma = minimize(
        lambda g: (g @ matrix @ g, 2 * matrix @ g),
        classes[0] / positive + classes[1] / negative,
        jac=True,
        bounds=[(0, 1)] * 45,
        constraints=[{"type": "eq", "fun": lambda g, c=c: c @ g - 1} for c in classes],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    ).x
    expected = gram @ (LABELS * gamma)
    expected -= gamma @ expected / 2
    learner = KOMD(alpha=alpha)
    model = MKLClassifier(["rbf(gamma=0.125)"], learner=learner, feature_map=feature_map)
    values = model.fit(ROWS, LABELS).decision_function(ROWS)
    np.testing.assert_allclose(values, expected, atol=2e-4 * np.abs(expected).max())


def test_komd_between_the_class_means_and_the_hard_margin():
    kernels = {"kernels": ["linear"]}
    means = MKLClassifier(learner="komd(alpha=1)", **kernels).fit(ROWS, LABELS)
    np.testing.assert_array_equal(
        means.predict(ROWS), NearestCentroid().fit(ROWS, LABELS).predict(ROWS)
    )
    apart = ROWS + 3 * LABELS[:, None]
    hard = MKLClassifier(learner="komd(alpha=0)", **kernels).fit(apart, LABELS)
    machine = SVC(C=1e6, kernel="linear", tol=1e-6).fit(apart, LABELS)
    ratios = hard.decision_function(apart) / machine.decision_function(apart)
    np.testing.assert_allclose(ratios, ratios.mean(), rtol=1e-3)


def test_a_row_of_weight_two_is_the_row_twice():
    gram, counts = grams_of(ROWS)[2], np.where(np.arange(45) % 3, 1, 2)
    weighted = KOMD().fit(GramSide(gram), Target.two_classes(LABELS, counts.astype(float)))
    places = np.repeat(np.arange(45), counts)
    twice = KOMD().fit(GramSide(gram[np.ix_(places, places)]), Target.two_classes(LABELS[places]))
    expected = twice.decide(gram[:, places])
    np.testing.assert_allclose(weighted.decide(gram), expected, atol=1e-4)


@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
def test_pwmk_weighs_by_accuracy_on_rows_left_out(feature_map):
    splits = Target.two_classes(LABELS).folds(3, np.random.RandomState(0))
    accuracies = []
    for gram in grams_of(ROWS):
        right = [
            SVC(C=1, kernel="precomputed")
            .fit(gram[np.ix_(known, known)], LABELS[known])
            .predict(gram[np.ix_(left, known)])
            == LABELS[left]
            for known, left in splits
        ]
        accuracies.append(np.concatenate(right).mean())
    accuracies = np.array(accuracies)

    maps = get_registry().create("feature_map", feature_map)
    kernels = [
        attrs.evolve(bound, columns=resolve_columns(bound.columns, 8, None))
        for bound in bind_kernels(specs(8))
    ]
    views = ViewSet.fit(kernels, maps, ROWS, np.random.RandomState(0))
    for threshold in (0.0, 0.5, accuracies.max()):
        target, state = Target.two_classes(LABELS), np.random.RandomState(0)
        weights = PWMK(threshold=threshold).choose(views, target, SVM(C=1), state)
        np.testing.assert_allclose(weights, np.maximum(accuracies - threshold, 0), atol=1e-9)


def test_a_relative_threshold_takes_the_worst_kernel_out():
    weights = weights_by(PWMK(threshold=1, relative=True), ROWS, LABELS)
    assert weights.min() == 0
    assert weights.max() > 0
    with pytest.raises(SpecError, match="threshold"):
        MKLClassifier(combiner="pwmk(threshold=2)").fit(ROWS, LABELS)
