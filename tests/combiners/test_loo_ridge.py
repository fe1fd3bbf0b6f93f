"""Weights of least leave-one-out error: against fits per row, differences, and other weights."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import MKLRegressor
from mklkit.combiners.loo_ridge import LooError, least_loo_error

RNG = np.random.default_rng(2)
X = RNG.normal(size=(120, 3))
Y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=120)
KERNELS = ["a:rbf(sigma=1)@0", "b:linear@1", "c:rbf(sigma=1)@2"]


def test_the_error_is_that_of_a_fit_per_row():
    features = [X[:25, :2], X[:25, 2:]]
    factors = np.array([0.4, 2.0])
    found, _ = LooError([f @ f.T for f in features], Y[:25, None])(np.log(factors))
    scaled = np.hstack([np.sqrt(w) * f for w, f in zip(factors, features, strict=True)])
    errors = []
    for row in range(25):
        others = np.arange(25) != row
        model = Ridge(alpha=1).fit(scaled[others], Y[:25][others])
        errors.append(model.predict(scaled[row : row + 1])[0] - Y[row])
    np.testing.assert_allclose(found, np.mean(np.square(errors)), rtol=1e-9)


def test_the_gradient_is_the_change_of_the_error():
    error = LooError([X @ X.T, rbf_kernel(X)], np.column_stack([Y, X[:, 1] ** 2]))
    at, step = np.array([0.3, -1.0]), 1e-5
    for place, found in enumerate(error(at)[1]):
        moved = [error(at + side * step * np.eye(2)[place])[0] for side in (1, -1)]
        np.testing.assert_allclose(found, (moved[0] - moved[1]) / (2 * step), rtol=1e-6)


def test_weights_are_on_the_kernels_that_matter_and_lower_the_error():
    train, test = np.arange(80), np.arange(80, 120)
    learned = MKLRegressor(KERNELS, combiner="loo-ridge").fit(X[train], Y[train])
    even = MKLRegressor(KERNELS).fit(X[train], Y[train])
    assert learned.weights_[0, 2] < 0.02
    assert learned.learner_.name == "ridge"
    assert learned.score(X[test], Y[test]) > even.score(X[test], Y[test])


@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
def test_all_rows_and_a_sample_leave_out_what_does_not_matter(feature_map):
    for rows in (400, 90):
        model = MKLRegressor(
            KERNELS, combiner=f"loo-ridge(rows={rows})", feature_map=feature_map, random_state=0
        )
        weights = model.fit(X, Y).weights_[0]
        assert weights[2] < 0.01
        assert weights[0] > 0.3


def test_an_early_end_is_warned_of():
    model = MKLRegressor(KERNELS, combiner="loo-ridge(max_iter=1)")
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model.fit(X, Y)


def test_kernels_that_do_not_vary_get_no_weight():
    rows = np.column_stack([X, np.ones(120)])
    model = MKLRegressor([*KERNELS, "d:rbf(sigma=1)@3"], combiner="loo-ridge").fit(rows, Y)
    assert model.weights_[0, 3] == 0


def test_a_factor_that_vanishes_is_a_start_like_others():
    linear, other = np.outer(X[:, 0], X[:, 0]), rbf_kernel(X[:, 1:])
    starts = [np.ones(2), np.array([1.0, 0.0])]
    found, _ = least_loo_error([linear, other], X[:, :1], starts, 20, 1e-6, only_if_lower=True)
    assert np.isfinite(found).all()
    assert found[0] > found[1]
