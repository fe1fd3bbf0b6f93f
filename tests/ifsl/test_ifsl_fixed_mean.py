"""The fixed-mean rule against a naive iteration, and what even and uneven means make of it."""

from __future__ import annotations

import numpy as np
import pytest
from builders import views_of
from coupled_fits import TRIO, coefficients_of, couple, run_to
from oracles.coupled import multiv_kmhks, unit_start, zero_start

from mklkit.combiners import IFSL
from mklkit.learners import KMHKS, MHKS

STARTS = {"unit": unit_start, "zeros": zero_start}
PAPER_PAIR = ["rbf(sigma='mean')", "polynomial(degree=3)"]


def assert_same_function(decision, naive, grams):
    """Compare outputs and penalised lengths: α itself is loose where K's eigenvalues are tiny."""
    assert len(decision.history) == len(naive.history)
    np.testing.assert_allclose(decision.history, naive.history, rtol=1e-8)
    for learner, theirs, gram, f in zip(
        decision.learners, naive.coefficients, grams, naive.outputs, strict=True
    ):
        scale = np.abs(f).max()
        np.testing.assert_allclose(learner.decide(gram), f, atol=1e-8 * scale)
        size = theirs[:-1] @ gram @ theirs[:-1]
        ours = learner.coefficients @ gram @ learner.coefficients
        assert ours == pytest.approx(size, rel=1e-6, abs=1e-8 * scale)


@pytest.mark.parametrize("initial", STARTS)
@pytest.mark.parametrize("c", [2.0**-4, 1.0, 16.0])
@pytest.mark.parametrize("gamma", [0.0, 2.0**-4, 1.0, 16.0])
def test_three_kernels_follow_the_equations(two_classes, c, gamma, initial):
    rows, y = two_classes
    views = views_of(TRIO, rows)
    grams = [view.gram() for view in views]
    naive = multiv_kmhks(grams, y, c, gamma, start=STARTS[initial]([len(y) + 1] * 3))
    decision = couple(views, y, IFSL(lam=gamma, initial=initial, rule="fixed-mean"), KMHKS(alpha=c))
    assert len(naive.history) > 1
    assert_same_function(decision, naive, grams)
    np.testing.assert_allclose(
        decision.decide(rows), naive.outputs.mean(axis=0), atol=1e-7 * np.abs(naive.outputs).max()
    )
    for ours, theirs in zip(coefficients_of(decision), naive.coefficients, strict=True):
        # The bordered system's condition is that of K̃: linear kernels leave α less exact.
        np.testing.assert_allclose(ours, theirs, atol=1e-7 * np.abs(theirs).max())


@pytest.mark.parametrize("weights", [(1, 9), (0, 1)], ids=str)
@pytest.mark.parametrize("gamma", [pytest.param(0.5, marks=pytest.mark.slow), 10.0])
def test_the_mean_may_be_weighted(two_classes, weights, gamma):
    rows, y = two_classes
    mu = np.array(weights) / sum(weights)
    views = views_of(PAPER_PAIR, rows)
    grams = [view.gram() for view in views]
    naive = multiv_kmhks(grams, y, 0.5, gamma, mu=mu, tol=1e-6)
    combiner = IFSL(lam=gamma, weights=weights, initial="zeros")
    decision = couple(views, y, combiner, KMHKS(alpha=0.5, tol=1e-6))
    assert_same_function(decision, naive, grams)
    np.testing.assert_allclose(decision.weights, mu)
    expected = mu @ naive.outputs
    np.testing.assert_allclose(decision.decide(rows), expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("gamma", [0.5, 10.0])
def test_each_rule_runs_on_either_learner(two_classes, gamma):
    """The primal is the dual: with the same start both sides go the same way."""
    rows, y = two_classes
    ways = {}
    for rule in ("gradient", "fixed-mean"):
        histories = []
        for learner, feature_map in ((MHKS, "empirical"), (KMHKS, "implicit")):
            model = learner(alpha=0.5, tol=1e-300, max_iter=15)
            combiner = IFSL(lam=gamma, rule=rule, initial="zeros")
            decision = couple(views_of(TRIO, rows, feature_map), y, combiner, model)
            histories.append(decision.history)
            ways.setdefault(rule, []).append(decision.decide(rows + 0.1))
        np.testing.assert_allclose(histories[0], histories[1], rtol=1e-8)
        scale = np.abs(ways[rule][0]).max()
        np.testing.assert_allclose(*ways[rule], atol=1e-6 * scale)
    assert np.abs(ways["gradient"][0] - ways["fixed-mean"][0]).max() > 1e-3


@pytest.mark.parametrize("c", [0.05, 2.0])
@pytest.mark.parametrize("gamma", [0.1, 5.0])
@pytest.mark.parametrize("weights", [(1, 1, 1), (5, 3, 1)], ids=str)
def test_the_loss_that_falls_counts_each_view_by_its_weight(two_classes, weights, gamma, c):
    """Holding the mean bounds Σ_l μ_l(‖e_l‖² + penalty_l + γ‖f_l − f̄‖²) from above, tightly."""
    rows, y = two_classes
    mu = np.array(weights) / sum(weights)
    falling, printed = [], []
    for passes in range(2, 14):
        ending = run_to(
            y,
            rows,
            IFSL(lam=gamma, weights=weights, rule="fixed-mean", initial="zeros"),
            MHKS(alpha=c, tol=1e-300, max_iter=passes),
        )
        falling.append(ending.objective(y, gamma, mu, mu))
        printed.append(ending.objective(y, gamma, mu))
        assert printed[-1] == pytest.approx(ending.history[-1], rel=1e-10)
    assert (np.diff(falling) < 0).all()
    if weights == (1, 1, 1):
        np.testing.assert_allclose(falling, np.array(printed) / 3)


def test_the_printed_objective_may_rise_under_uneven_means(two_classes):
    """J counts all views alike, and so isn't what an uneven fixed mean makes small."""
    rows, y = two_classes
    combiner = IFSL(lam=1.0, weights=(0.9, 0.1, 0.0), rule="fixed-mean", initial="zeros")
    history = run_to(y, rows, combiner, MHKS(tol=1e-10, max_iter=5000)).history
    assert np.diff(history).max() > 1e-4
