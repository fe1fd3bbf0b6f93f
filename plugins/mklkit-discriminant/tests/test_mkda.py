"""MKDA's two forms against each other, a generic solver, and Kim's form of the problem."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from discriminant_problems import (
    SPECS,
    grams_of,
    indicator,
    random_problem,
    theta_by_kim,
    theta_by_slsqp,
    traced,
    value,
)
from mklkit_discriminant import MKDA
from mklkit_discriminant.centered_kernels import discriminant_problem

from mklkit import MKLClassifier, MKLKitError, WeightsWarning
from mklkit.kernels import Precomputed


def theta_of(combiner, rows, labels, traces):
    """Return the learned weights as those of kernels of trace one, on the simplex."""
    model = MKLClassifier(SPECS, combiner=combiner).fit(rows, labels)
    theta = model.weights_[0] * traces
    return theta / theta.sum()


@pytest.mark.parametrize("alpha", [1e-3, 1e-2, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_both_forms_and_a_generic_solver_agree(seed, alpha):
    rows, labels = random_problem(seed)
    centered, traces = traced(grams_of(rows))
    qcqp, sdp = (theta_of(MKDA(form=f, alpha=alpha), rows, labels, traces) for f in ("qcqp", "sdp"))
    np.testing.assert_allclose(qcqp, sdp, atol=1e-4)
    generic = theta_by_slsqp(centered, labels, alpha)
    least = value(generic, centered, labels, alpha)
    for theta in (qcqp, sdp):
        assert value(theta, centered, labels, alpha) == pytest.approx(least, rel=1e-5)
        np.testing.assert_allclose(theta, generic, atol=1e-3)


@pytest.mark.parametrize("seed", [0, 3])
def test_kims_ratio_has_the_same_optimum(seed):
    """By the within-class scatter F the total one is F/(1 + cF): what is best is the same."""
    rows, labels = random_problem(seed)
    grams = grams_of(rows)
    traces = traced(grams)[1]
    # Fisher's ratio of n rows has the scatter's sum here, so that λ is the same one.
    expected = theta_by_kim(grams / traces[:, None, None], labels, 1e-2)
    theta = theta_of(MKDA(alpha=1e-2), rows, labels, traces)
    np.testing.assert_allclose(theta, expected, atol=1e-3)


def test_the_objective_is_a_regularized_fisher_ratio():
    """1 − objective, for one linear kernel, from the scatter matrices of the rows themselves."""
    rows, labels = random_problem(1)
    centered, traces = traced((rows @ rows.T)[None])
    apart = rows.T @ indicator(labels)
    scatter = len(labels) * np.cov(rows.T, bias=True) / traces[0]
    ratio = apart @ np.linalg.solve(scatter + 0.01 * np.eye(5), apart) / traces[0]
    a = indicator(labels)
    assert 1 - value(np.ones(1), centered, labels, 0.01) == pytest.approx(ratio / (a @ a))


def test_a_kernels_scale_changes_nothing_but_its_weight():
    rows, labels = random_problem(0)
    plain = MKLClassifier(["linear@0:1", "linear@1:5"], combiner="mkda(alpha=0.01)").fit(
        rows, labels
    )
    larger = ["linear@0:1", "polynomial(degree=1, coef0=0, gamma=100)@1:5"]
    scaled = MKLClassifier(larger, combiner="mkda(alpha=0.01)").fit(rows, labels)
    ratios = [model.weights_[0][1] / model.weights_[0][0] for model in (plain, scaled)]
    assert ratios[0] > 0
    assert ratios[1] == pytest.approx(ratios[0] / 100, rel=1e-4)


def test_features_and_gram_rows_give_the_same_weights():
    rows, labels = random_problem(2)
    weights = [
        MKLClassifier(SPECS, feature_map=feature_map, combiner="mkda(alpha=0.01)", learner="kda")
        .fit(rows, labels)
        .weights_[0]
        for feature_map in ("implicit", "empirical(tol=1e-13)")
    ]
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-4)


@pytest.mark.parametrize("alpha", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
def test_weights_that_the_solver_left_far_from_the_best_are_said(alpha):
    """With next to no regularisation the semidefinite form may end early; the other does not.

    How early depends on the processor's rounding: it is refused, said, or of no account.
    """
    rows, labels = random_problem(0)
    centered, traces = traced(grams_of(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = theta_of(MKDA(alpha=alpha), rows, labels, traces)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            far = theta_of(MKDA(form="sdp", alpha=alpha), rows, labels, traces)
        except MKLKitError as error:
            assert "mkda" in str(error)  # noqa: PT017  Either outcome is right.
            return
    shares = [
        float(*re.findall(r"relative duality gap of (\S+)", str(each.message))) for each in told
    ]
    reached, best = (value(theta, centered, labels, alpha) for theta in (far, near))
    # The bound is printed with two digits.
    assert reached - best <= 1.05 * max([1e-4, *shares]) * reached


def test_sdp_refuses_what_would_not_end():
    rows, labels = random_problem(0, n_rows=150)
    with pytest.raises(
        MKLKitError, match=r"joint rank at most 100.*149 on 150 samples.*form='qcqp'"
    ):
        MKLClassifier(SPECS, combiner="mkda(form='sdp')").fit(rows, labels)


def test_sdp_takes_more_rows_where_the_joint_rank_is_small():
    rows, labels = random_problem(0, n_rows=150)
    kernels = ["linear@0:2", "linear@2:5", "polynomial(degree=2)@0:3"]
    weights = [
        MKLClassifier(kernels, combiner=MKDA(form=f)).fit(rows, labels).weights_[0]
        for f in ("sdp", "qcqp")
    ]
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-4)


def test_the_gap_bounds_the_distance_from_a_generic_solvers_minimum():
    rows, labels = random_problem(0)
    grams = grams_of(rows)
    centered = traced(grams)[0]
    problem = discriminant_problem(grams, labels, 0.01)
    best = theta_by_slsqp(centered, labels, 0.01)
    least = value(best, centered, labels, 0.01)
    for theta in (np.full(4, 0.25), *np.eye(4)):
        here = problem.objective(theta)
        assert here == pytest.approx(value(theta, centered, labels, 0.01), rel=1e-8)
        assert problem.gap(theta) >= here - least - 1e-9
    assert problem.gap(best) < 1e-4 * least


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_an_indefinite_kernel_is_refused(share):
    """One with directions of negative length; where they are many, so is its trace."""
    rows, labels = random_problem(0)
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 40)))[0]
    gram = vectors @ np.diag(np.where(np.arange(40) < 40 * share, -1.0, 1.0)) @ vectors.T
    kernels = [("mixed", Precomputed(gram)), ("linear", Precomputed(rows @ rows.T))]
    with pytest.raises(MKLKitError, match="positive semi-definite kernels, and 'mixed'"):
        MKLClassifier(kernels, combiner="mkda").fit(np.arange(40.0)[:, None], labels)


@pytest.mark.parametrize("unit", [1, 10, 1000])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_constant_kernels_get_no_weight(kind, unit):
    rows, labels = random_problem(0)
    constant = "polynomial(gamma=1e-12)"
    model = MKLClassifier([constant, "rbf"], combiner="mkda")
    model.fit((unit * rows).astype(kind), labels)
    np.testing.assert_array_equal(model.weights_[0], [0, 1])


def test_constant_kernels_alone_have_even_weights():
    rows, labels = random_problem(0)
    constant = "polynomial(gamma=1e-12)"
    with pytest.warns(WeightsWarning, match="weight zero"):
        model = MKLClassifier(
            [constant, "polynomial(gamma=1e-13)"], combiner="mkda", learner="svm"
        ).fit(rows, labels)
    np.testing.assert_allclose(model.weights_[0], 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [("form='lp'", "'form' must be in"), ("alpha=0", "'alpha' must be > 0")],
)
def test_wrong_parameters_are_named(arguments, message):
    rows, labels = random_problem(0)
    with pytest.raises(ValueError, match=message):
        MKLClassifier(SPECS, combiner=f"mkda({arguments})").fit(rows, labels)
