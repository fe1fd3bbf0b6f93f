"""Tasks: how targets are read, split, scored and spoken of, by the one contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.pipeline import make_pipeline

from mklkit import DataError, IncompatibleError, MKLOneClass, MKLRegressor, SpecError
from mklkit.datasets.pipeline import model_pipeline
from mklkit.estimators.model_settings import ModelSettings
from mklkit.estimators.task_of import task_of
from mklkit.evaluation import cross_validate
from mklkit.protocols.splits.holding_out import held_out_mask
from mklkit.protocols.splits.making import HoldOut
from mklkit.tasks import Classification, Outliers, Regression

LABELS = np.repeat(["a", "b"], [30, 10])
NUMBERS = np.random.default_rng(0).normal(size=40)


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (LogisticRegression(), Classification),
        (make_pipeline(LinearRegression()), Regression),
        (MKLRegressor(), Regression),
        (MKLOneClass(), Outliers),
    ],
)
def test_a_model_has_a_task(model: Any, task: type) -> None:
    assert type(task_of(model)) is task


@pytest.mark.parametrize(
    ("task", "targets", "names"),
    [
        (Classification(), np.repeat("ill", 40), "'ill'"),
        (Classification(labels=np.array(["x", "y"])), LABELS, "'a', 'b'"),
        (Classification(), LABELS[:5], r"\(5,\)"),
        (Classification(), np.where(np.arange(40) == 7, None, LABELS), "1 sample without a class"),
        (Regression(), np.full(40, 3.0), "the same"),
        (Regression(), LABELS, "y holds something else"),
        (Regression(), np.where(np.arange(40) == 5, np.nan, NUMBERS), "1 sample without a number"),
        (Regression(), np.where(np.arange(40) == 5, np.inf, NUMBERS), "infinite"),
        (Regression(["s", "t"]), NUMBERS, r"\(40, 2\)"),
    ],
)
def test_targets_that_no_model_is_scored_by(task: Any, targets: Any, names: str) -> None:
    with pytest.raises(DataError, match=names):
        task.checked(targets, 40)


@pytest.mark.parametrize(("task", "targets"), [(Classification(), LABELS), (Regression(), NUMBERS)])
def test_parts_are_of_all_rows_and_of_the_seed(task: Any, targets: Any) -> None:
    (split,) = task.splits(targets, HoldOut(0.25), 3)
    assert sorted([*split.train, *split.test]) == list(range(40))
    assert len(split.test) == 10
    assert len(task.splits(targets, HoldOut(0.0), 3)[0].test) == 0
    folds = task.splits(targets, "4x2", 3)
    assert len(folds) == 8
    assert folds.notes == ()
    for train, scored in folds:
        assert sorted([*train, *scored]) == list(range(40))
    with pytest.raises(SpecError):
        task.splits(targets, 1, 3)


def test_folds_of_few_numbers() -> None:
    folds = Regression().splits(NUMBERS[:6], 5)
    assert [len(scored) for scored in folds.tests] == [2, 2, 2]
    assert "3 folds instead of 5" in folds.notes[0]
    with pytest.raises(DataError, match="got 3"):
        Regression().splits(NUMBERS[:3], 5)


def test_scores_of_numbers_are_scikit_learns() -> None:
    guesses = NUMBERS + np.random.default_rng(1).normal(size=40)
    scores = Regression().score(NUMBERS, guesses, NUMBERS[:20])
    assert scores["r2"] == pytest.approx(r2_score(NUMBERS, guesses))
    assert scores["mean_absolute_error"] == pytest.approx(mean_absolute_error(NUMBERS, guesses))
    median = np.full(40, np.median(NUMBERS[:20]))
    assert scores["baseline"] == pytest.approx(mean_absolute_error(NUMBERS, median))
    assert Regression().score(np.ones(3), np.ones(3))["r2"] is None


@pytest.mark.parametrize(("task", "targets"), [(Classification(), LABELS), (Regression(), NUMBERS)])
def test_pairs_count_as_often_as_they_occur(task: Any, targets: Any) -> None:
    guesses, counts = targets[::-1], np.arange(40) % 3
    whole = task.score(np.repeat(targets, counts), np.repeat(guesses, counts))
    assert task.score(targets, guesses, counts=counts) == whole
    assert "no better than" in task.no_better_than_guessing(whole)
    assert task.no_better_than_guessing(task.score(targets, targets)) == ""


def test_a_regressor_is_cross_validated() -> None:
    X = np.c_[NUMBERS, NUMBERS**2]
    result = cross_validate(LinearRegression(), X, NUMBERS, cv=4, repeats=2)
    assert result.scores["r2"]["mean"] == pytest.approx(1)
    assert [len(result.folds), result.splits.n_folds, result.pooled] == [8, 4, None]


def test_what_is_for_classes_is_refused_for_numbers() -> None:
    task = Regression()
    assert isinstance(model_pipeline(ModelSettings(), task)[-1], MKLRegressor)
    for setting in ({"bandwidths": "all-rows"}, {"multiclass": "ovr"}, {"probability": True}):
        with pytest.raises(IncompatibleError, match=next(iter(setting))):
            model_pipeline(ModelSettings.named(setting), task)
    with pytest.raises(IncompatibleError, match="rpemekl"):
        model_pipeline(ModelSettings(preset="rpemekl"), task)


def test_outliers_have_a_negative_score() -> None:
    rows = pd.DataFrame({"x": NUMBERS})
    model = MKLOneClass("rbf").fit(rows)
    table = task_of(model).predictions(model, rows)
    assert ((table["score"] < 0) == (table["prediction"] == "outlier")).all()


def test_labels_of_the_same_seed_do_not_decide_what_is_held_out() -> None:
    codes = np.random.default_rng(0).integers(0, 3, 300_000)
    held, kind = held_out_mask(codes, 0.2, seed=0)
    assert kind == "at random"
    shares = np.bincount(codes[held]) / np.bincount(codes)
    np.testing.assert_allclose(shares, 0.2, atol=0.01)
