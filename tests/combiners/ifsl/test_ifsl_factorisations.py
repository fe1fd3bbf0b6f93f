"""Nothing is factorised inside the iteration, and a view is asked as often however long it runs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs
import numpy as np
import pytest
import scipy.linalg
from coupled_fits import TRIO, couple
from helpers.builders import views_of
from oracles.coupled import multik_mhks

from mklkit import MKLClassifier
from mklkit.combiners import IFSL
from mklkit.learners import KMHKS, MHKS
from mklkit.plugin import Target

DECOMPOSITIONS = ["eigh", "cholesky", "cho_factor", "lu", "lu_factor", "svd", "qr", "inv", "solve"]
DENSE = ["eigh", "cholesky", "svd", "qr", "inv", "solve", "lstsq", "pinv", "eig"]
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


@pytest.fixture
def factorized(monkeypatch) -> Counter[str]:
    """Count decompositions by SciPy and NumPy; all of them still run."""
    counted: Counter[str] = Counter()

    def counting(module, name):
        original = getattr(module, name)

        def call(*args, **kwargs):
            counted[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, call)

    for name in DECOMPOSITIONS:
        counting(scipy.linalg, name)
    for name in DENSE:
        counting(np.linalg, name)
    return counted


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
def test_a_view_is_decomposed_as_often_however_long_it_runs(
    two_classes, factorized, learner, feature_map, rule, n_points
):
    rows, y = two_classes
    counts, asked = [], []
    for passes in (3, 12):
        factorized.clear()
        asked.append(asked_in(passes, learner, feature_map, rule, rows, y, n_points))
        counts.append(dict(factorized))
    assert counts[0] == counts[1]
    # One decomposition a view at most, besides the one that makes an empirical map.
    assert sum(counts[1].values()) <= (6 if feature_map.startswith("empirical") else 3)
    for short, long in zip(*asked, strict=True):
        for door in ("gram", "features", "normal_matrix", "spectrum"):
            assert short[door] == long[door] <= 2
        grown = {door: long[door] - short[door] for door in ("project", "project_back")}
        # Features are read twice a pass: once to solve and once for the outputs.
        assert set(grown.values()) <= ({9} if learner is MHKS else {0})


def test_full_maps_are_never_decomposed_again(two_classes, factorized):
    """The arrowhead: the normal matrix of a full empirical map needs no decomposition at all."""
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    factorized.clear()
    couple(views, y, IFSL(), MHKS())
    assert not factorized


@pytest.mark.parametrize("learner", ["mhks", "mhks(alpha=0.01)"])
def test_a_fit_on_a_full_map_takes_no_eigenpairs(two_classes, factorized, learner):
    """A Cholesky factor per view, and the function that the features of paper 000 give."""
    rows, y = two_classes
    kernels = ["rbf(gamma=0.1)", "rbf(gamma=0.4)"]
    views = views_of(kernels, rows, "empirical")
    naive = multik_mhks([view.features() for view in views], y, MHKS().alpha, 1.0)
    factorized.clear()
    model = MKLClassifier(kernels, combiner="ifsl", learner=learner).fit(rows, y)
    assert set(factorized) == {"cho_factor"}
    assert factorized["cho_factor"] == len(kernels)
    if learner == "mhks":
        mean = np.mean(naive.outputs, axis=0)
        np.testing.assert_allclose(model.decision_function(rows), mean, atol=1e-8)


@pytest.mark.parametrize(
    "changed",
    [
        {"kernels": ["rbf", "tanh"]},
        {"combiner": "ifsl(initial='unit')"},
        {"feature_map": "empirical(rank=20)"},
    ],
)
def test_features_that_matter_are_made(two_classes, factorized, changed):
    rows, y = two_classes
    MKLClassifier(**{"kernels": ["rbf"], "combiner": "ifsl"} | changed).fit(rows, y)
    assert factorized["eigh"] > 0
