"""Scores against scikit-learn's own metrics, and when a model counts as useless."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    confusion_matrix,
    get_scorer,
    log_loss,
    mean_absolute_error,
    r2_score,
    recall_score,
    roc_auc_score,
)

from mklkit.evaluation import score
from mklkit.evaluation.class_scores import (
    area_under_curve,
    calibration,
    loss_of_probabilities,
    negative_brier_score,
)
from mklkit.evaluation.number_scores import score_numbers
from mklkit.protocols.score import Answers


def area_of(labels, classes, values) -> float:
    codes = np.searchsorted(classes, labels)
    return area_under_curve(Answers(codes, codes, values=values))


@pytest.mark.parametrize("names", [["a", "b", "c"], [0, 1, 7], [2.0, 3.0, 4.0]])
def test_scores_are_scikit_learns(names) -> None:
    random = np.random.default_rng(0)
    training, true = (random.choice(names, size=n, p=[0.2, 0.5, 0.3]) for n in (200, 90))
    answered = np.where(random.random(90) < 0.6, true, random.choice(names, size=90))
    scores = score(true, answered, training)
    guesser = DummyClassifier(strategy="most_frequent").fit(training[:, None], training)
    assert scores["rows"] == 90
    assert scores["baseline"] == guesser.score(true[:, None], true)
    assert scores["accuracy"] == np.mean(true == answered)
    assert scores["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, answered))
    np.testing.assert_allclose(scores["recall"], recall_score(true, answered, average=None))
    assert scores["confusion"] == confusion_matrix(true, answered).tolist()
    assert scores["classes"] == sorted(names)
    assert scores["better_than_baseline"]


def test_a_class_without_rows_has_no_recall_and_no_say() -> None:
    scores = score(["a", "b"], ["a", "a"], ["a", "b", "c"])
    assert scores["balanced_accuracy"] == 0.5
    assert np.isnan(scores["recall"][2])


def test_what_is_no_better_than_the_commonest_class() -> None:
    true = np.repeat(["a", "b", "c"], [75, 15, 10])
    guesses = np.random.default_rng(0).choice(["a", "b", "c"], size=100)
    assert not score(true, np.repeat("a", 100))["better_than_baseline"]
    assert not score(true, guesses)["better_than_baseline"]
    # Less often right than the majority class, and yet it has found the rare ones.
    finds = np.concatenate([np.repeat(["a", "b", "c"], 25), true[75:]])
    assert np.mean(finds == true) < 0.75
    assert score(true, finds)["better_than_baseline"]
    assert score(true, true)["better_than_baseline"]
    # Nothing is better than all right, be there one class only.
    assert score(["a", "a"], ["a", "a"])["better_than_baseline"]


@pytest.mark.parametrize("counts", [[75, 15, 10], [200, 20, 20, 20]])
def test_guessing_is_rarely_better_than_the_baseline(counts) -> None:
    """A balanced accuracy two standard errors above chance is that of 2.3 % of guesses."""
    true = np.repeat(np.arange(len(counts)), counts)
    random = np.random.default_rng(0)
    guesses = random.integers(len(counts), size=(300, len(true)))
    lucky = [score(true, guess)["better_than_baseline"] for guess in guesses]
    assert 0.01 < np.mean(lucky) < 0.04


def test_areas_are_scikit_learns() -> None:
    random = np.random.default_rng(1)
    classes, labels = np.array(["a", "b", "c", "d"]), random.choice(list("abbbc"), size=60)
    values = random.random((60, 4)) + 0.4 * (labels[:, None] == classes)
    two = labels != "c"
    area = roc_auc_score(labels[two] == "b", values[two, 1])
    assert area_of(labels[two], classes[:2], values[two, 1]) == pytest.approx(area)
    # No row has the last class.
    shares = values[:, :3] / values[:, :3].sum(axis=1, keepdims=True)
    area = roc_auc_score(labels, shares, multi_class="ovr", labels=classes[:3])
    padded = np.column_stack([shares, values[:, 3]])
    assert area_of(labels, classes, padded) == pytest.approx(area)
    assert np.isnan(area_of(labels[:0], classes[:2], values[:0, 1]))


@pytest.mark.parametrize("names", [["no", "yes"], ["a", "b", "c"]])
def test_probabilities_are_scored_as_by_scikit_learn(names) -> None:
    random = np.random.default_rng(2)
    labels = random.choice(names, size=200)
    probabilities = random.dirichlet(np.ones(len(names)), size=200)
    codes = np.searchsorted(names, labels)
    loss = loss_of_probabilities(Answers(codes, codes, probabilities=probabilities))
    bins = calibration(codes, probabilities)
    assert loss == pytest.approx(log_loss(labels, probabilities, labels=names))
    if len(names) == 2:
        happened, likely = labels == "yes", probabilities[:, 1]
    else:
        happened = labels == np.array(names)[probabilities.argmax(axis=1)]
        likely = probabilities.max(axis=1)
    rows, sums, hits = (np.array(bins[k]) for k in ("rows", "probability", "hits"))
    assert rows.sum() == 200
    filled = rows > 0
    frequencies, means = calibration_curve(happened, likely, n_bins=10)
    np.testing.assert_allclose(hits[filled] / rows[filled], frequencies)
    np.testing.assert_allclose(sums[filled] / rows[filled], means)


@pytest.mark.parametrize("shape", [30, (30, 2)])
def test_numbers_are_scored_as_by_scikit_learn(shape) -> None:
    random = np.random.default_rng(3)
    true, training = random.normal(size=shape), random.gamma(1.0, size=shape)
    answered, counts = true + random.normal(size=shape), random.integers(1, 4, 30)
    scores = score_numbers(true, answered, training, counts)
    assert scores["rows"] == counts.sum()
    weighted = {"sample_weight": counts}
    assert scores["r2"] == pytest.approx(r2_score(true, answered, **weighted))
    error = mean_absolute_error(true, answered, **weighted)
    assert scores["mean_absolute_error"] == pytest.approx(error)
    guesser = DummyRegressor(strategy="median").fit(training, training)
    guess = mean_absolute_error(true, guesser.predict(true), **weighted)
    assert scores["baseline"] == pytest.approx(guess)
    assert scores["better_than_baseline"] == (error < guess)
    assert score_numbers(np.ones(3), np.arange(3.0))["r2"] is None


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"]])
def test_the_brier_score_of_text_is_that_of_class_numbers(names) -> None:
    random = np.random.default_rng(3)
    rows, codes = random.normal(size=(60, 2)), random.integers(0, len(names), 60)
    of_text = LogisticRegression().fit(rows, np.array(names)[codes])
    of_codes = LogisticRegression().fit(rows, codes)
    expected = get_scorer("neg_brier_score")(of_codes, rows, codes)
    assert negative_brier_score(of_text, rows, np.array(names)[codes]) == pytest.approx(expected)
