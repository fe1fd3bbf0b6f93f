"""The parts of SILP and SimpleMKL, by identities."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
from mklkit_optimize import SILP, SimpleMKL
from mklkit_optimize.saddle import SaddleProblem, relative_gap
from mklkit_optimize.silp import best_on_cuts
from mklkit_optimize.simplemkl import curvature
from optimize_problems import grams_of, least_objective, objective, random_problem
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import MKLClassifier


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_the_program_finds_the_best_worst_cut(size):
    """θ is the value of a matrix game: no β beats it, and some mixture of cuts reaches it."""
    rng = np.random.default_rng(3)
    cuts = -size * rng.random((12, 4))
    weights, bound = best_on_cuts(cuts)
    assert weights.min() >= 0
    assert abs(weights.sum() - 1) < 1e-12
    np.testing.assert_allclose((cuts @ weights).min(), bound, rtol=1e-7)
    others = rng.dirichlet(np.full(4, 0.7), size=5000)
    assert (others @ cuts.T).min(axis=1).max() <= bound + 1e-9 * size


def test_the_gap_bounds_the_distance_from_the_minimum():
    rows, labels = random_problem(2, n_rows=50)
    grams = grams_of(rows)
    least = least_objective(grams, labels)
    problem = SaddleProblem(grams, labels, C=1.0, tol=1e-8)
    for weights in np.random.default_rng(0).dirichlet(np.ones(6), size=10):
        solution = problem.at(weights)
        np.testing.assert_allclose(solution.objective, objective(grams, labels, weights), rtol=1e-6)
        assert solution.objective * (1 - relative_gap(solution)) <= least * (1 + 1e-6)


def test_simplemkl_never_climbs():
    rows, labels = random_problem(6, n_rows=60)
    grams = grams_of(rows)
    problem = SaddleProblem(grams, labels, C=1.0, tol=1e-7)
    reached = [objective(grams, labels, np.full(6, 1 / 6))]
    for steps in (1, 2, 3, 5, 8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            weights = SimpleMKL(max_iter=steps, tol=1e-8).solve(problem)
        reached.append(objective(grams, labels, weights))
    assert all(later <= before + 1e-6 for before, later in pairwise(reached))
    assert reached[-1] < reached[0]


def test_the_curvature_is_that_of_the_objective():
    """Second differences of J along directions within the simplex."""
    rows, labels = random_problem(4, n_rows=60)
    grams = grams_of(rows)
    problem = SaddleProblem(grams, labels, C=1.0, tol=1e-10)
    weights, step = np.full(6, 1 / 6), 1e-5
    bent = curvature(problem, problem.at(weights))
    for m in range(1, 6):
        direction = np.eye(6)[m] - np.eye(6)[0]
        ahead, behind = (problem.at(weights + sign * step * direction).forms for sign in (1, -1))
        slopes = -0.5 * (ahead - behind) / (2 * step)
        np.testing.assert_allclose(bent @ direction, slopes, rtol=1e-2, atol=1e-3 * abs(bent).max())


class Counted(SaddleProblem):
    """A problem that counts its support vector machines."""

    machines: ClassVar[list[float]] = []

    def inner(self, gram):
        self.machines.append(self.C)
        return SaddleProblem.inner(self, gram)


def test_simplemkl_needs_few_machines():
    """Along the reduced gradient alone it was 40 times as many."""
    Counted.machines.clear()
    rows, labels = random_problem(0, n_rows=200)
    grams = np.array([rows @ rows.T, *(rbf_kernel(rows, gamma=g) for g in (0.01, 0.1, 1.0))])
    SimpleMKL().solve(Counted(grams, labels, C=1.0, tol=1e-6))
    assert 1 < len(Counted.machines) <= 20


def test_silp_ends_where_no_weights_are_new():
    """Rounding of the program keeps its bound from J; the same program then has no end."""
    rows, labels = random_problem(0, n_rows=30)
    grams = grams_of(rows)
    problem = SaddleProblem(grams, labels, C=1.0, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="no new weights"):
        weights = SILP(tol=1e-14).solve(problem)
    assert problem.at(weights).objective == pytest.approx(least_objective(grams, labels))


def test_simplemkl_ends_where_several_machines_are_optimal():
    # The first kernel is 1 or -1: which rows support it is a matter of taste.
    rows = [-0.95767343, 0.44015098, 1.187582, -0.67140454, 1.8528221, 1.2632749, 0.8191031]
    rows, y = np.array([*rows, 1.5949765])[:, None], np.array([-1, -1, 1, -1, 1, -1, 1, 1])
    kernels = ["cosine(linear)", "rbf", "cosine(polynomial)"]
    model = MKLClassifier(kernels, combiner=SimpleMKL(C=1.0, max_iter=60))
    model.fit(rows.astype(np.float32), y)
    np.testing.assert_allclose(model.weights_, [[1, 0, 0]], atol=1e-6)
