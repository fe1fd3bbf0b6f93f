"""Ridge regression on more features than rows, in the rows' space, against that of weights."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit.learners.ho_kashyap.feature_problem import FeatureProblem
from mklkit.learners.ho_kashyap.problems import RowProblem
from mklkit.views.sides import FeatureSide


@pytest.mark.parametrize("alpha", [1e-3, 2.0])
@pytest.mark.parametrize(
    ("mean", "kind", "rel"), [(0, "f8", 1e-9), (1e6, "f8", 1e-6), (1, "f4", 1e-3)]
)
def test_the_solution_is_that_of_the_weights(rng, alpha, mean, kind, rel):
    features = (rng.normal(size=(12, 30)) + mean).astype(kind)
    targets, scale = rng.normal(size=(12, 1)).astype(kind), np.array([1.5])
    side = FeatureSide(features)
    problems = [RowProblem(side, np.array([alpha])), FeatureProblem(side, np.array([alpha]))]
    rows, weights = (problem.solve(targets, scale) for problem in problems)
    assert problems[0].outputs(rows) == pytest.approx(
        problems[1].outputs(weights), rel=rel, abs=rel
    )
    assert problems[0].penalty(rows) == pytest.approx(problems[1].penalty(weights), rel=10 * rel)
    new = (rng.normal(size=(5, 30)) + mean).astype(kind)
    decided = [
        problem.finish(solution).decide(new)
        for problem, solution in zip(problems, (rows, weights), strict=True)
    ]
    assert decided[0] == pytest.approx(decided[1], rel=10 * rel, abs=10 * rel)


@pytest.mark.parametrize("mean", [0, 1e6])
def test_given_weights_and_bias_are_the_same_function(rng, mean):
    features = rng.normal(size=(8, 20)) + mean
    values = rng.normal(size=21)
    problem = RowProblem(FeatureSide(features), np.array([1.0]))
    coefficients = problem.filled(values)
    assert problem.outputs(coefficients)[:, 0] == pytest.approx(features @ values[:-1] + values[-1])
    assert problem.penalty(coefficients) == pytest.approx((values[:-1] ** 2).sum())
