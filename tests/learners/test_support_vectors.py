"""Sums over blocks reach libsvm's optimum; no solver touches NumPy's global state."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from helpers.builders import in_blocks, views_of
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mklkit import MKLClassifier
from mklkit.learners import SVM
from mklkit.learners.smoothed_hinge import solve_smoothed
from mklkit.views.sides import FeatureSide


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
