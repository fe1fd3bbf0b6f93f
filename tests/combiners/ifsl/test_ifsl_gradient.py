"""The gradient rule in turn against a naive iteration."""

from __future__ import annotations

import numpy as np
import pytest
from coupled_fits import TRIO, coefficients_of, couple
from helpers.builders import views_of
from hypothesis import given
from hypothesis import strategies as st
from oracles.coupled import multik_mhks, start_of
from sklearn.exceptions import ConvergenceWarning

from mklkit.combiners import IFSL
from mklkit.combiners.ifsl import start
from mklkit.learners import KMHKS, MHKS
from mklkit.plugin import Target


def assert_same_fit(decision, naive):
    assert len(decision.history) == len(naive.history)
    np.testing.assert_allclose(decision.history, naive.history, rtol=1e-8)
    for ours, reference in zip(coefficients_of(decision), naive.coefficients, strict=True):
        np.testing.assert_allclose(ours, reference, atol=1e-8 * max(1, np.abs(reference).max()))


@pytest.mark.parametrize("initial", ["unit", "zeros"])
@pytest.mark.parametrize("c", [2.0**-4, 1.0, 16.0])
@pytest.mark.parametrize("lam", [0.0, 2.0**-4, 1.0, 16.0])
def test_three_kernels_follow_the_equations(two_classes, c, lam, initial):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    features = [view.features() for view in views]
    begin = start_of(initial, [f.shape[1] + 1 for f in features])
    naive = multik_mhks(features, y, c, lam, start=begin)
    decision = couple(views, y, IFSL(lam=lam, initial=initial, rule="gradient"), MHKS(alpha=c))
    assert len(naive.history) > 2
    assert_same_fit(decision, naive)
    np.testing.assert_allclose(
        decision.decide(rows), naive.outputs.mean(axis=0), atol=1e-7 * np.abs(naive.outputs).max()
    )


@pytest.mark.parametrize(
    "settings",
    [{"rho": 0.1}, {"rho": 1.0}, {"b0": 0.5}, {"tol": 1e-7}, {"rho": 0.5, "b0": 0.0, "tol": 0.1}],
    ids=str,
)
def test_rate_margins_and_tolerance_are_the_learners(two_classes, settings):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    naive = multik_mhks([view.features() for view in views], y, 1.0, 1.0, **settings)
    plain = multik_mhks([view.features() for view in views], y, 1.0, 1.0)
    assert naive.history != plain.history  # or the setting says nothing
    decision = couple(views, y, IFSL(initial="zeros"), MHKS(**settings, solver="printed"))
    assert_same_fit(decision, naive)


def test_the_limit_on_passes_is_kept_and_said(two_classes):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    naive = multik_mhks([view.features() for view in views], y, 1.0, 1.0, tol=1e-300, max_iter=7)
    learner, random_state = MHKS(tol=1e-300, max_iter=7), np.random.RandomState(0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=7 .* raise max_iter or tol"):
        decision = IFSL(initial="zeros").fit(views, Target.two_classes(y), learner, random_state)
    assert_same_fit(decision, naive)
    assert len(decision.history) == 7


@pytest.mark.parametrize("initial", ["unit", "ones", "zeros", "random"])
def test_each_start_is_what_it_says_and_is_used(two_classes, initial):
    rows, y = two_classes
    views = views_of(TRIO, rows, "empirical")
    source, begin = np.random.RandomState(5), []
    for view in views:
        problem = MHKS().subproblem(view, Target.nothing(view.n_rows), [MHKS()])
        begun = start(problem, initial, source)
        width = view.features().shape[1]
        values = np.zeros(width + 1) if begun is None else np.append(begun.coefficients, begun.bias)
        assert values.shape == (width + 1,)
        lengths = {"unit": 1, "random": 1, "zeros": 0, "ones": np.sqrt(width + 1)}
        assert np.linalg.norm(values) == pytest.approx(lengths[initial])
        assert initial == "random" or (values == values[0]).all()
        begin.append(values)
    features = [view.features() for view in views]
    # At random are the margins too: above 0, with a mean of b0.
    margins = 1e-6 * 2 * (1 - source.random_sample((3, len(y)))) if initial == "random" else 1e-6
    naive = multik_mhks(features, y, 1.0, 1.0, start=begin, b0=margins)
    decision = couple(views, y, IFSL(initial=initial), MHKS(), seed=5)
    assert_same_fit(decision, naive)


@pytest.mark.parametrize("feature_map", ["empirical", "empirical(subset=20)"])
@pytest.mark.parametrize("lam", [0.25, 4.0])
@pytest.mark.parametrize("weights", [(3, 2, 1), (1, 0, 0.5), (0, 0, 7)], ids=str)
def test_uneven_means_follow_the_equations_too(two_classes, feature_map, weights, lam):
    rows, y = two_classes
    views = views_of(TRIO, rows, feature_map)
    mu = np.array(weights) / sum(weights)
    features = [view.features() for view in views]
    naive = multik_mhks(features, y, 0.5, lam, mu=mu, tol=1e-300, max_iter=8)
    combiner = IFSL(lam=lam, weights=weights, rule="gradient", initial="zeros")
    decision = couple(views, y, combiner, MHKS(alpha=0.5, tol=1e-300, max_iter=8))
    np.testing.assert_allclose(decision.history, naive.history, rtol=1e-8)
    for ours, reference in zip(coefficients_of(decision), naive.coefficients, strict=True):
        np.testing.assert_allclose(ours, reference, atol=1e-7 * max(1, np.abs(reference).max()))
    np.testing.assert_allclose(decision.weights, mu)
    np.testing.assert_allclose(
        decision.decide(rows), mu @ naive.outputs, atol=1e-7 * np.abs(naive.outputs).max()
    )


@given(
    seed=st.integers(0, 10**6),
    c=st.floats(1e-3, 1e3),
    lam=st.floats(0, 1e3),
    rho=st.floats(0.01, 1),
    weights=st.none() | st.tuples(*[st.floats(0.01, 1)] * 3),
    feature_map=st.sampled_from(["empirical", "empirical(subset=12)", "implicit"]),
)
def test_the_objective_never_increases(seed, c, lam, rho, weights, feature_map):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(24, 3))
    y = np.where(rows[:, 0] * rows[:, 1] + rng.normal(size=24) > 0, 1.0, -1.0)
    y[:2] = 1, -1
    learner = (KMHKS if feature_map == "implicit" else MHKS)(
        alpha=c, rho=rho, tol=1e-12, max_iter=60
    )
    combiner = IFSL(lam=lam, weights=weights, rule="gradient")
    history = np.array(couple(views_of(TRIO, rows, feature_map), y, combiner, learner).history)
    assert np.isfinite(history).all()
    assert (np.diff(history) <= 1e-8 * history[:-1]).all()
