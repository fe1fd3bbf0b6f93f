"""The fixed-mean rule against a naive iteration, and what even and uneven means make of it."""

from __future__ import annotations

import numpy as np
import pytest
from coupled_fits import TRIO, coefficients_of, couple
from helpers.builders import views_of
from oracles.coupled import multiv_kmhks, start_of

from mklkit.combiners import IFSL
from mklkit.learners import KMHKS

PAPER_PAIR = ["rbf(sigma='mean')", "polynomial(degree=3)"]


def assert_same_function(decision, naive, grams):
    """Compare outputs and penalised lengths: α itself is loose where K's eigenvalues are tiny."""
    assert len(decision.history) == len(naive.history)
    np.testing.assert_allclose(decision.history, naive.history, rtol=1e-8)
    for learner, reference, gram, f in zip(
        decision.learners, naive.coefficients, grams, naive.outputs, strict=True
    ):
        scale = np.abs(f).max()
        np.testing.assert_allclose(learner.decide(gram), f, atol=1e-8 * scale)
        size = reference[:-1] @ gram @ reference[:-1]
        ours = learner.coefficients @ gram @ learner.coefficients
        assert ours == pytest.approx(size, rel=1e-6, abs=1e-8 * scale)


@pytest.mark.parametrize("initial", ["unit", "zeros"])
@pytest.mark.parametrize("c", [2.0**-4, 1.0, 16.0])
@pytest.mark.parametrize("gamma", [0.0, 2.0**-4, 1.0, 16.0])
def test_three_kernels_follow_the_equations(two_classes, c, gamma, initial):
    rows, y = two_classes
    views = views_of(TRIO, rows)
    grams = [view.gram() for view in views]
    naive = multiv_kmhks(grams, y, c, gamma, start=start_of(initial, [len(y) + 1] * 3))
    decision = couple(views, y, IFSL(lam=gamma, initial=initial, rule="fixed-mean"), KMHKS(alpha=c))
    assert len(naive.history) > 1
    assert_same_function(decision, naive, grams)
    np.testing.assert_allclose(
        decision.decide(rows), naive.outputs.mean(axis=0), atol=1e-7 * np.abs(naive.outputs).max()
    )
    for ours, reference in zip(coefficients_of(decision), naive.coefficients, strict=True):
        # The bordered system's condition is that of K̃: linear kernels leave α less exact.
        np.testing.assert_allclose(ours, reference, atol=1e-7 * np.abs(reference).max())


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
