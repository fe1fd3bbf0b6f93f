"""The parts of kernels in decision values, numbers and R² add up, and are those by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import r2_score
from sklearn.svm import SVC

from mklkit import IncompatibleError, MKLClassifier, MKLOneClass, MKLRegressor

X, Y = load_iris(return_X_y=True)
TWO = Y > 0
KERNELS = ["first:linear@0,1", "second:rbf(sigma=1)@2:4", "third:polynomial@0:4"]


@pytest.mark.parametrize(
    "settings",
    [
        {"combiner": "dimkl3", "learner": "svm(C=1)"},
        {"combiner": "uniform", "feature_map": "empirical(subset=30)", "learner": "mhks"},
        {"combiner": "centered-alignment", "learner": "ridge"},
        {"combiner": "best-single(cv=2)", "learner": "ridge"},
        {"combiner": "ifsl"},
    ],
)
def test_parts_add_up_to_the_decision_values(settings: Any) -> None:
    model = MKLClassifier(KERNELS, multiclass="ovr", random_state=0, **settings)
    for labels, shape in ((TWO, (150, 4)), (Y, (150, 4, 3))):
        parts = model.fit(X, labels).decision_function(X, split=True)
        assert parts.shape == shape
        np.testing.assert_allclose(parts.sum(axis=1), model.decision_function(X), atol=1e-6)
        used = model.weights_.any(axis=0)
        assert (np.abs(parts).max(axis=0).reshape(4, -1).max(axis=1)[:3] > 0).tolist() == [*used]


def test_parts_are_those_of_the_support_vectors() -> None:
    model = MKLClassifier(["linear@0,1", "linear@2,3"], learner="svm(C=1)").fit(X, TWO)
    grams = [X[:, :2] @ X[:, :2].T, X[:, 2:] @ X[:, 2:].T]
    peer = SVC(kernel="precomputed", C=1).fit(sum(grams) / 2, TWO)
    by_hand = [gram[:, peer.support_] @ peer.dual_coef_[0] / 2 for gram in grams]
    parts = model.decision_function(X, split=True)
    np.testing.assert_allclose(parts[:, :2], np.transpose(by_hand), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(parts[:, 2], peer.intercept_[0])


def test_parts_of_one_class_and_of_many_blocks() -> None:
    rows = np.tile(X, (8, 1))
    model = MKLOneClass(KERNELS[:2]).fit(X)
    parts = model.decision_function(rows, split=True)
    np.testing.assert_allclose(parts.sum(axis=1), model.decision_function(rows))
    np.testing.assert_allclose(parts[:, 2], -model.offset_)


def test_parts_of_r2_are_pratts_measure() -> None:
    """Of least squares on the training rows it is each coefficient times its covariance."""
    X, y = load_diabetes(return_X_y=True)
    X = X[:, :4]
    model = MKLRegressor([f"linear@{place}" for place in range(4)], learner="ridge(alpha=1e-9)")
    shares = model.fit(X, y).score(X, y, split=True)
    slopes = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    by_hand = [slopes[place] * np.cov(X[:, place], y, ddof=0)[0, 1] for place in range(4)]
    np.testing.assert_allclose(shares[:4], np.array(by_hand) / y.var(), rtol=1e-4)
    assert abs(shares[4]) < 1e-6


@pytest.mark.parametrize("several", [False, True])
def test_parts_of_numbers_and_of_r2_add_up(several: bool) -> None:
    X, y = load_diabetes(return_X_y=True)
    targets = np.column_stack([y, X[:, 0]]) if several else y
    weights = np.random.default_rng(0).uniform(1, 2, len(X) - 300)
    model = MKLRegressor(["linear@0:4", "rbf"], combiner="centered-alignment").fit(
        X[:300], targets[:300]
    )
    numbers, parts = model.predict(X[300:]), model.predict(X[300:], split=True)
    assert parts.shape == (len(X) - 300, 3, *numbers.shape[1:])
    np.testing.assert_allclose(parts.sum(axis=1), numbers)
    shares = model.score(X[300:], targets[300:], weights, split=True)
    assert shares.shape == (3,)
    assert shares.sum() == pytest.approx(r2_score(targets[300:], numbers, sample_weight=weights))


def test_what_is_no_sum_is_refused() -> None:
    one_against_one = MKLClassifier(KERNELS, learner="svm(C=1)").fit(X, Y)
    with pytest.raises(IncompatibleError, match="multiclass='ovr'"):
        one_against_one.decision_function(X, split=True)
    gated = {"combiner": "cluster-gating(n_clusters=2)", "learner": "svm(C=1)"}
    for settings in (gated, {"learner": "kda"}):
        model = MKLClassifier(KERNELS[:2], random_state=0, **settings).fit(X, TWO)
        with pytest.raises(IncompatibleError, match=r"mklkit\.explain"):
            model.decision_function(X, split=True)
    with pytest.raises(IncompatibleError, match="accuracy is not a sum"):
        one_against_one.score(X, Y, split=True)
