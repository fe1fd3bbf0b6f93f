"""Coupled learners without margins against generic solvers of the same convex problem."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from coupled_fits import TRIO, coefficients_of, couple
from helpers.builders import in_blocks, views_of
from oracles.coupled import joint_minimum

from mklkit import IncompatibleError, MKLClassifier
from mklkit.combiners import IFSL
from mklkit.learners import KMHKS, MHKS, Ridge
from mklkit.plugin import Target

EXACT = MHKS(solver="smooth", tol=1e-12)


def outputs_of(decision, features):
    pairs = zip(features, coefficients_of(decision), strict=True)
    return np.array([columns @ c[:-1] + c[-1] for columns, c in pairs])


def objective(decision, features, y, lam, mu, alphas=(1.0, 1.0, 1.0)):
    outputs = outputs_of(decision, features)
    penalties = [
        a * c[:-1] @ c[:-1] for a, c in zip(alphas, coefficients_of(decision), strict=True)
    ]
    disagreement = np.sum((outputs - mu @ outputs) ** 2)
    return np.sum(np.maximum(0, 1 - y * outputs) ** 2) + sum(penalties) + lam * disagreement


@pytest.mark.parametrize("feature_map", ["empirical", "empirical(subset=25)"])
@pytest.mark.parametrize("weights", [(1, 1, 1), (6, 3, 1)], ids=str)
@pytest.mark.parametrize("lam", [0.0, 1.0, 16.0])
def test_it_is_the_minimum(two_classes, feature_map, weights, lam):
    rows, y = two_classes
    views = views_of(TRIO, rows, feature_map)
    decision = couple(views, y, IFSL(lam=lam, weights=weights), EXACT)
    mu, features = np.array(weights) / sum(weights), [view.features() for view in views]
    least = joint_minimum(features, y, 1.0, lam, mu=mu)
    assert objective(decision, features, y, lam, mu) == pytest.approx(least, rel=1e-7)
    assert decision.history[-1] == pytest.approx(least, rel=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_that_are_made_again_give_the_minimum_too(rng, dtype):
    rows = rng.normal(size=(2300, 3)).astype(dtype)
    y = np.where(rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=2300) > 0, 1, -1).astype(dtype)
    views = in_blocks(
        views_of(["rbf(sigma=0.5)", "rbf(sigma=2)", "linear"], rows, "empirical(subset=20)")
    )
    decision = couple(views, y, IFSL(lam=2.0), EXACT)
    features = [view.some_features(np.arange(2300)).astype(float) for view in views]
    mu, labels = np.full(3, 1 / 3), y.astype(float)
    least = joint_minimum(features, labels, 1.0, 2.0)
    relative = 1e-8 if dtype == np.float64 else 1e-5
    assert objective(decision, features, labels, 2.0, mu) == pytest.approx(least, rel=relative)


def test_each_view_may_have_its_own_ridge(two_classes):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical(subset=9)")
    ridges, mu = (0.5, 1.0, 4.0), np.full(3, 1 / 3)
    decision = couple(views, y, IFSL(ridges=ridges), EXACT)
    features = [view.features() for view in views]
    # A ridge c on features is one of 1 on features divided by the root of c.
    scaled = [part / np.sqrt(ridge) for part, ridge in zip(features, ridges, strict=True)]
    least = joint_minimum(scaled, y, 1.0, 1.0)
    assert objective(decision, features, y, 1.0, mu, ridges) == pytest.approx(least, rel=1e-7)


def test_weights_of_rows_count_in_errors_and_disagreement(rng, two_classes):
    rows, y = two_classes
    often = rng.integers(1, 4, len(y))
    views = views_of(TRIO, rows, "empirical(subset=9)")
    target = Target.two_classes(y, often.astype(float))
    decision = IFSL().fit(views, target, EXACT, np.random.RandomState(0))
    features = [np.repeat(view.features(), often, axis=0) for view in views]
    labels = np.repeat(y, often)
    least = joint_minimum(features, labels, 1.0, 1.0)
    reached = objective(decision, features, labels, 1.0, np.full(3, 1 / 3))
    assert reached == pytest.approx(least, rel=1e-7)


def test_views_of_rows_that_miss_sources(rng, two_classes):
    """A view's errors are those of the rows that have it, and the mean is that of a row's views."""
    rows, y = two_classes
    rows = rows.copy()
    lacking = rng.random((len(y), 2)) < 0.25
    lacking[lacking.all(axis=1)] = False
    rows[lacking[:, 0], :2] = rows[lacking[:, 1], 2:] = np.nan
    kernels = ["a:linear@0:2", "b:linear@2:4"]
    model = MKLClassifier(
        kernels,
        missing="present",
        scale=None,
        combiner="ifsl(lam=2.0)",
        feature_map="empirical(subset=10)",
        learner=EXACT,
        random_state=0,
    ).fit(rows, y)
    filled, has = np.where(np.isnan(rows), 0, rows), ~lacking.T
    parts = [filled[:, :2], filled[:, 2:]]

    def value(vector):
        first, second = np.split(vector, 2)
        outputs = np.array([p @ v[:2] + v[2] for p, v in zip(parts, (first, second), strict=True)])
        mean = (outputs * has).sum(axis=0) / has.sum(axis=0)
        each = np.maximum(0, 1 - y * outputs) ** 2 + 2.0 * (outputs - mean) ** 2
        return np.sum(each * has) + first[:2] @ first[:2] + second[:2] @ second[:2]

    least = scipy.optimize.minimize(value, np.zeros(6), tol=1e-12, method="BFGS")
    assert model.fitted_.decisions[0].history[-1] == pytest.approx(least.fun, rel=1e-6)


@pytest.mark.process
def test_coupled_ridge_regressions_of_many_rows_solve_their_system(rng):
    rows = rng.normal(size=(10_500, 4))
    numbers = rows @ np.arange(1.0, 5.0) + rng.normal(size=len(rows))
    views = views_of(["a:linear@0:2", "b:linear@2:4"], rows, "empirical(subset=40)")
    learner, lam = Ridge(alpha=3.0, tol=1e-14), 2.0
    decision = IFSL(lam=lam).fit(views, Target.numbers(numbers), learner, np.random.RandomState(0))
    parts = [np.column_stack([view.features(), np.ones(len(rows))]) for view in views]
    coupling = np.eye(2) - 0.5
    blocks = [[lam * coupling[i, j] * parts[i].T @ parts[j] for j in range(2)] for i in range(2)]
    for i in range(2):
        size = parts[i].shape[1]
        blocks[i][i] += parts[i].T @ parts[i] + np.diag(np.append(np.full(size - 1, 3.0), 0.0))
    right = np.concatenate([part.T @ numbers for part in parts])
    expected = np.linalg.solve(np.block(blocks), right)
    np.testing.assert_allclose(np.concatenate(coefficients_of(decision)), expected, rtol=1e-4)


def test_all_points_of_a_grid_at_once_are_separate_fits(two_classes):
    rows, y = two_classes
    views, target = views_of(TRIO, rows, "empirical(subset=9)"), Target.two_classes(y)
    points = [
        {"combiner__lam": lam, "learner__alpha": alpha}
        for lam in (0.1, 1.0, 10.0)
        for alpha in (0.2, 3.0)
    ]
    random_state = np.random.RandomState(0)
    grid = IFSL().fit_grid(views, target, EXACT, points, random_state)
    for place, point in enumerate(points):
        learner = EXACT.with_params(alpha=point["learner__alpha"])
        alone = IFSL(lam=point["combiner__lam"]).fit(views, target, learner, random_state)
        for part, expected in zip(grid.learners, alone.learners, strict=True):
            np.testing.assert_allclose(
                part.coefficients[:, place], expected.coefficients, atol=1e-5
            )
        assert abs(grid.n_iter[place] - len(alone.history)) <= 3


@pytest.mark.parametrize(
    "settings",
    [{"rule": "gradient"}, {"order": "at-once"}, {"initial": "unit"}, {"rates": (1, 1, 1)}],
)
def test_settings_of_the_printed_iteration_need_it(two_classes, settings):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical(subset=9)")
    with pytest.raises(IncompatibleError):
        couple(views, y, IFSL(**settings), EXACT)
    couple(views, y, IFSL(**settings), MHKS())


def test_gram_matrices_have_no_smooth_problem(two_classes):
    rows, y = two_classes
    with pytest.raises(IncompatibleError):
        couple(views_of(TRIO, rows), y, IFSL(), EXACT)
    couple(views_of(TRIO, rows), y, IFSL(), KMHKS())
