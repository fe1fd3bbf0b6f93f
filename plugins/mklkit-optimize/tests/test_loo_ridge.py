"""Weights of least leave-one-out error: against fits per row, differences, and other weights."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_optimize.loo_errors import LooError, least_loo_errors
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel

from mklkit import MKLRegressor

RNG = np.random.default_rng(2)
X = RNG.normal(size=(120, 3))
Y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=120)
KERNELS = ["a:rbf(sigma=1)@0", "b:linear@1", "c:rbf(sigma=1)@2"]


def errors_of(kernels, targets, logarithms):
    error, factors = LooError(kernels, targets), np.exp(logarithms)
    projected = error.projected(factors)
    errors = error.errors(projected)
    return errors, error.changes(factors, projected, errors)


def test_the_error_is_that_of_a_fit_per_row():
    features = [X[:25, :2], X[:25, 2:]]
    factors = np.array([0.4, 2.0])
    computed, _ = errors_of([f @ f.T for f in features], Y[:25, None], np.log(factors))
    scaled = np.hstack([np.sqrt(w) * f for w, f in zip(factors, features, strict=True)])
    errors = []
    for row in range(25):
        others = np.arange(25) != row
        model = Ridge(alpha=1).fit(scaled[others], Y[:25][others])
        errors.append(Y[row] - model.predict(scaled[row : row + 1])[0])
    np.testing.assert_allclose(computed[:, 0], errors, rtol=1e-9)


def test_rows_of_a_group_are_left_out_together():
    gram, groups = rbf_kernel(X[:24]), np.repeat(np.arange(8), 3)
    error = LooError([gram], Y[:24, None], groups)
    computed = error.errors(error.projected(np.array([2.0])))[:, 0]
    for group in range(8):
        known, out = groups != group, groups == group
        system = np.ones((22, 22))
        system[:21, :21] = 2 * gram[np.ix_(known, known)] + np.eye(21)
        system[21, 21] = 0
        *dual, bias = np.linalg.solve(system, [*Y[:24][known], 0])
        expected = Y[:24][out] - 2 * gram[np.ix_(out, known)] @ dual - bias
        np.testing.assert_allclose(computed[out], expected, rtol=1e-9)


def test_changes_are_those_of_the_errors():
    problem = [X @ X.T, rbf_kernel(X)], np.column_stack([Y, X[:, 1] ** 2])
    at, step = np.array([0.3, -1.0]), 1e-5
    changes = errors_of(*problem, at)[1]
    for place in range(2):
        moved = [errors_of(*problem, at + side * step * np.eye(2)[place])[0] for side in (1, -1)]
        expected = (moved[0] - moved[1]) / (2 * step)
        np.testing.assert_allclose(changes[:, :, place].T, expected, rtol=1e-5, atol=1e-8)


def test_the_search_ends_where_a_generic_solver_does():
    kernels = [rbf_kernel(X[:60, [k]]) for k in range(2)]
    targets = ((Y - Y.mean()) / Y.std())[:60, None]

    def size(logarithms):
        return np.mean(errors_of(kernels, targets, logarithms)[0] ** 2)

    errors, path, ended = least_loo_errors(kernels, targets, np.ones(2), 50, 1e-6)
    assert ended
    assert size(errors[0]) < 1.01 * minimize(size, np.zeros(2), method="Nelder-Mead").fun
    assert path[-1, 0] == pytest.approx(size(errors[0]), rel=1e-12)


def test_the_decision_keeps_the_errors_by_step_in_the_units_of_the_target():
    model = MKLRegressor(KERNELS, combiner="loo-ridge").fit(X, Y)
    path = np.array(model.decisions_[0].history)
    assert len(path) > 3
    assert (np.diff(path) <= 0.003 * path[:-1]).all()
    assert path[-1] < path[0]
    rbf = [rbf_kernel(X[:, [k]], gamma=0.5) for k in (0, 2)]
    gram = np.tensordot(model.weights_[0], [rbf[0], np.outer(X[:, 1], X[:, 1]), rbf[1]], axes=1)
    # Their sum has a second minimum, at e¹⁰, which the search does not reach.
    errors = [errors_of([gram], Y[:, None], [size])[0] for size in np.linspace(0, 7, 70)]
    assert path[-1] == pytest.approx(np.min(np.mean(np.square(errors), axis=1)), rel=0.01)
    several = MKLRegressor(KERNELS, combiner="loo-ridge").fit(X, np.column_stack([Y, 10 * Y]))
    of_targets = [decision.history for decision in several.decisions_]
    np.testing.assert_allclose(of_targets[1], 100 * np.array(of_targets[0]), rtol=1e-9)
    assert of_targets[0][0] == pytest.approx(path[0], rel=1e-9)


def test_several_targets_have_weights_as_good_as_of_each_alone():
    targets = np.column_stack([Y, X[:, 1], np.sin(2 * X[:, 2]), Y + X[:, 2], np.ones(120)])
    train, test = slice(0, 80), slice(80, 120)
    both = MKLRegressor(KERNELS, combiner="loo-ridge").fit(X[train], targets[train])
    assert both.weights_.shape == (5, 3)
    assert both.weights_[1, 1] > 0.5
    assert both.weights_[2, 2] > 0.5
    predicted = both.predict(X[test])
    for place in range(4):
        alone = MKLRegressor(KERNELS, combiner="loo-ridge").fit(X[train], targets[train, place])
        r2 = r2_score(targets[test, place], predicted[:, place])
        assert r2 > alone.score(X[test], targets[test, place]) - 0.03
    assert np.allclose(predicted[:, 4], 1)


def test_parts_of_several_targets_add_up():
    targets = np.column_stack([Y, X[:, 1], Y])
    model = MKLRegressor(KERNELS, combiner="loo-ridge").fit(X, targets)
    parts = model.predict(X[:20], split=True)
    assert parts.shape == (20, 4, 3)
    np.testing.assert_allclose(parts.sum(axis=1), model.predict(X[:20]))
    shared = {id(projector) for decision in model.decisions_ for projector in decision.projectors}
    assert len(shared) <= 3


def test_a_learner_of_one_target_at_a_time_takes_several():
    targets = np.column_stack([Y, X[:, 1]])
    model = MKLRegressor(KERNELS, combiner="loo-ridge", learner="svr(C=10)").fit(X, targets)
    assert model.score(X, targets) > 0.8


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


def test_there_is_no_path_of_one_kernel():
    model = MKLRegressor(KERNELS[:1], combiner="loo-ridge").fit(X, Y)
    assert model.decisions_[0].history == ()


@pytest.mark.parametrize("others", ["constant", "noise"])
def test_targets_that_no_kernel_explains_leave_others_alone(others):
    rng = np.random.default_rng(20260711)
    X, new = rng.normal(size=(120, 8)), rng.normal(size=(200, 8))
    easy = [np.column_stack([np.sin(2 * rows[:, 0]), rows[:, 1] ** 2]) for rows in (X, new)]
    more = np.ones((120, 4)) if others == "constant" else rng.normal(size=(120, 50))
    targets = np.column_stack([easy[0], X.sum(axis=1), more])
    kernels = ["linear", "rbf", "rbf(sigma='0.1*mean')", "polynomial(degree=2)"]
    model = MKLRegressor(kernels, combiner="loo-ridge", random_state=0).fit(X, targets)
    predictions = model.predict(new)
    assert r2_score(easy[1][:, 1], predictions[:, 1]) > 0.999
    assert r2_score(new.sum(axis=1), predictions[:, 2]) > 0.999


def test_of_many_kernels_few_are_kept():
    rng = np.random.default_rng(20260711)
    X = rng.normal(size=(120, 8))
    kernels = [f"rbf(gamma={gamma})" for gamma in np.logspace(-3, 0.5, 39)]
    model = MKLRegressor([*kernels, "linear"], combiner="loo-ridge", random_state=0)
    weights = model.fit(X, np.sin(2 * X[:, 0])).weights_[0]
    assert weights.max() > 0.5
