"""Where both rules end, against generic solvers of the convex problems they have in mind.

Margins only grow. What an iteration ends at is therefore the minimum over all margins at or above
its own (to rounding); the minimum over all b ≥ 0 is the same or a little lower.
"""

from __future__ import annotations

import numpy as np
import pytest
from coupled_fits import TRIO, run_to
from helpers.builders import views_of
from oracles.coupled import joint_minimum

from mklkit.combiners import IFSL
from mklkit.learners import KMHKS, MHKS

# The ends of the range; what is between them in long runs.
RHOS = (0.25, pytest.param(0.5, marks=pytest.mark.slow), 0.99)
RULES = ["gradient", "fixed-mean"]
WEIGHTS = [(1, 1, 1), (6, 3, 1)]


def ending(rows, y, rule, c, lam, rho, *, weights=(1, 1, 1), learner=MHKS, relative=False):
    tol = 1e-13 if learner is KMHKS else 1e-11
    return run_to(
        y,
        rows,
        IFSL(lam=lam, weights=weights, rule=rule, initial="zeros"),
        learner(alpha=c, rho=rho, tol=tol, max_iter=20_000, b0=0.0),
        "implicit" if learner is KMHKS else "empirical",
    )


def features_of(rows):
    return [view.features() for view in views_of(TRIO, rows, "empirical")]


@pytest.mark.parametrize("learner", [MHKS, KMHKS])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize(("c", "lam"), [(0.25, 1.0), (1.0, 4.0), (16.0, 1.0), (2.0, 16.0)])
def test_close_coupling_ends_at_the_optimum_for_small_steps(
    two_classes, rule, c, lam, rho, learner
):
    rows, y = two_classes
    least = joint_minimum(features_of(rows), y, c, lam)
    loss = ending(rows, y, rule, c, lam, rho, learner=learner).history[-1]
    assert loss >= least * (1 - 1e-9)
    # A step above one half shoots over the margins that the outputs ask for.
    assert loss <= least * (1 + (1e-4 if rho <= 0.5 else 1e-3))


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize(("c", "lam"), [(2.0**-4, 0.0), (0.5, 0.1), (1.0, 4.0)])
def test_the_gradient_rule_ends_at_the_optimum_above_its_margins(two_classes, c, lam, weights, rho):
    rows, y = two_classes
    mu = np.array(weights) / sum(weights)
    end = ending(rows, y, "gradient", c, lam, rho, weights=weights)
    least = joint_minimum(features_of(rows), y, c, lam, mu=mu, least_margins=end.margins)
    assert end.history[-1] == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize(("c", "lam"), [(0.5, 0.1), (1.0, 4.0)])
def test_the_fixed_mean_ends_at_the_optimum_of_the_weighted_loss(two_classes, c, lam, weights, rho):
    """With even weights that is the same problem; with uneven ones views count by their weight."""
    rows, y = two_classes
    mu = np.array(weights) / sum(weights)
    end = ending(rows, y, "fixed-mean", c, lam, rho, weights=weights)
    settings = {"mu": mu, "shares": mu, "least_margins": end.margins}
    least = joint_minimum(features_of(rows), y, c, lam, **settings)
    assert end.objective(y, lam, mu, mu) == pytest.approx(least, rel=1e-8)
    printed = joint_minimum(features_of(rows), y, c, lam, mu=mu, least_margins=end.margins)
    if weights == (1, 1, 1):
        assert end.objective(y, lam, mu) == pytest.approx(printed, rel=1e-8)
    else:
        assert end.objective(y, lam, mu) > printed * (1 + 1e-5)
