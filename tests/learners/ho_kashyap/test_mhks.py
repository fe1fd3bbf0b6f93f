"""MHKS against Table 1 of Wang, Chen and Sun 2008 and against a generic convex solver."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from helpers.builders import views_of
from oracles.coupled import joint_minimum, multik_mhks
from sklearn.exceptions import ConvergenceWarning

from mklkit.learners import MHKS
from mklkit.plugin import Target
from mklkit.views.sides import FeatureSide

MAPS = ["empirical", "empirical(subset=25)", "empirical(rank=6)"]
each_map = pytest.mark.parametrize("feature_map", MAPS)


def view_of(rows, feature_map, kernel="rbf(gamma=0.2)"):
    return views_of(kernel, rows, feature_map)[0]


def converged(learner, side, y):
    """Fit without the warning that max_iter was reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(side, Target.two_classes(y))


@each_map
@pytest.mark.parametrize("c", [2.0**-4, 0.5, 2.0])
@pytest.mark.parametrize("rho", [0.1, 0.5, 0.99])
def test_the_iteration_is_that_of_the_paper(two_classes, feature_map, c, rho):
    rows, y = two_classes
    view = view_of(rows, feature_map)
    naive = multik_mhks([view.features()], y, c, 0.0, rho=rho, tol=1e-5)
    (omega,) = naive.coefficients
    fitted = MHKS(alpha=c, rho=rho, tol=1e-5).fit(view, Target.two_classes(y))
    assert len(fitted.history) == len(naive.history) > 2
    np.testing.assert_allclose(fitted.history, naive.history, rtol=1e-9)
    np.testing.assert_allclose(fitted.coefficients, omega[:-1], atol=1e-7 * np.abs(omega).max())
    assert fitted.bias == pytest.approx(omega[-1], abs=1e-8)


def test_initial_margins_and_the_iteration_limit(two_classes):
    rows, y = two_classes
    view = view_of(rows, "empirical")
    naive = multik_mhks([view.features()], y, 0.1, 0.0, b0=0.3, tol=1e-12, max_iter=5)
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        fitted = MHKS(alpha=0.1, b0=0.3, tol=1e-12, max_iter=5).fit(view, Target.two_classes(y))
    np.testing.assert_allclose(fitted.history, naive.history, rtol=1e-10)


@pytest.mark.parametrize("rho", [0.1, 0.99])
@pytest.mark.parametrize("c", [0.1, 1.0, 10.0])
def test_it_ends_where_a_convex_solver_does(two_classes, c, rho):
    rows, y = two_classes
    view = view_of(rows, "empirical")
    least = joint_minimum([view.features()], y, c, 0.0)
    fitted = converged(MHKS(alpha=c, rho=rho, tol=1e-11, max_iter=20_000, b0=0.0), view, y)
    # Margins never shrink, which may leave the iteration a little above the minimum.
    assert least * (1 - 1e-9) <= fitted.history[-1] <= least * (1 + 2e-3)


def test_no_ridge_on_fewer_features_than_rows(two_classes):
    rows, y = two_classes
    view = view_of(rows, "empirical", "linear")  # four features
    naive = multik_mhks([view.features()], y, 0.0, 0.0)
    fitted = MHKS(alpha=0.0).fit(view, Target.two_classes(y))
    np.testing.assert_allclose(fitted.history, naive.history, rtol=1e-9)
    np.testing.assert_allclose(fitted.coefficients, naive.coefficients[0][:-1], atol=1e-8)


def test_rounding_of_a_constant_feature_is_not_learned(rng):
    features = np.full((12, 1), 1.1e18)
    features[::2] = np.nextafter(features[::2], 0)
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    fitted = MHKS().fit(FeatureSide(features), Target.two_classes(y))
    np.testing.assert_allclose(fitted.decide(features), 0, atol=1e-9)
