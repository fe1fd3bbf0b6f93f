"""SILP, SimpleMKL and MKLGL (p = 1) solve one convex problem and must end at one point."""

from __future__ import annotations

import numpy as np
import pytest
from optimize_problems import (
    REAL,
    grams_of,
    least_objective,
    objective,
    random_problem,
    real_problem,
    specs,
    weights_by,
)

from mklkit import MKLClassifier
from mklkit.learners import SVM

ROADS = ("mklgl", "silp", "simplemkl")


def _check_agreement(rows, labels):
    grams = grams_of(rows)
    by_road = {name: weights_by(name, rows, labels) for name in ROADS}
    reached = {name: objective(grams, labels, weights) for name, weights in by_road.items()}
    assert max(reached.values()) <= (1 + 1e-4) * min(reached.values())
    for name in ROADS:
        np.testing.assert_allclose(by_road[name], by_road["silp"], atol=1e-2)
    return grams, reached


@pytest.mark.parametrize("seed", range(10))
def test_same_weights_and_the_least_objective_on_random_problems(seed):
    rows, labels = random_problem(seed, n_rows=70)
    grams, reached = _check_agreement(rows, labels)
    least = least_objective(grams, labels)
    for value in reached.values():
        assert least * (1 - 1e-6) <= value <= least * (1 + 1e-4)


@pytest.mark.parametrize("name", REAL)
def test_same_weights_on_real_problems(name):
    _check_agreement(*real_problem(name))


@pytest.mark.parametrize("name", ROADS)
def test_the_learners_price_is_the_machines(name):
    rows, labels = random_problem(0, n_rows=60)
    by_learner = MKLClassifier(kernels=specs(8), combiner=name, learner=SVM(C=0.1))
    model = MKLClassifier(kernels=specs(8), combiner=f"{name}(C=0.1)")
    weights = by_learner.fit(rows, labels).weights_[0]
    np.testing.assert_allclose(weights, model.fit(rows, labels).weights_[0])
    least = least_objective(grams_of(rows), labels, C=0.1)
    assert objective(grams_of(rows), labels, weights, C=0.1) <= least * (1 + 1e-4)
    assert np.abs(weights - weights_by(name, rows, labels)).max() > 1e-2
