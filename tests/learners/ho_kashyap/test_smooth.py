"""MHKS without margins against generic solvers of the same convex problem."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from helpers.builders import in_blocks, views_of
from oracles.coupled import joint_minimum
from sklearn.exceptions import ConvergenceWarning

from mklkit.errors import SpecError
from mklkit.learners import MHKS
from mklkit.plugin import Target
from mklkit.registry.registry import get_registry
from mklkit.views.sides import FeatureSide

EXACT = MHKS(solver="smooth", tol=1e-12)


def objective(fitted, features, y, alpha, counts=1.0):
    short = np.maximum(0, 1 - y * fitted.decide(features.astype(np.float64)))
    return float(np.sum(counts * short**2) + alpha * fitted.coefficients @ fitted.coefficients)


@pytest.mark.parametrize("feature_map", ["empirical", "empirical(subset=25)", "empirical(rank=6)"])
@pytest.mark.parametrize("alpha", [2.0**-4, 1.0, 16.0])
def test_it_is_the_minimum(two_classes, feature_map, alpha):
    rows, y = two_classes
    view = views_of("rbf(gamma=0.2)", rows, feature_map)[0]
    fitted = attrs.evolve(EXACT, alpha=alpha).fit(view, Target.two_classes(y))
    least = joint_minimum([view.features()], y, alpha, 0.0)
    assert objective(fitted, view.features(), y, alpha) == pytest.approx(least, rel=1e-8)
    assert fitted.history[-1] == pytest.approx(least, rel=1e-8)
    assert (np.diff(fitted.history) <= 0).all()


def test_without_a_ridge_dependent_features_share_one_minimum(two_classes):
    rows, y = two_classes
    doubled = np.hstack([rows, rows[:, :1] + rows[:, 1:2]])
    fitted = attrs.evolve(EXACT, alpha=0.0).fit(FeatureSide(doubled), Target.two_classes(y))
    least = joint_minimum([rows], y, 0.0, 0.0)
    assert objective(fitted, doubled, y, 0.0) == pytest.approx(least, rel=1e-7)


def test_more_features_than_rows(rng):
    rows, y = rng.normal(size=(12, 40)), np.where(np.arange(12) % 2, 1.0, -1.0)
    fitted = EXACT.fit(FeatureSide(rows), Target.two_classes(y))
    assert objective(fitted, rows, y, 1.0) == pytest.approx(joint_minimum([rows], y, 1.0, 0.0))


def test_features_far_from_zero_lose_no_digits(two_classes):
    rows, y = two_classes
    fitted = EXACT.fit(FeatureSide(rows + 1e6), Target.two_classes(y))
    near = EXACT.fit(FeatureSide(rows), Target.two_classes(y))
    np.testing.assert_allclose(fitted.coefficients, near.coefficients, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "made again"])
def test_a_row_of_weight_two_is_the_same_row_twice(rng, kept):
    rows = rng.normal(size=(1100, 3))
    y, often = np.where(rows[:, 0] + rng.normal(size=1100) > 0, 1.0, -1.0), rng.integers(1, 4, 1100)
    views = views_of("rbf", rows, "empirical(subset=9)")
    view = (views if kept else in_blocks(views))[0]
    features = view.projector.transform(rows)
    fitted = EXACT.fit(view, Target.two_classes(y, often.astype(float)))
    repeated = np.repeat(features, often, axis=0), np.repeat(y, often)
    least = joint_minimum([repeated[0]], repeated[1], 1.0, 0.0)
    assert objective(fitted, features, y, 1.0, often) == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weights", [[1.0], [0.7, 0.3]], ids=str)
def test_features_that_are_made_again_give_the_minimum_too(rng, dtype, weights):
    rows = rng.normal(size=(2300, 3)).astype(dtype)
    y = np.where(rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=2300) > 0, 1, -1).astype(dtype)
    views = in_blocks(views_of(["rbf(sigma=0.5)", "linear"], rows, "empirical(subset=20)"))
    side = views.weighted(np.array([*weights, 0.0][:2]))
    fitted = EXACT.fit(side, Target.two_classes(y))
    features, labels = side.some_features(np.arange(2300)).astype(float), y.astype(float)
    least = joint_minimum([features], labels, 1.0, 0.0)
    relative = 1e-8 if dtype == np.float64 else 1e-5
    assert objective(fitted, features, labels, 1.0) == pytest.approx(least, rel=relative)


def test_it_is_the_default_for_many_rows_only(rng):
    rows = rng.normal(size=(10_001, 2))
    y = np.where(rows[:, 0] + rng.normal(size=10_001) > 0, 1.0, -1.0)
    for count, solver in ((10_000, "printed"), (10_001, "smooth")):
        side, target = FeatureSide(rows[:count]), Target.two_classes(y[:count])
        expected = MHKS(solver=solver).fit(side, target)
        np.testing.assert_array_equal(MHKS().fit(side, target).coefficients, expected.coefficients)
    printed = MHKS(solver="printed").fit(side, target)
    assert objective(expected, rows, y, 1.0) < objective(printed, rows, y, 1.0)


def test_too_few_passes_are_told(two_classes):
    rows, y = two_classes
    with pytest.warns(ConvergenceWarning):
        fitted = attrs.evolve(EXACT, max_iter=3).fit(FeatureSide(rows), Target.two_classes(y))
    assert len(fitted.history) == 3
    assert objective(fitted, rows, y, 1.0) == pytest.approx(fitted.history[-1])


def test_features_that_do_not_vary_give_the_larger_class(rng):
    y = np.where(np.arange(40) % 4, 1.0, -1.0)
    fitted = EXACT.fit(FeatureSide(np.ones((40, 2))), Target.two_classes(y))
    assert fitted.bias == pytest.approx(0.5)  # the mean of the labels
    np.testing.assert_allclose(fitted.coefficients, 0.0, atol=1e-9)


@pytest.mark.parametrize("spec", ["mhks(solver='newton')", "kmhks(solver='smooth')"])
def test_solvers_that_do_not_exist(spec):
    with pytest.raises(SpecError):
        get_registry().create("learner", spec)
