"""Sums over blocks reach libsvm's optimum; no solver touches NumPy's global state."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from helpers.builders import in_blocks, views_of
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mklkit import MKLClassifier
from mklkit.learners import SVM, support_vectors
from mklkit.learners.smoothed_hinge import solve_smoothed
from mklkit.learners.support_vectors import solve_on_similarities
from mklkit.views.sides import FeatureSide
from mklkit.views.view import WeightedViews


def _problem(n_rows: int = 300, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rows, labels = make_classification(
        n_rows, 8, n_informative=5, flip_y=0.1, class_sep=0.7, weights=[0.7], random_state=0
    )
    return rows + offset, 2.0 * labels - 1.0


def _objective(weights, bias, rows, y, C):
    return 0.5 * weights @ weights + C * np.maximum(0, 1 - y * (rows @ weights + bias)).sum()


@lru_cache
def _of_libsvm(C):
    near, y = _problem()
    exact = SVC(kernel="linear", C=C, tol=1e-8).fit(near, y)
    return exact, _objective(exact.coef_[0], exact.intercept_[0], near, y, C)


@pytest.mark.parametrize("C", [0.01, 1.0, 5.0])
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1.0, 20.0), (0.01, 0.0)])
@pytest.mark.process
def test_many_rows_solve_the_problem_of_libsvm(C, scale, offset):
    """Features far from zero have a large bias; libsvm, which stops early, is asked at zero."""
    near, y = _problem()
    rows = (near + offset) * scale
    exact, least = _of_libsvm(C)
    C, least = C / scale**2, least / scale**2
    plane = solve_smoothed(FeatureSide(rows), y, C, 1e-3 / 5, 5000)
    assert plane.ended
    reached = _objective(plane.coefficients, plane.bias, rows, y, C)
    assert least * (1 - 1e-9) <= reached <= least * (1 + 2e-4)
    expected = exact.decision_function(near)
    np.testing.assert_allclose(rows @ plane.coefficients + plane.bias, expected, atol=0.05)


def test_many_rows_too_end_with_one_warning():
    rows, y = _problem(5100)  # more than libsvm gets
    model = MKLClassifier("linear", feature_map="empirical(subset=8)", learner=SVM(max_iter=200))
    with pytest.warns(ConvergenceWarning, match=r"max_iter=200 steps") as warned:
        model.fit(rows, y)
    assert len(warned) == 1


GAUSSIANS = ["rbf(gamma=0.01)", "rbf(gamma=0.1)", "rbf(gamma=1)"]


class WithoutGram(WeightedViews):
    """Weighted views that count the rows of their Gram matrix, and refuse to compute all."""

    computed = 0

    def gram(self, keep=True):
        raise AssertionError

    def some_similarities(self, members):
        self.computed += len(members)
        return super().some_similarities(members)


@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.process
def test_many_rows_on_similarities_solve_the_problem_of_libsvm(C, weighted, monkeypatch):
    """To its tolerance; some rows are there twice, and some of these with both labels."""
    monkeypatch.setattr(support_vectors, "LIBSVM_ROWS", 100)
    rows, y = _problem(1200)
    rows[:5], y[:3] = rows[5:10], -y[5:8]
    weights = np.linspace(0.5, 3, 1200) if weighted else None
    side = WithoutGram(views_of(GAUSSIANS, rows), np.full(3, 1 / 3))
    solution = solve_on_similarities(side, y, C, row_weights=weights)
    assert solution.ended
    gram = sum(rbf_kernel(rows, gamma=gamma) for gamma in (0.01, 0.1, 1.0)) / 3
    a = solution.coefficients
    costs = C if weights is None else C * weights
    assert ((a * y >= 0) & (a * y <= costs)).all()
    np.testing.assert_allclose(a.sum(), 0, atol=1e-9 * np.abs(a).sum())
    grows, shrinks = a < np.where(y > 0, costs, 0), a > np.where(y > 0, 0, -costs)
    v = y - gram @ a
    assert v[grows].max() - v[shrinks].min() <= 1.01e-3
    exact = SVC(kernel="precomputed", C=C, tol=1e-6).fit(gram, y, weights)
    best = np.zeros(1200)
    best[exact.support_] = exact.dual_coef_[0]
    objective, least = (b @ gram @ b / 2 - b @ y for b in (a, best))
    np.testing.assert_allclose(objective, least, rtol=1e-5)
    values = gram @ a + solution.bias
    np.testing.assert_allclose(values, exact.decision_function(gram), atol=3e-3)


def test_similarities_of_rows_far_from_the_margin_are_not_computed(monkeypatch):
    monkeypatch.setattr(support_vectors, "LIBSVM_ROWS", 100)
    rows, labels = make_classification(2000, 5, n_redundant=0, class_sep=2.0, random_state=0)
    side = WithoutGram(views_of(GAUSSIANS, rows), np.full(3, 1 / 3))
    solution = solve_on_similarities(side, 2.0 * labels - 1.0)
    assert np.count_nonzero(solution.coefficients) <= side.computed < 1000


def test_a_limit_of_steps_on_similarities_is_told(monkeypatch):
    monkeypatch.setattr(support_vectors, "LIBSVM_ROWS", 100)
    rows, y = _problem(300)
    with pytest.warns(ConvergenceWarning, match="max_iter=7 steps"):
        MKLClassifier(GAUSSIANS, learner=SVM(C=1.0, max_iter=7)).fit(rows, y)


class CountedSide(FeatureSide):
    """Features that count the passes over their rows."""

    passes = 0

    def project(self, *arguments):
        self.passes += 1
        return super().project(*arguments)

    def weighted_products(self, *arguments):
        self.passes += 1
        return super().weighted_products(*arguments)


def test_passes_over_the_rows_are_bounded():
    rows, y = _problem(300)
    side = CountedSide(rows)
    plane = solve_smoothed(side, y, 1e4, 1e-9 / 5, 8)
    assert not plane.ended
    assert 0 < side.passes <= 8 + 1  # and one for the bias


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("C", [0.1, 1e4])
def test_blocks_of_several_views_solve_the_problem_of_their_features(dtype, C):
    rows, y = _problem(1200)  # in two blocks
    views = in_blocks(views_of(["linear", "rbf"], rows.astype(dtype), "empirical(subset=8)"))
    side = views.weighted(np.array([0.3, 0.7]))
    plane = solve_smoothed(side, y.astype(dtype), C, 1e-3 / 5, 200)
    features = side.features().astype(np.float64)
    reached = _objective(plane.coefficients, plane.bias, features, y, C)
    least = solve_smoothed(FeatureSide(features), y, C, 1e-5 / 5, 5000)
    assert reached <= 1.0005 * _objective(least.coefficients, least.bias, features, y, C)


def test_weighted_products_are_those_of_the_features(rng):
    views = views_of(["linear", "rbf"], rng.normal(size=(2100, 3)), "empirical(subset=6)")
    weights, targets = rng.random(2100), rng.normal(size=(2100, 2))
    weights[rng.random(2100) < 0.7] = 0
    for side in (views.weighted(np.array([0.2, 0.8])), views[1], views[0].restricted(np.arange(5))):
        features = side.features()
        n_rows = len(features)
        products, sums = side.weighted_products(weights[:n_rows], targets[:n_rows])
        expected = features.T @ (weights[:n_rows, None] * features)
        np.testing.assert_allclose(products, expected, atol=1e-9)
        np.testing.assert_allclose(sums, features.T @ targets[:n_rows], atol=1e-9)
