"""A view is asked as often however long the iteration runs, and what is not needed is not asked."""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs
import numpy as np
import pytest
from coupled_fits import TRIO
from helpers.builders import views_of
from oracles.coupled import multik_mhks, start_of

from mklkit import MKLClassifier
from mklkit.combiners import IFSL
from mklkit.learners import KMHKS, MHKS
from mklkit.plugin import Target

CASES = [
    (MHKS, "empirical"),
    (MHKS, "empirical(subset=25)"),
    (MHKS, "empirical(rank=6)"),
    (KMHKS, "implicit"),
]
each_case = pytest.mark.parametrize(("learner", "feature_map"), CASES)
each_rule = pytest.mark.parametrize("rule", ["gradient", "fixed-mean"])


class CountingSide:
    """A training side that hands everything on and counts what is asked."""

    DOORS = ("gram", "features", "normal_matrix", "spectrum", "project", "project_back")

    def __init__(self, side: Any) -> None:
        self._side = side
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        if name in self.DOORS:
            self.asked[name] += 1
        return getattr(self._side, name)


def asked_in(passes, learner, feature_map, rule, rows, y, n_points=1):
    views = [CountingSide(view) for view in views_of(TRIO, rows, feature_map)]
    model = learner(tol=1e-300, max_iter=passes)
    variants = [attrs.evolve(model, alpha=c) for c in np.linspace(0.5, 2, n_points)]
    target = Target.two_classes(y)
    problems = [model.subproblem(view, target, variants) for view in views]
    combiner, lams = IFSL(rule=rule, weights=(3, 2, 1)), np.linspace(0.5, 2, n_points)
    with pytest.warns(match="max_iter"):
        solutions = combiner.solutions(problems, target, model, lams, np.random.RandomState(0))
    assert {len(solution.history) for solution in solutions} == {passes}
    return [view.asked for view in views]


@each_case
@each_rule
@pytest.mark.parametrize("n_points", [1, 5])
def test_a_view_is_asked_as_often_however_long_it_runs(
    two_classes, learner, feature_map, rule, n_points
):
    rows, y = two_classes
    asked = [asked_in(passes, learner, feature_map, rule, rows, y, n_points) for passes in (3, 12)]
    for short, long in zip(*asked, strict=True):
        for door in ("gram", "features", "normal_matrix", "spectrum"):
            assert short[door] == long[door] <= 2
        grown = {door: long[door] - short[door] for door in ("project", "project_back")}
        # Features are read twice a pass: once to solve and once for the outputs.
        assert set(grown.values()) <= ({9} if learner is MHKS else {0})


def test_full_maps_are_never_decomposed_again(two_classes):
    """The arrowhead: the normal matrix of a full empirical map is diagonal."""
    rows, y = two_classes
    for asked in asked_in(5, MHKS, "empirical", "gradient", rows, y):
        assert asked["spectrum"] == asked["gram"] == 0
    for view in views_of(TRIO, rows, "empirical"):
        features = view.features()
        products = features.T @ features
        diagonal = view.normal_matrix()
        assert diagonal.is_diagonal
        np.testing.assert_allclose(np.diag(diagonal.products), products, atol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"learner": "mhks(alpha=0.01, solver='printed')"},
        {"kernels": ["rbf", "tanh"]},
        {"combiner": "ifsl(initial='unit')"},
        {"feature_map": "empirical(rank=20)"},
    ],
    ids=str,
)
def test_a_fit_on_the_kernel_is_that_on_the_features_of_the_paper(two_classes, settings):
    """Where features reproduce the kernel, none are made; where they differ, they count."""
    rows, y = two_classes
    kernels = ["rbf(gamma=0.1)", "rbf(gamma=0.4)"]
    model = MKLClassifier(**{"kernels": kernels, "combiner": "ifsl", "learner": "mhks"} | settings)
    model.fit(rows, y)
    views = views_of(model.kernels, rows, model.feature_map or "empirical")
    features = [view.features() for view in views]
    widths = [columns.shape[1] + 1 for columns in features]
    start = start_of("unit" if "combiner" in settings else "zeros", widths)
    naive = multik_mhks(features, y, model.learner_.alpha, 1.0, start=start)
    mean = np.mean(naive.outputs, axis=0)
    np.testing.assert_allclose(model.decision_function(rows), mean, atol=1e-7)
