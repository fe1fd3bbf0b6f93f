"""Scores against scikit-learn's own metrics, and when a model counts as useless."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, recall_score

from mklkit.evaluation import score


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
