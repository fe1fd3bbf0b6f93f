"""A whole grid abreast gives what each point's own fit gives."""

from __future__ import annotations

import warnings

import attrs
import numpy as np
import pytest
from coupled_fits import TRIO, couple
from helpers.builders import views_of
from sklearn.exceptions import ConvergenceWarning

from mklkit.combiners import IFSL
from mklkit.learners import KMHKS, MHKS
from mklkit.plugin import Target

RIDGES = np.repeat([2.0**-4, 0.5, 16.0], 3)
LAMS = np.tile([0.0, 1.0, 16.0], 3)
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


def assert_same_points(grid, singles, rows, atol=1e-8):
    """Functions, not coefficients: of low rank, these are free where a matrix says nothing."""
    values = grid.decide(rows)
    for point, single in enumerate(singles):
        assert grid.n_iter[point] == len(single.history)
        expected = single.decide(rows)
        size = max(1, np.abs(expected).max())
        np.testing.assert_allclose(values[:, point], expected, atol=atol * size)


@pytest.mark.parametrize("rule", ["gradient", "fixed-mean"])
@pytest.mark.parametrize("initial", ["unit", "ones", "zeros"])
@pytest.mark.parametrize("feature_map", [*MAPS, "implicit"])
def test_each_point_is_a_fit_of_its_own(two_classes, rng, feature_map, initial, rule):
    rows, y = two_classes
    views = views_of(TRIO, rows, feature_map)
    combiner = IFSL(rule=rule, initial=initial, weights=(3, 2, 1))
    learner = KMHKS() if feature_map == "implicit" else MHKS()
    corners_and_middle = RIDGES[::2], LAMS[::2]
    grid = grid_of(views, y, combiner, learner, *corners_and_middle)
    new = np.vstack([rows, rng.normal(size=(40, 4))])
    assert_same_points(grid, singles_of(views, y, combiner, learner, *corners_and_middle), new)


@pytest.mark.parametrize(
    ("learner", "feature_map"), [(MHKS, "empirical"), (KMHKS, "implicit")], ids=str
)
def test_ridges_of_zero_may_stand_beside_others(two_classes, learner, feature_map):
    rows, y = two_classes
    views = views_of(["linear", "polynomial(degree=2)"], rows, feature_map)
    ridges, lams = np.array([0.0, 1.0]), np.array([1.0, 1.0])
    combiner, settings = IFSL(initial="zeros"), learner(tol=1e-5)
    grid = grid_of(views, y, combiner, settings, ridges, lams)
    singles = singles_of(views, y, combiner, settings, ridges, lams)
    assert_same_points(grid, singles, rows, 1e-6)


def test_points_that_run_out_of_passes_are_said_once(two_classes):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    learner = MHKS(max_iter=12)
    with pytest.warns(ConvergenceWarning, match="max_iter=12") as caught:
        grid = fit_grid(views, y, IFSL(), learner, RIDGES, LAMS)
    assert len([w for w in caught if issubclass(w.category, ConvergenceWarning)]) == 1
    assert grid.n_iter.max() == 12
