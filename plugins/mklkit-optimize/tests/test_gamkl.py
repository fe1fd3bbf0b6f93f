"""GAMKL against the convex solvers where it shares their objective, and its first generation."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_optimize import GAMKL
from optimize_problems import (
    grams_of,
    least_objective,
    objective,
    random_problem,
    weights_by,
)
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC

from mklkit import MKLClassifier


def test_on_the_convex_objective_it_comes_near_the_minimum():
    rows, labels = random_problem(0, n_rows=60)
    grams = grams_of(rows)
    weights = weights_by(GAMKL(fitness="objective", generations=60), rows, labels)
    least = least_objective(grams, labels)
    reached = objective(grams, labels, weights)
    assert least * (1 - 1e-6) <= reached <= least * 1.01
    uniform = objective(grams, labels, np.full(6, 1 / 6))
    assert reached < uniform
    assert all(reached <= objective(grams, labels, corner) + 1e-6 for corner in np.eye(6))


def test_for_p_two_it_comes_near_mklgl():
    rows, labels = random_problem(1, n_rows=60)
    grams, reached = grams_of(rows), []
    for combiner in (GAMKL(p=2, fitness="objective", generations=60), "mklgl(p=2)"):
        weights = weights_by(combiner, rows, labels)
        reached.append(objective(grams, labels, weights / np.linalg.norm(weights)))
    assert reached[1] * (1 - 1e-5) <= reached[0] <= reached[1] * 1.01


def test_it_finds_the_kernel_that_alone_can_tell_the_classes():
    """By accuracy: columns 0 and 1 hold an exclusive or, the rest is noise on a larger scale."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(120, 4))
    labels = np.where(rows[:, 0] * rows[:, 1] > 0, 1.0, -1.0)
    kernels = ["linear@0:2", "rbf(gamma=2)@0:2", "rbf(gamma=5)@2:4"]
    model = MKLClassifier(kernels=kernels, combiner=GAMKL(generations=5), random_state=0)
    weights = model.fit(rows, labels).weights_[0]
    assert np.argmax(weights) == 1
    noise = np.exp(-5 * np.sum((rows[:, None, 2:] - rows[None, :, 2:]) ** 2, axis=2))
    signal = np.exp(-2 * np.sum((rows[:, None, :2] - rows[None, :, :2]) ** 2, axis=2))

    def accuracy(gram):
        predicted = cross_val_predict(SVC(kernel="precomputed"), gram, labels, cv=3)
        return np.mean(predicted == labels)

    linear = rows[:, :2] @ rows[:, :2].T
    chosen = weights[0] * linear + weights[1] * signal + weights[2] * noise
    assert accuracy(chosen) > accuracy(linear + signal + noise)


def test_a_class_of_one_row_is_learned():
    rows, labels = random_problem(3, n_rows=20)
    labels = np.where(np.arange(20) == 7, 1.0, -1.0)
    weights = weights_by(GAMKL(generations=2, population=5), rows, labels)
    assert abs(weights.sum() - 1) < 1e-9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("p=0.5", "'p' must be >= 1"),
        ("fitness='luck'", "'fitness' must be in"),
        ("population=4", "'population' must be >= 5"),
    ],
)
def test_wrong_parameters_are_named(arguments, message):
    rows, labels = random_problem(0, n_rows=20)
    with pytest.raises(ValueError, match=message):
        weights_by(f"gamkl({arguments})", rows, labels)
