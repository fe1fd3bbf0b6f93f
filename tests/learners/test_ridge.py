"""Kernel ridge regression against scikit-learn, a fit per row left out, and repeated rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge as LinearRidge
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import MKLRegressor
from mklkit.errors import IncompatibleError
from mklkit.learners.ridge import Ridge
from mklkit.numerics.ridge import RIDGES
from mklkit.numerics.sampling import sampled_places
from mklkit.protocols import Target
from mklkit.views.sides import FeatureSide, GramSide

RNG = np.random.default_rng(0)
ROWS, NEW = RNG.normal(size=(40, 4)) + 2, RNG.normal(size=(7, 4)) + 2
Y = np.column_stack([np.sin(ROWS[:, 0]) + 5, ROWS @ [1.0, -2.0, 0.5, 0.0], RNG.normal(size=40)])
WEIGHTS = RNG.integers(1, 4, size=40).astype(float)


def test_without_an_intercept_it_is_scikit_learns_kernel_ridge():
    fitted = Ridge(alpha=0.3, intercept=False).fit(GramSide(rbf_kernel(ROWS)), Target.numbers(Y))
    reference = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.25).fit(ROWS, Y)
    np.testing.assert_allclose(
        fitted.decide(rbf_kernel(NEW, ROWS)), reference.predict(NEW), rtol=1e-9
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("side", ["gram", "features", "wide"])
def test_it_is_scikit_learns_ridge(side, weights, intercept):
    rows, new = (ROWS, NEW) if side != "wide" else (np.tile(ROWS, 12), np.tile(NEW, 12))
    view = GramSide(rows @ rows.T) if side == "gram" else FeatureSide(rows)
    columns = new @ rows.T if side == "gram" else new
    fitted = Ridge(alpha=2, intercept=intercept).fit(view, Target.numbers(Y, weights))
    reference = LinearRidge(alpha=2, fit_intercept=intercept, tol=1e-12).fit(rows, Y, weights)
    np.testing.assert_allclose(fitted.decide(columns), reference.predict(new), rtol=1e-7)
    single = Ridge(alpha=2, intercept=intercept).fit(view, Target.numbers(Y[:, 1], weights))
    np.testing.assert_allclose(single.decide(columns), reference.predict(new)[:, 1], rtol=1e-7)


def errors_by_fits(rows, y, weights, alpha, intercept):
    """The weighted mean of squared errors where each row is left out, with all of its weight."""
    total = 0.0
    for place in range(len(rows)):
        left = weights.copy()
        left[place] = 0
        model = LinearRidge(alpha=alpha, fit_intercept=intercept, solver="cholesky")
        model.fit(rows, y, left)
        total += weights[place] * (model.predict(rows[place : place + 1])[0] - y[place]) ** 2
    return total / weights.sum()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["gram", "features"])
def test_leave_one_out_errors_are_those_of_a_fit_per_row(kind, intercept):
    side = GramSide(ROWS @ ROWS.T) if kind == "gram" else FeatureSide(ROWS)
    target = Target.numbers(Y[:, 2], WEIGHTS)
    system = Ridge(intercept=intercept)._system(side, target)
    alphas = np.array([3.0, 0.2])
    expected = [errors_by_fits(ROWS, Y[:, 2], WEIGHTS, alpha, intercept) for alpha in alphas]
    np.testing.assert_allclose(system.errors(Y[:, 2:], alphas)[0], expected, rtol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("kind", ["gram", "features"])
def test_errors_of_groups_are_those_of_a_fit_without_each(kind, weights, intercept):
    """The weighted mean of squared errors of rows predicted from the rows of other groups."""
    groups = np.random.default_rng(4).integers(0, 9, 40)
    side = GramSide(ROWS @ ROWS.T) if kind == "gram" else FeatureSide(ROWS)
    target = Target.numbers(Y[:, 2], weights, groups)
    system = Ridge(intercept=intercept)._system(side, target)
    alphas, counts = np.array([3.0, 0.2]), np.ones(40) if weights is None else weights
    expected = np.zeros(2)
    for place, alpha in enumerate(alphas):
        for group in np.unique(groups):
            rest, out = groups != group, groups == group
            model = LinearRidge(alpha=alpha, fit_intercept=intercept, solver="cholesky")
            model.fit(ROWS[rest], Y[rest, 2], counts[rest])
            expected[place] += counts[out] @ (model.predict(ROWS[out]) - Y[out, 2]) ** 2
    np.testing.assert_allclose(system.errors(Y[:, 2:], alphas)[0], expected / counts.sum())


def test_of_many_rows_some_are_left_out():
    """20,000 of them, by the leverages of a plain ridge regression."""
    draw = np.random.default_rng(4)
    rows = draw.normal(size=(20_500, 3)) + 2
    y = rows @ [1.0, -2.0, 0.5] + draw.standard_t(3, size=len(rows))
    chosen = sampled_places(len(rows), 20_000)
    assert len(chosen) == 20_000
    system = Ridge()._system(FeatureSide(rows), Target.numbers(y))
    (error,) = system.errors(y[:, None], np.array([0.7]))
    centered = rows - rows.mean(axis=0)
    inverse = np.linalg.inv(centered.T @ centered + 0.7 * np.eye(3))
    leverages = 1 / len(rows) + (centered @ inverse * centered).sum(axis=1)
    residuals = y - y.mean() - centered @ (inverse @ (centered.T @ (y - y.mean())))
    left_out = (residuals / (1 - leverages))[chosen]
    np.testing.assert_allclose(error, [np.mean(left_out**2)], rtol=1e-8)


@pytest.mark.parametrize("kind", ["gram", "features"])
@pytest.mark.process
def test_the_automatic_ridge_is_the_best_of_the_grid_for_each_target(kind):
    side = GramSide(ROWS @ ROWS.T) if kind == "gram" else FeatureSide(ROWS)
    fitted = Ridge().fit(side, Target.numbers(Y))
    centered = ROWS - ROWS.mean(axis=0)
    spread = (centered**2).sum() / len(ROWS)
    for column, alpha in enumerate(fitted.alpha):
        errors = [
            errors_by_fits(ROWS, Y[:, column], np.ones(40), ridge * spread, True)
            for ridge in RIDGES[::10]
        ]
        chosen = errors_by_fits(ROWS, Y[:, column], np.ones(40), alpha, True)
        assert np.isclose(RIDGES, alpha / spread, rtol=1e-9).any()
        assert chosen <= min(errors) * (1 + 1e-9)


def test_no_ridge_gives_the_shortest_least_squares_solution():
    fitted = Ridge(alpha=0).fit(FeatureSide(ROWS), Target.numbers(Y[:, 1] + 3))
    np.testing.assert_allclose(fitted.decide(NEW), NEW @ [1.0, -2.0, 0.5, 0.0] + 3, rtol=1e-8)


def test_a_ridge_that_is_none_is_refused():
    with pytest.raises(ValueError, match="'alpha' must be"):
        Ridge(alpha=-1)
    with pytest.raises(ValueError, match="'alpha' must be"):
        Ridge(alpha="best")
    ridge = Ridge(alpha=1, intercept=False)
    with pytest.raises(IncompatibleError, match="intercept=True"):
        ridge.subproblem(FeatureSide(ROWS), Target.numbers(Y[:, 0]), [ridge])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("feature_map", ["implicit", "empirical"])
@pytest.mark.parametrize(
    "options", [{}, {"learner": "ridge(alpha=0)"}, {"combiner": "best-single(cv=2)"}]
)
def test_constant_rows_predict_the_mean_alone_and_together(options, feature_map, weighted, dtype):
    random = np.random.default_rng(6)
    for n_rows, value in ((6, 1.0), (6, 1000.1), (17, 0.1)):
        y = random.normal(size=n_rows)
        weights = random.uniform(0.1, 3, n_rows) if weighted else None
        rows = np.full((n_rows, 3), value, dtype)
        kernels = ["rbf(sigma=0.3)", "laplacian", "linear"]
        model = MKLRegressor(kernels, feature_map=feature_map, **options)
        model.fit(rows, y, sample_weight=weights)
        mean = np.average(y, weights=weights)
        assert np.allclose(model.predict(rows), mean, atol=1e-6)
        assert np.allclose(model.predict(rows[:1]), mean, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-100, 1e160])
def test_sizes_whose_squares_are_no_numbers_change_nothing(scale):
    random = np.random.default_rng(3)
    rows = random.normal(size=(12, 3))
    y, weights = rows[:, 0], random.uniform(1, 2, 12)
    gram = rows @ rows.T
    plain = Ridge(alpha=1.0).fit(GramSide(gram), Target.numbers(y, weights))
    large = Ridge(alpha=scale).fit(GramSide(gram * scale), Target.numbers(y, weights))
    often = Ridge(alpha=scale).fit(GramSide(gram), Target.numbers(y, weights * scale))
    expected = plain.decide(gram)
    assert np.allclose(large.decide(gram * scale), expected)
    assert np.allclose(often.decide(gram), expected)
