"""Ridge regression of several classes: one-hot targets, one ridge and one factorisation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge as LinearRidge
from sklearn.metrics.pairwise import rbf_kernel

from mklkit.learners.ridge import Ridge
from mklkit.numerics.ridge import RIDGES
from mklkit.protocols import SEVERAL_CLASSES, Target
from mklkit.views.sides import FeatureSide, GramSide

DRAW = np.random.default_rng(3)
CODES = np.arange(36) % 3
ROWS = DRAW.normal(size=(36, 4)) + 1.2 * np.eye(4)[CODES] + 2
NEW = DRAW.normal(size=(7, 4)) + 2
ONE_HOT = np.eye(3)[CODES]
WEIGHTS = DRAW.integers(1, 4, size=36).astype(float)
GROUPS = np.random.default_rng(4).integers(0, 9, 36)
ALPHAS = np.array(RIDGES)


def classes(weights=None, groups=None):
    return Target(SEVERAL_CLASSES, CODES.astype(float), weights, groups)


def side_of(kind, rows=ROWS):
    return GramSide(rows @ rows.T) if kind == "gram" else FeatureSide(rows)


def columns_of(kind, rows=ROWS):
    return NEW @ rows.T if kind == "gram" else NEW


def test_without_an_intercept_it_is_scikit_learns_kernel_ridge():
    fitted = Ridge(alpha=0.3, intercept=False).fit(GramSide(rbf_kernel(ROWS)), classes())
    reference = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.25).fit(ROWS, ONE_HOT)
    values = fitted.decide(rbf_kernel(NEW, ROWS))
    np.testing.assert_allclose(values, reference.predict(NEW), atol=1e-8)
    assert fitted.alpha == 0.3


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("kind", ["gram", "features"])
def test_it_is_scikit_learns_ridge(kind, weights, intercept):
    fitted = Ridge(alpha=2, intercept=intercept).fit(side_of(kind), classes(weights))
    reference = LinearRidge(alpha=2, fit_intercept=intercept).fit(ROWS, ONE_HOT, weights)
    np.testing.assert_allclose(fitted.decide(columns_of(kind)), reference.predict(NEW), atol=1e-8)


def errors_by_fits(left_out, weights, alpha):
    """The weighted squared errors of all classes, each row predicted without some others."""
    total = 0.0
    design = np.column_stack([np.ones(36), ROWS])  # The first column's weight is not penalised.
    for members, lost in left_out:
        left = weights.copy()
        left[members] -= lost
        products = (left * design.T) @ design + alpha * np.diag([0.0, 1, 1, 1, 1])
        solution = np.linalg.solve(products, (left * design.T) @ ONE_HOT)
        errors = np.square(design[members] @ solution - ONE_HOT[members]).sum(axis=1)
        total += weights[members] @ errors
    return total


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("kind", ["gram", "features"])
def test_the_ridge_has_the_least_sum_of_leave_one_out_errors(kind, weights, grouped):
    groups = GROUPS if grouped else None
    fitted = Ridge().fit(side_of(kind), classes(weights, groups))
    counts = np.ones(36) if weights is None else weights
    # A row is left out with all of its weight, and a group as a whole.
    left_out = [(np.array([place]), counts[place]) for place in range(36)]
    if grouped:
        members = [np.flatnonzero(group == GROUPS) for group in np.unique(GROUPS)]
        left_out = [(places, counts[places]) for places in members]
    center = np.average(ROWS, axis=0, weights=counts)
    spread = counts @ np.square(ROWS - center).sum(axis=1) / counts.sum()
    errors = [errors_by_fits(left_out, counts, alpha) for alpha in ALPHAS * spread]
    best = ALPHAS[np.argmin(errors)] * spread
    assert 0 < np.argmin(errors) < len(ALPHAS) - 1
    assert fitted.alpha == pytest.approx(best, rel=1e-9)
    reference = LinearRidge(alpha=best, solver="cholesky").fit(ROWS, ONE_HOT, weights)
    np.testing.assert_allclose(fitted.decide(columns_of(kind)), reference.predict(NEW), atol=1e-8)


@pytest.mark.parametrize("alpha", [0.7, "auto"])
@pytest.mark.parametrize("kind", ["gram", "features"])
def test_weights_are_repetitions_of_rows(kind, alpha):
    repeated = np.repeat(np.arange(36), WEIGHTS.astype(int))
    weighted = Ridge(alpha=alpha).fit(side_of(kind), classes(WEIGHTS))
    # The copies of a row are left out together, as its weight is.
    longer = Target(SEVERAL_CLASSES, CODES[repeated].astype(float), None, repeated)
    plain = Ridge(alpha=alpha).fit(side_of(kind, ROWS[repeated]), longer)
    assert weighted.alpha == pytest.approx(plain.alpha, rel=1e-9)
    np.testing.assert_allclose(
        weighted.decide(columns_of(kind)),
        plain.decide(columns_of(kind, ROWS[repeated])),
        atol=1e-8,
    )


def test_a_class_without_rows_keeps_its_column():
    """As in a fold of a search whose splits are those of the user."""
    some = np.flatnonzero(CODES != 1)
    target = Target(SEVERAL_CLASSES, CODES[some].astype(float))
    values = Ridge(alpha=1).fit(FeatureSide(ROWS[some]), target).decide(NEW)
    assert values.shape == (7, 3)
    np.testing.assert_allclose(values[:, 1], 0, atol=1e-12)
