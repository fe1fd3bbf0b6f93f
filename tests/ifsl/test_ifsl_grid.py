"""A whole grid abreast gives what each point's own fit gives."""

from __future__ import annotations

import warnings

import attrs
import numpy as np
import pytest
from builders import views_of
from coupled_fits import TRIO, couple
from sklearn.exceptions import ConvergenceWarning

from mklkit.combiners import IFSL
from mklkit.learners import KMHKS, MHKS
from mklkit.plugin import Target

RIDGES = np.repeat([2.0**-4, 0.5, 16.0], 3)
LAMS = np.tile([0.0, 1.0, 16.0], 3)
STARTS = ["unit", "ones", "zeros"]
MAPS = ["empirical", "empirical(subset=30)", "empirical(rank=8)"]


def fit_grid(views, y, combiner, learner, ridges, lams):
    pairs = zip(ridges, lams, strict=True)
    points = [{"learner__alpha": c, "combiner__lam": lam} for c, lam in pairs]
    return combiner.fit_grid(
        views, Target.two_classes(y), learner, points, np.random.RandomState(0)
    )


def grid_of(views, y, combiner, learner, ridges=RIDGES, lams=LAMS):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit_grid(views, y, combiner, learner, ridges, lams)


def singles_of(views, y, combiner, learner, ridges=RIDGES, lams=LAMS):
    return [
        couple(views, y, attrs.evolve(combiner, lam=lam), attrs.evolve(learner, alpha=c))
        for c, lam in zip(ridges, lams, strict=True)
    ]


@pytest.mark.parametrize("rule", ["gradient", "fixed-mean"])
@pytest.mark.parametrize(
    "initial",
    [
        pytest.param(one, marks=[pytest.mark.slow] if place else [])
        for place, one in enumerate(STARTS)
    ],
)
@pytest.mark.parametrize("feature_map", MAPS)
def test_features_point_by_point(two_classes, feature_map, initial, rule):
    rows, y = two_classes
    views = views_of(TRIO, rows, feature_map)
    combiner = IFSL(rule=rule, initial=initial, weights=(3, 2, 1))
    grid = grid_of(views, y, combiner, MHKS())
    for point, single in enumerate(singles_of(views, y, combiner, MHKS())):
        assert grid.n_iter[point] == len(single.history)
        for index, learner in enumerate(single.learners):
            np.testing.assert_allclose(
                grid.learners[index].coefficients[:, point],
                learner.coefficients,
                atol=1e-8 * max(1, np.abs(learner.coefficients).max()),
            )
            bias = grid.learners[index].bias[point]
            assert bias == pytest.approx(learner.bias, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("rule", ["gradient", "fixed-mean"])
@pytest.mark.parametrize("initial", STARTS)
def test_gram_matrices_point_by_point(two_classes, rng, initial, rule):
    """Functions, not α: a Gram matrix of low rank leaves α free where it says nothing."""
    rows, y = two_classes
    views = views_of(TRIO, rows)
    combiner = IFSL(rule=rule, initial=initial)
    grid = grid_of(views, y, combiner, KMHKS())
    new = np.vstack([rows, rng.normal(size=(40, 4))])
    values = grid.decide(new)
    for point, single in enumerate(singles_of(views, y, combiner, KMHKS())):
        assert grid.n_iter[point] == len(single.history)
        expected = single.decide(new)
        np.testing.assert_allclose(
            values[:, point], expected, atol=1e-8 * max(1, np.abs(expected).max())
        )


@pytest.mark.parametrize(
    ("learner", "feature_map"), [(MHKS, "empirical"), (KMHKS, "implicit")], ids=str
)
def test_ridges_of_zero_may_stand_beside_others(two_classes, learner, feature_map):
    rows, y = two_classes
    views = views_of(["linear", "polynomial(degree=2)"], rows, feature_map)
    ridges, lams = np.array([0.0, 1.0]), np.array([1.0, 1.0])
    combiner, settings = IFSL(initial="zeros"), learner(tol=1e-5)
    grid = grid_of(views, y, combiner, settings, ridges, lams)
    for point, single in enumerate(singles_of(views, y, combiner, settings, ridges, lams)):
        assert grid.n_iter[point] == len(single.history)
        expected = single.decide(rows)
        np.testing.assert_allclose(grid.decide(rows)[:, point], expected, atol=1e-6)


def test_points_that_run_out_of_passes_are_said_once(two_classes):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    learner = MHKS(max_iter=12)
    with pytest.warns(ConvergenceWarning, match="max_iter=12") as caught:
        grid = fit_grid(views, y, IFSL(), learner, RIDGES, LAMS)
    assert len([w for w in caught if issubclass(w.category, ConvergenceWarning)]) == 1
    assert grid.n_iter.max() == 12
