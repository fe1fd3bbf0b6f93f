"""What a model chose is chosen again on the training rows of each fit."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sources import KERNELS, notes_of, three_sources

from mklkit import MKLClassifier, MKLSearchCV, MKLVotingClassifier, RPEMEKLClassifier, explain
from mklkit.estimators.search_record import search_record, with_search
from mklkit.explanation.refitting import Refit

WIDTHS = {"kernels__scan__sigma": [0.01, 4.0], "learner__C": [0.01, 1.0]}
LEARNER = {"learner": "svm(C=1)", "random_state": 0}


def near_noise(n_rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows that hardly tell the classes, so that folds choose other parameters."""
    rows, labels = three_sources(n_rows)
    for name in ("scan_a", "scan_b", "copy_a", "copy_b"):
        rows.loc[labels == "ill", name] -= 1.6
    return rows, labels


def searches(kernels: Any = KERNELS, widths: Any = WIDTHS) -> dict[str, Any]:
    """Return searches around one classifier, by name."""
    classifier = MKLClassifier(kernels, **LEARNER)
    return {
        "ours": MKLSearchCV(classifier, widths, cv=3, random_state=0),
        "scikit-learn": GridSearchCV(classifier, widths, cv=3),
        "randomized": RandomizedSearchCV(classifier, widths, n_iter=2, cv=3, random_state=3),
    }


@pytest.mark.parametrize("kind", ["ours", "scikit-learn", "randomized"])
@pytest.mark.process
def test_a_search_is_repeated_on_the_training_rows_with_and_without_a_source(kind: str) -> None:
    rows, labels = near_noise()
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(rows, labels))
    search = searches()[kind]
    result = explain(clone(search).fit(rows, labels), rows, labels, cv=folds, repeats=1)
    free = {"learner__C": WIDTHS["learner__C"]}
    without = {
        "scan": searches(KERNELS[1:], free)[kind],
        "noise": searches([KERNELS[0], KERNELS[2]])[kind],
    }
    scores: dict[str, list[float]] = {"whole": [], **{name: [] for name in without}}
    chosen = set()
    for train, test in folds:
        for name, model in {"whole": search, **without}.items():
            fit = clone(model).fit(rows.iloc[train], labels[train])
            scores[name].append(fit.score(rows.iloc[test], labels[test]))
            chosen.add(str(fit.best_params_))
    assert len(chosen) > 2  # Else the test would not tell a search from a kept choice.
    np.testing.assert_allclose(result.scores["score"], scores["whole"])
    for place, name in enumerate(("scan", "noise")):
        change = np.subtract(scores[name], scores["whole"]).mean()
        assert result.kernels["left_out"][place] == pytest.approx(change)
    assert "was repeated in each fit" in notes_of(result, "rows")


@pytest.mark.process
def test_a_search_around_a_pipeline_is_repeated_on_its_encoded_rows() -> None:
    rows, labels = near_noise()
    folds = list(StratifiedKFold(2, shuffle=True, random_state=1).split(rows, labels))
    scaler = StandardScaler().set_output(transform="pandas")
    steps = make_pipeline(scaler, MKLClassifier(KERNELS, **LEARNER))
    grid = {f"mklclassifier__{name}": values for name, values in WIDTHS.items()}
    outside = GridSearchCV(steps, grid, cv=3).fit(rows, labels)
    inside = make_pipeline(scaler, searches()["scikit-learn"]).fit(rows, labels)
    first, second = (
        explain(model, rows, labels, cv=folds, repeats=1) for model in (outside, inside)
    )
    pd.testing.assert_frame_equal(first.kernels, second.kernels)
    pd.testing.assert_frame_equal(first.scores, second.scores)
    grid["standardscaler__with_mean"] = [True, False]
    both = GridSearchCV(steps, grid, cv=3).fit(rows, labels)
    said = " ".join(Refit.of(both, 0).notes)
    assert "standardscaler__with_mean" in said
    assert "scores are optimistic" in said


@pytest.mark.process
def test_votes_choose_again() -> None:
    rows, labels = near_noise()
    member = MKLClassifier(KERNELS, feature_map="empirical(subset=20)", learner="mhks")
    tuned = MKLSearchCV(member, {"learner__alpha": [0.01, 10.0]}, cv=2)
    vote = MKLVotingClassifier(tuned, n_members=2, random_state=0)
    ensemble = RPEMEKLClassifier(KERNELS, subset=[5, 20], n_members=2, cv=2, random_state=0)
    folds = list(StratifiedKFold(2, shuffle=True, random_state=1).split(rows, labels))
    for model in (vote, ensemble):
        result = explain(clone(model).fit(rows, labels), rows, labels, cv=folds, repeats=1)
        by_hand = [
            clone(model).fit(rows.iloc[train], labels[train]).score(rows.iloc[test], labels[test])
            for train, test in folds
        ]
        np.testing.assert_allclose(result.scores["score"], by_hand)


@pytest.mark.parametrize(
    ("search", "why"),
    [
        (MKLSearchCV(MKLClassifier(**LEARNER), {"kernels": [KERNELS, KERNELS[:2]]}), "kernels"),
        (GridSearchCV(MKLClassifier(KERNELS, **LEARNER), {"learner__C": [1, 2]},
                      cv=[(np.arange(30), np.arange(30, 60))]), "lists of samples"),
    ],
)  # fmt: skip
def test_a_search_that_can_not_be_repeated_is_said_to_be_optimistic(search: Any, why: str) -> None:
    rows, labels = near_noise()
    said = " ".join(Refit.of(search.fit(rows, labels), 0).notes)
    assert why in said
    assert "scores are optimistic" in said


@pytest.mark.slow
def test_scores_on_pure_noise_are_those_of_guessing() -> None:
    scores = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows, labels = rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % 2)
        model = MKLSearchCV(MKLClassifier("rbf", random_state=0), effort="thorough")
        model.fit(rows, labels)
        settings = {"cv": 5, "repeats": 1, "columns": "sources", "random_state": seed}
        scores.append(explain(model, rows, labels, **settings).scores["score"].mean())
    # Three standard errors of the mean of 20 studies of 60 rows.
    assert abs(np.mean(scores) - 0.5) < 3 * 0.5 / np.sqrt(20 * 60)


@pytest.mark.parametrize("effort", [4, "thorough"])
@pytest.mark.process
def test_a_search_is_known_from_the_record_of_a_saved_model(effort: Any) -> None:
    rows, labels = near_noise()
    classifier = MKLClassifier(KERNELS[:2], random_state=0)
    search = MKLSearchCV(classifier, effort=effort, cv=5).fit(rows, labels)
    record = json.loads(json.dumps(search_record(search)))
    saved = clone(search.best_estimator_).fit(rows, labels)
    folds = list(StratifiedKFold(2, shuffle=True, random_state=1).split(rows, labels))
    settings = {"cv": folds, "repeats": 1, "columns": "sources"}
    known, again = (
        explain(model, rows, labels, **settings) for model in (search, with_search(saved, record))
    )
    pd.testing.assert_frame_equal(known.scores, again.scores)
    assert "was repeated in each fit" in notes_of(again, "rows")
    assert with_search(saved, None) is saved
    foreign = {"effort": 2, "begin": {"kernels__scan__path": "/etc/passwd", "random_state": 3}}
    assert with_search(saved, foreign).estimator.random_state == 0
