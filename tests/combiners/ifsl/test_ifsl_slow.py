"""Points of a grid at which the printed iteration is slow, against generic solvers."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from coupled_fits import TRIO, couple
from helpers.builders import views_of
from oracles.coupled import joint_minimum
from sklearn.exceptions import ConvergenceWarning

from mklkit import MKLClassifier
from mklkit.combiners import IFSL
from mklkit.learners import MHKS, Ridge
from mklkit.learners.ho_kashyap.agreement import Agreement
from mklkit.plugin import Target

EXTREMES = list(itertools.product((1e-3, 1.0, 1e3), (1e-4, 1e2, 1e4)))
CLOSE = MHKS(tol=1e-9)


def objective(learners, grams, y, alpha, lam, counts=1.0):
    """Return the objective of functions of similarities."""
    outputs = np.array([k @ f.coefficients + f.bias for k, f in zip(grams, learners, strict=True)])
    penalties = sum(
        f.coefficients @ k @ f.coefficients for k, f in zip(grams, learners, strict=True)
    )
    short, apart = np.maximum(0, 1 - y * outputs), outputs - outputs.mean(axis=0)
    return np.sum(counts * (short**2 + lam * apart**2)) + alpha * penalties


@pytest.mark.parametrize(("alpha", "lam"), EXTREMES)
def test_a_slow_point_ends_at_the_minimum(two_classes, alpha, lam):
    rows, y = two_classes
    views = views_of(TRIO, rows, "implicit")
    learner = CLOSE.with_params(alpha=alpha)
    decision = couple(views, y, IFSL(lam=lam), learner)
    features = [view.features() for view in views_of(TRIO, rows, "empirical")]
    least = joint_minimum(features, y, alpha, lam)
    grams = [view.gram() for view in views]
    reached = objective(decision.learners, grams, y, alpha, lam)
    # Where 30 printed passes are enough, their margins never shrink.
    slow = len(decision.history) > 30
    assert slow or lam < 1 or alpha > 1
    assert reached == pytest.approx(least, rel=1e-5 if slow else 1e-3)
    if slow:
        assert decision.history[-1] == pytest.approx(reached, rel=1e-6)


@pytest.mark.parametrize("feature_map", ["implicit", "empirical", "empirical(subset=25)"])
def test_no_point_is_above_the_printed_iteration(two_classes, feature_map):
    rows, y = two_classes
    views = views_of(TRIO, rows, feature_map)
    for alpha, lam in EXTREMES:
        learner = MHKS(alpha=alpha)
        decision = couple(views, y, IFSL(lam=lam), learner)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            printed = couple(views, y, IFSL(lam=lam), MHKS(alpha=alpha, solver="printed"))
        assert decision.history[-1] <= printed.history[-1] + learner.tol


@pytest.mark.parametrize("weighted", [False, True])
def test_a_grid_of_slow_points_is_separate_fits(rng, two_classes, weighted):
    rows, y = two_classes
    often = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    views, target = views_of(TRIO, rows, "implicit"), Target.two_classes(y, often)
    points = [{"learner__alpha": alpha, "combiner__lam": lam} for alpha, lam in EXTREMES]
    grid = IFSL().fit_grid(views, target, CLOSE, points, np.random.RandomState(0))
    values = grid.decide(rows)
    grams = [view.gram() for view in views]
    for place, (alpha, lam) in enumerate(EXTREMES):
        learner = CLOSE.with_params(alpha=alpha)
        alone = IFSL(lam=lam).fit(views, target, learner, np.random.RandomState(0))
        np.testing.assert_allclose(values[:, place], alone.decide(rows), atol=2e-3)
        reached = objective(alone.learners, grams, y, alpha, lam, 1.0 if often is None else often)
        # Margins of the printed iteration never shrink.
        slow = len(alone.history) > 30
        assert alone.history[-1] == pytest.approx(reached, rel=1e-6 if slow else 1e-4)


def test_coupled_ridge_regressions_solve_their_system(rng):
    rows = rng.normal(size=(40, 4))
    numbers = rows @ np.arange(1.0, 5.0) + rng.normal(size=40)
    views = views_of(["a:rbf(sigma=2.0)@0:2", "b:rbf(sigma=2.0)@2:4"], rows, "implicit")
    alpha, lam = 0.01, 1e3
    learner = Ridge(alpha=alpha, tol=1e-13)
    decision = IFSL(lam=lam).fit(views, Target.numbers(numbers), learner, np.random.RandomState(0))
    # Coefficients and biases of two functions, with the gradient of the objective set to zero.
    parts = [np.column_stack([view.gram(), np.ones(40)]) for view in views]
    ridges = [np.pad(alpha * view.gram(), (0, 1))[:41, :41] for view in views]
    coupling = np.eye(2) + lam * (np.eye(2) - 0.5)
    blocks = [[coupling[i, j] * parts[i].T @ parts[j] for j in range(2)] for i in range(2)]
    for i in range(2):
        blocks[i][i] = blocks[i][i] + ridges[i]
    right = np.concatenate([part.T @ numbers for part in parts])
    expected = np.linalg.lstsq(np.block(blocks), right, rcond=1e-14)[0]
    outputs = np.mean([p @ e for p, e in zip(parts, np.split(expected, 2), strict=True)], axis=0)
    np.testing.assert_allclose(decision.decide(rows), outputs, atol=1e-3)


def test_samples_that_miss_sources_end_at_the_minimum_too(rng, two_classes):
    rows, y = two_classes
    rows = rows.copy()
    lacking = rng.random((len(y), 2)) < 0.25
    lacking[lacking.all(axis=1)] = False
    rows[lacking[:, 0], :2] = rows[lacking[:, 1], 2:] = np.nan
    settings = {"missing": "present", "scale": None, "combiner": "ifsl(lam=100.0)"}
    kernels = ["a:rbf(sigma=1.0)@0:2", "b:rbf(sigma=1.0)@2:4"]
    histories = [
        MKLClassifier(kernels, feature_map="empirical", learner=learner, **settings)
        .fit(rows, y)
        .fitted_.decisions[0]
        .history
        # The second minimises over coefficients of features.
        for learner in (CLOSE, MHKS(solver="smooth", tol=1e-9))
    ]
    assert len(histories[0]) > 30
    assert histories[0][-1] == pytest.approx(histories[1][-1], rel=1e-5)


@pytest.mark.parametrize("lam", [9.0, 999.0])
def test_the_joint_system_is_that_of_all_views(rng, lam):
    n_rows, n_views, ratio = 12, 3, 0.1
    factors = rng.normal(size=(n_views, n_rows, n_rows))
    factors -= factors.mean(axis=1, keepdims=True)
    grams = [factor @ factor.T for factor in factors]
    ridges = np.array([ratio * (1 + lam)])
    weights = np.full(n_views, 1 / n_views)
    joint = Agreement.of(grams, ridges, np.array([lam]), weights, [0])
    right = rng.normal(size=(n_views, n_rows))
    # A_l on centred functions, and on constants, which have no penalty.
    constant = np.full((n_rows, n_rows), 1 / n_rows)
    alone = [
        k @ np.linalg.inv((1 + lam) * k + ridges * np.eye(n_rows)) + constant / (1 + lam)
        for k in grams
    ]
    sums = sum(a @ u for a, u in zip(alone, right, strict=True))
    pull = joint.pulls(sums[:, None], np.array([0]))[:, 0]
    outputs = np.array([a @ (u + pull) for a, u in zip(alone, right, strict=True)])
    # Every view's equation: A_l⁻¹ f_l − λ/M Σ_j f_j = u_l.
    for a, f, u in zip(alone, outputs, right, strict=True):
        rest = np.linalg.solve(a, f) - lam / n_views * outputs.sum(axis=0)
        np.testing.assert_allclose(rest, u, atol=1e-4 * lam)
