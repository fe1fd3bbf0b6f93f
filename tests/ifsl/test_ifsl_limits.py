"""Odd settings and odd data: finite, explained, and consistent with one another."""

from __future__ import annotations

import numpy as np
import pytest
from builders import ifsl_search, views_of
from coupled_fits import (
    SIDES,
    TRIO,
    couple,
    coupled,
    each_rule,
    each_side,
    quietly,
    run_to,
)
from hypothesis import given
from hypothesis import strategies as st

from mklkit import MKLClassifier, RPEMEKLClassifier
from mklkit.combiners import IFSL
from mklkit.learners import KMHKS, MHKS


@each_side
@each_rule
@pytest.mark.parametrize("lam", [0.0, 2.0, 1e6])
def test_the_order_of_the_rows_does_not_matter(two_classes, rng, learner, feature_map, rule, lam):
    X, y = two_classes
    order, new = rng.permutation(len(y)), rng.normal(size=(40, 4))
    model = coupled(learner, feature_map, rule, lam, max_iter=100)
    values = quietly(model, X, y).decision_function(new)
    again = quietly(model, X[order], y[order]).decision_function(new)
    np.testing.assert_allclose(values, again, rtol=1e-6, atol=1e-6 * np.abs(values).max())


@pytest.mark.parametrize("initial", ["unit", "ones"])
def test_the_order_of_the_rows_does_not_matter_to_the_published_starts(two_classes, rng, initial):
    """They are the same point only if eigenvectors have the same signs in any order."""
    X, y = two_classes
    order, new = rng.permutation(len(y)), rng.normal(size=(40, 4))
    model = MKLClassifier(
        TRIO, feature_map="empirical", combiner=IFSL(initial=initial), learner=MHKS(max_iter=100)
    )
    values = quietly(model, X, y).decision_function(new)
    again = quietly(model, X[order], y[order]).decision_function(new)
    np.testing.assert_allclose(values, again, rtol=1e-6, atol=1e-6 * np.abs(values).max())


@each_side
@each_rule
def test_two_classes_renamed_turn_the_sign(two_classes, rng, learner, feature_map, rule):
    X, y = two_classes
    new = rng.normal(size=(40, 4))
    model = coupled(learner, feature_map, rule, 2.0)
    values = model.fit(X, np.where(y > 0, "b", "a")).decision_function(new)
    turned = model.fit(X, np.where(y > 0, "a", "b")).decision_function(new)
    np.testing.assert_allclose(values, -turned, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("feature_map", ["empirical", "empirical(subset=30)"])
def test_several_classes_renamed_are_told_apart_alike(three_classes, rng, feature_map):
    X, labels = three_classes
    new = rng.normal(size=(200, 4))
    predicted = []
    for names in (np.array(["a", "b", "c"]), np.array(["c", "a", "b"]), np.array([30, 10, 20])):
        model = MKLClassifier(
            TRIO,
            feature_map=feature_map,
            combiner=IFSL(initial="zeros"),
            learner="mhks(tol=1e-6)",
            random_state=0,
        ).fit(X, names[labels])
        back = {name: code for code, name in enumerate(names.tolist())}
        predicted.append([back[label] for label in model.predict(new).tolist()])
    assert predicted[0] == predicted[1] == predicted[2]
    assert len(set(predicted[0])) == 3


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


def test_a_kernel_repeated_is_a_weight(two_classes):
    """Under the fixed mean a kernel given twice says what a kernel of twice the weight does."""
    X, y = two_classes
    settings = {"rho": 0.25, "tol": 1e-14, "max_iter": 20_000}
    one, other = "rbf(gamma=0.3)", "linear"
    twice = IFSL(lam=4.0, rule="fixed-mean", initial="zeros")
    weighted = IFSL(lam=4.0, rule="fixed-mean", initial="zeros", weights=(2, 1))
    repeated = run_to(y, X, twice, MHKS(**settings), kernels=[one, one, other])
    heavier = run_to(y, X, weighted, MHKS(**settings), kernels=[one, other])
    expected = heavier.outputs[[0, 0, 1]]
    np.testing.assert_allclose(repeated.outputs, expected, atol=1e-5 * np.abs(expected).max())


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


@each_side
def test_no_ridge_is_the_limit_of_small_ones(two_classes, rng, learner, feature_map):
    X, y = two_classes
    new = rng.normal(size=(30, 4))
    kernels = ["linear", "polynomial(degree=2)"]
    none, little = (
        coupled(learner, feature_map, kernels=kernels, alpha=c, tol=1e-9, max_iter=5000)
        .fit(X, y)
        .decision_function(new)
        for c in (0.0, 1e-8)
    )
    np.testing.assert_allclose(none, little, atol=1e-4 * np.abs(none).max())


def test_no_coupling_is_the_mean_of_the_views(two_classes, rng):
    X, y = two_classes
    new = rng.normal(size=(30, 4))
    settings = {"tol": 1e-9, "max_iter": 5000}
    together = coupled(KMHKS, "implicit", "fixed-mean", 0.0, **settings).fit(X, y)
    apart = [
        MKLClassifier(kernel, feature_map="implicit", learner=KMHKS(**settings)).fit(X, y)
        for kernel in TRIO
    ]
    expected = np.mean([model.decision_function(new) for model in apart], axis=0)
    np.testing.assert_allclose(together.decision_function(new), expected, atol=1e-3)


@each_side
@each_rule
def test_single_precision_goes_in_and_agrees(two_classes, rng, learner, feature_map, rule):
    X, y = two_classes
    new = rng.normal(size=(50, 4))
    model = coupled(learner, feature_map, rule)
    wide = model.fit(X, y).decision_function(new)
    narrow = model.fit(X.astype(np.float32), y).decision_function(new.astype(np.float32))
    assert np.isfinite(narrow).all()
    np.testing.assert_allclose(narrow, wide, atol=0.02 * np.abs(wide).max())
    assert np.mean(np.sign(narrow) == np.sign(wide)) > 0.95


@pytest.mark.parametrize(
    "model",
    [
        ifsl_search(ridges=(0.5, 2.0), lams=(0.5, 2.0), cv=2, random_state=0),
        RPEMEKLClassifier(subset=20, random_state=0),
    ],
    ids=["search", "vote"],
)
def test_single_precision_in_searches_and_votes(two_classes, model):
    X, y = two_classes
    assert model.fit(X.astype(np.float32), y).score(X.astype(np.float32), y) > 0.75


@each_side
@pytest.mark.parametrize(
    "rows",
    [
        np.array([[0.0], [1.0]]),
        np.array([[0.0], [0.0], [1.0], [1.0], [5.0]]),
        np.zeros((6, 2)),
        np.repeat(np.eye(3), 4, axis=0),
        np.ones((5, 1)) * np.arange(40),
    ],
    ids=["two rows", "five rows", "zeros", "duplicates", "more columns than rows"],
)
def test_small_and_empty_data(learner, feature_map, rows):
    y = np.array([0, 1] * 12)[: len(rows)]
    model = quietly(coupled(learner, feature_map, max_iter=50), rows, y)
    assert np.isfinite(model.decision_function(rows)).all()
    assert np.isfinite(model.decisions_[0].history).all()


def test_kernels_that_say_nothing_leave_the_bias(two_classes):
    X, y = two_classes
    for learner, feature_map in SIDES:
        model = coupled(learner, feature_map, kernels=["linear", "polynomial"], tol=1e-9)
        values = model.fit(np.zeros_like(X), y).decision_function(X)
        # 28 rows say +1 and 42 say −1; margins are all but zero.
        np.testing.assert_allclose(values, (28 - 42) / 70, atol=1e-4)


@given(
    seed=st.integers(0, 10**6),
    exponent=st.integers(-6, 6),
    lam=st.sampled_from([0.0, 1e-3, 1.0, 1e3]),
    c=st.sampled_from([0.0, 1e-6, 1.0, 1e6]),
    side=st.sampled_from([*SIDES, (MHKS, "empirical(subset=5)")]),
    rule=st.sampled_from(["gradient", "fixed-mean"]),
    initial=st.sampled_from(["unit", "zeros", "ones"]),
)
def test_decisions_are_finite_whatever_the_scale(seed, exponent, lam, c, side, rule, initial):
    rng = np.random.default_rng(seed)
    X = 10.0**exponent * rng.normal(size=(14, 3))
    y = np.array([1, -1] * 7)
    learner, feature_map = side
    model = coupled(learner, feature_map, rule, lam, alpha=c, max_iter=30, initial=initial)
    quietly(model, X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.decisions_[0].history).all()


@pytest.mark.parametrize(
    ("given_parameters", "words"),
    [
        ({"lam": -1}, "lam"),
        ({"lam": np.inf}, "lam"),
        ({"lam": np.nan}, "lam"),
        ({"weights": (-1, 2)}, "non-negative numbers, not all zero"),
        ({"weights": (0, 0)}, "not all zero"),
        ({"weights": ()}, "weights"),
        ({"rule": "newton"}, "rule"),
        ({"initial": "ten"}, "initial"),
    ],
    ids=str,
)
def test_values_out_of_range_are_refused_by_name(given_parameters, words):
    with pytest.raises((ValueError, TypeError), match=words):
        IFSL(**given_parameters)


def test_weights_for_another_number_of_kernels_are_refused(two_classes):
    model = MKLClassifier(TRIO, combiner="ifsl(weights=(1, 2))")
    with pytest.raises(ValueError, match="ifsl has 2 weights for 3 kernels; give one each"):
        model.fit(*two_classes)
