"""Coupled ridge regression: the one minimum of a joint linear system."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from mklkit import MKLClassifier
from mklkit.combiners import IFSL
from mklkit.errors import IncompatibleError
from mklkit.learners.ho_kashyap.iteration import iterate
from mklkit.learners.ho_kashyap.rules import GRADIENT, Columns
from mklkit.learners.ridge import Ridge
from mklkit.protocols import Target
from mklkit.views.sides import FeatureSide, GramSide

RNG = np.random.default_rng(5)
ROWS = RNG.normal(size=(30, 3))
Y = 4 + np.sin(ROWS[:, 0]) + 0.5 * ROWS[:, 1] + 0.1 * RNG.normal(size=30)


def joint_outputs(grams, y, mu, alpha, lam):
    """Solve for all views' coefficients and biases at once, by the normal equations."""
    n, m = len(y), len(grams)
    size = n + 1
    parts = [np.column_stack([gram, np.ones(n)]) for gram in grams]  # f_l = parts[l] @ z_l
    left, right = np.zeros((m * size, m * size)), np.zeros(m * size)
    for view in range(m):
        block = slice(view * size, (view + 1) * size)
        left[block, block] += parts[view].T @ parts[view]
        left[block, block][:n, :n] += alpha * grams[view]
        right[block] += parts[view].T @ y
        # f_view − Σ_j μ_j f_j
        gap = np.hstack([((view == j) - mu[j]) * parts[j] for j in range(m)])
        left += lam * gap.T @ gap
    solution = np.linalg.lstsq(left, right, rcond=None)[0]
    return [parts[view] @ solution[view * size : (view + 1) * size] for view in range(m)]


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("lam", [0.0, 0.7, 5.0])
def test_the_iteration_ends_at_the_joint_minimum(lam, explicit):
    grams = [rbf_kernel(ROWS, gamma=0.3), linear_kernel(ROWS)]
    features = [np.linalg.cholesky(grams[0] + 1e-12 * np.eye(30)), ROWS]
    sides = [FeatureSide(columns) for columns in features] if explicit else map(GramSide, grams)
    learner = Ridge(alpha=0.5, tol=1e-15)
    mu = np.array([0.3, 0.7])
    problems = [learner.subproblem(side, Target.numbers(Y), [learner]) for side in sides]
    columns = Columns(np.array([lam]), mu, learner.coupling)
    (solution,) = iterate(GRADIENT, problems, Target.numbers(Y), columns, [None, None])
    expected = joint_outputs(grams, Y, mu, 0.5, lam)
    assert not solution.margins.any()
    inputs = features if explicit else grams
    for fitted, columns_of, outputs in zip(solution.learners, inputs, expected, strict=True):
        np.testing.assert_allclose(fitted.decide(columns_of), outputs, atol=2e-6)


def test_the_objective_of_numbers_is_the_squared_error_and_the_penalties():
    learner = Ridge(alpha=0.5, tol=1e-15)
    gram = rbf_kernel(ROWS, gamma=0.3)
    problem = learner.subproblem(GramSide(gram), Target.numbers(Y), [learner])
    columns = Columns(np.zeros(1), np.ones(1), learner.coupling)
    (solution,) = iterate(GRADIENT, [problem], Target.numbers(Y), columns, [None])
    fitted = solution.learners[0]
    v = fitted.coefficients
    expected = ((fitted.decide(gram) - Y) ** 2).sum() + 0.5 * v @ gram @ v
    np.testing.assert_allclose(solution.history[-1], expected, rtol=1e-9)


def test_growing_margins_are_refused_beside_numbers():
    learner, target = Ridge(alpha=1), Target.numbers(Y)
    problems = [learner.subproblem(GramSide(rbf_kernel(ROWS)), target, [learner])] * 2
    with pytest.raises(IncompatibleError, match="no margins"):
        IFSL(rates=(0.5, 0.5)).couple(problems, target, learner, np.random.RandomState(0))


def test_labels_can_be_learned_by_coupled_ridge_regressions_too():
    labels = np.sign(Y - np.median(Y) + 1e-9)
    model = MKLClassifier(["rbf", "linear"], combiner="ifsl", learner="ridge(alpha=0.5)")
    assert model.fit(ROWS, labels).score(ROWS, labels) > 0.9
