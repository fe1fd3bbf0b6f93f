"""Optimised weights for numbers: minima found by a general solver, and the kernels that matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVR as TheirSVR

from mklkit import MKLRegressor

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 3))
Y = 5 + np.sin(2 * X[:, 0]) + 0.4 * X[:, 1] + 0.1 * RNG.normal(size=60)
KERNELS = ["a:rbf(sigma=1)@0", "b:linear@1", "c:rbf(sigma=1)@2"]


def grams(model):
    return [
        kernel.fit(X[:, columns])(X[:, columns], X[:, columns])
        for kernel, columns in zip(model.kernels_, model.kernel_columns_, strict=True)
    ]


def objective_of_ridge(weights, matrices, alpha):
    """½‖f‖² + Σ(y − f)²/2α at its minimum, times two, by the normal equations with a bias."""
    y = (Y - Y.mean()) / Y.std()
    total = np.tensordot(weights, matrices, 1) + alpha * np.eye(len(y))
    bordered = np.block([[total, np.ones((60, 1))], [np.ones((1, 60)), np.zeros((1, 1))]])
    beta = np.linalg.solve(bordered, np.append(y, 0))[:-1]
    return float(beta @ y)


def objective_of_tube(weights, matrices, C, epsilon):
    y = (Y - Y.mean()) / Y.std()
    total = np.tensordot(weights, matrices, 1)
    svr = TheirSVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-8).fit(total, y)
    beta = np.zeros(60)
    beta[svr.support_] = svr.dual_coef_[0]
    return float(beta @ y - epsilon * np.abs(beta).sum() - 0.5 * beta @ total @ beta)


@pytest.mark.parametrize("combiner", ["simplemkl", "mklgl"])
@pytest.mark.parametrize("learner", ["ridge(alpha=0.5)", "svr"])
def test_the_weights_minimize_the_objective_on_the_simplex(combiner, learner):
    spec = learner if learner != "svr" else f"svr(C={3 * Y.std()}, epsilon={0.2 * Y.std()})"
    model = MKLRegressor(KERNELS, combiner=combiner, learner=spec).fit(X, Y)
    matrices = grams(model)

    def objective(weights):
        if learner == "svr":
            return objective_of_tube(weights, matrices, 3, 0.2)
        return objective_of_ridge(weights, matrices, 0.5)

    reached = objective(model.weights_[0])
    best = minimize(
        objective,
        np.full(3, 1 / 3),
        method="SLSQP",
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-10},
    )
    assert reached <= best.fun * (1 + 1e-4)


@pytest.mark.parametrize("combiner", ["simplemkl", "mklgl", "mklgl(p=2)", "cka"])
@pytest.mark.parametrize("learner", ["ridge", "svr"])
def test_automatic_settings_find_the_kernels_that_matter(combiner, learner):
    model = MKLRegressor(KERNELS, combiner=combiner, learner=learner).fit(X, Y)
    assert model.weights_[0].argmax() == 0
    assert model.score(X, Y) > 0.9


def test_the_decision_on_a_ball_is_that_of_the_weights_as_published():
    model = MKLRegressor(KERNELS, combiner="mklgl(p=2)", learner="ridge(alpha=0.5)").fit(X, Y)
    weights = model.weights_[0] / np.linalg.norm(model.weights_[0])
    total = np.tensordot(weights, grams(model), 1)
    bordered = np.block(
        [[total + 0.5 * np.eye(60), np.ones((60, 1))], [np.ones((1, 60)), np.zeros((1, 1))]]
    )
    solved = np.linalg.solve(bordered, np.append(Y, 0))
    np.testing.assert_allclose(model.predict(X), total @ solved[:-1] + solved[-1], rtol=1e-8)


def test_weights_of_maximal_alignment_with_numbers():
    model = MKLRegressor(KERNELS, combiner="cka").fit(X, Y)
    centring = np.eye(60) - 1 / 60
    centered = [centring @ gram @ centring for gram in grams(model)]
    truth = np.outer(centring @ Y, centring @ Y)

    def alignment(weights):
        total = np.tensordot(weights, centered, 1)
        return np.sum(total * truth) / np.linalg.norm(total)

    reached = alignment(model.weights_[0])
    others = RNG.dirichlet(np.ones(3), size=300)
    assert reached >= max(alignment(weights) for weights in others) * (1 - 1e-9)
