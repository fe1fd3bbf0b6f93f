"""Odd settings and odd data: finite, explained, and consistent with one another."""

from __future__ import annotations

import numpy as np
import pytest
from coupled_fits import (
    SIDES,
    couple,
    coupled,
    each_rule,
    each_side,
    quietly,
    run_to,
)
from helpers.builders import views_of

from mklkit.combiners import IFSL
from mklkit.learners import MHKS


@each_rule
@pytest.mark.parametrize("lam", [0.0, 1.0, 16.0])
def test_a_kernel_repeated_is_that_kernel(two_classes, rule, lam):
    X, y = two_classes
    settings = {"alpha": 1.0, "rho": 0.25, "tol": 1e-12, "max_iter": 20_000}
    learner = MHKS(**settings)
    combiner = IFSL(lam=lam, rule=rule, initial="zeros")
    end = run_to(y, X, combiner, learner, kernels=["rbf(gamma=0.3)"] * 3)
    single = couple(views_of("rbf(gamma=0.3)", X, "empirical"), y, IFSL(lam=0.0), learner)
    alone = single.decide(X)
    np.testing.assert_allclose(end.outputs, [alone] * 3, atol=2e-3 * np.abs(alone).max())
    # Views that start one pass apart grow their margins apart: the loss is all but thrice one's.
    assert end.history[-1] == pytest.approx(3 * single.history[-1], rel=1e-4)


@each_side
@each_rule
@pytest.mark.parametrize("lam", [0.0, 1.0, 1e6])
def test_no_ridge(two_classes, rng, learner, feature_map, rule, lam):
    X, y = two_classes
    model = quietly(coupled(learner, feature_map, rule, lam, alpha=0.0, max_iter=200), X, y)
    history = np.array(model.decisions_[0].history)
    assert np.isfinite(history).all()
    assert (np.diff(history) <= 1e-9 * len(y)).all()
    assert np.isfinite(model.decision_function(rng.normal(size=(30, 4)))).all()
    if lam == 0:
        # As many rbf features as rows: without a ridge that view fits every margin.
        f = model.decisions_[0].learners[1].decide(model.decisions_[0].projectors[1].transform(X))
        assert (y * f).min() > 1 - 1e-4


def test_kernels_that_say_nothing_leave_the_bias(two_classes):
    X, y = two_classes
    for learner, feature_map in SIDES:
        model = coupled(learner, feature_map, kernels=["linear", "polynomial"], tol=1e-9)
        values = model.fit(np.zeros_like(X), y).decision_function(X)
        # 28 rows say +1 and 42 say −1; margins are all but zero.
        np.testing.assert_allclose(values, (28 - 42) / 70, atol=1e-4)
