"""One fit and its scores: the estimator sees the training rows only, with their weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score

from mklkit import MKLClassifier
from mklkit.evaluation import Samples, Split, fit_and_score
from mklkit.tasks import Classification, Regression

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.7 * RANDOM.normal(size=60) > 0, "a", "b")
WEIGHTS = RANDOM.uniform(0.1, 5, 60)
SPLIT = Split(np.arange(0, 60, 2), np.arange(1, 60, 2))


@pytest.mark.parametrize("as_frame", [False, True])
def test_it_is_a_fit_of_the_weighted_training_rows(as_frame: bool) -> None:
    features = pd.DataFrame(X) if as_frame else X
    samples = Samples(features, Y, {"sample_weight": WEIGHTS})
    estimator = LogisticRegression(C=0.1)
    scores = fit_and_score(
        estimator, samples, SPLIT, Classification(), parts={"train": SPLIT.train}
    )
    alone = LogisticRegression(C=0.1).fit(X[::2], Y[::2], WEIGHTS[::2])
    np.testing.assert_allclose(scores.model.coef_, alone.coef_)
    np.testing.assert_array_equal(scores.predictions, alone.predict(X[1::2]))
    assert scores.test["accuracy"] == accuracy_score(Y[1::2], alone.predict(X[1::2]))
    assert scores.parts["train"]["accuracy"] == accuracy_score(Y[::2], alone.predict(X[::2]))
    assert not hasattr(estimator, "coef_")
    unweighted = LogisticRegression(C=0.1).fit(X[::2], Y[::2])
    assert np.abs(unweighted.coef_ - alone.coef_).max() > 1e-3


def test_numbers_are_scored_against_the_variance_of_all_splits() -> None:
    targets = X @ [1.0, 2.0, 0.0] + RANDOM.normal(size=60)
    alone = Ridge().fit(X[::2], targets[::2])
    predicted, truth = alone.predict(X[1::2]), targets[1::2]
    scores = fit_and_score(Ridge(), Samples(X, targets), SPLIT, Regression())
    assert scores.test["r2"] == pytest.approx(r2_score(truth, predicted))
    assert scores.test["mean_absolute_error"] == mean_absolute_error(truth, predicted)
    baseline = np.abs(truth - np.median(targets[::2])).mean()
    assert scores.test["baseline"] == pytest.approx(baseline)
    shared = fit_and_score(
        Ridge(), Samples(X, targets), SPLIT, Regression(), variance=np.array([7.0])
    )
    assert shared.test["r2"] == pytest.approx(1 - np.mean((truth - predicted) ** 2) / 7)


def test_no_test_rows_have_no_scores() -> None:
    split = Split(np.arange(60), np.arange(0))
    scores = fit_and_score(LogisticRegression(), Samples(X, Y), split, Classification())
    assert (scores.parts, scores.predictions, scores.test) == ({"test": None}, None, {})


def test_the_fit_is_watched_and_gets_its_groups() -> None:
    watched: list[Any] = []

    @contextmanager
    def wrap(model: Any) -> Iterator[None]:
        watched.append(model)
        yield

    samples = Samples(X, Y, groups=np.arange(60) // 4)
    model = MKLClassifier(["linear", "rbf"])
    scores = fit_and_score(model, samples, SPLIT, Classification(), wrap_fit=wrap)
    assert watched == [scores.model]
    assert scores.model.n_groups_fit_ == 15
