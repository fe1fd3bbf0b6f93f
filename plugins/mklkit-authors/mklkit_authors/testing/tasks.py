"""Checks of every task."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd

from mklkit.estimators.task_of import task_of
from mklkit.protocols import Array, Task
from mklkit.registry.composing import choose_components
from mklkit_authors.testing.cases import Case
from mklkit_authors.testing.common import name_and_description, parameters_round_trip
from mklkit_authors.testing.estimators import KEEP, saved_and_loaded
from mklkit_authors.testing.expectations import expect, expect_close

N_ROWS = 80


def rows_of(seed: int) -> tuple[pd.DataFrame, Array]:
    """Return samples (n, 3), and a number for each that follows from them."""
    values = np.random.default_rng(seed).normal(size=(N_ROWS, 3))
    return pd.DataFrame(values, columns=list("abc")), values[:, 0] + np.sin(2 * values[:, 1])


def targets_of(task: Task, seed: int) -> Any:
    """Return the targets of the samples of a seed."""
    return task.example(rows_of(seed)[1])


def fitted(case: Case) -> Any:
    """Return the task's estimator, fitted to the samples of the seed 1."""
    if "model" not in case.fits:
        case.fits["model"] = case.component.estimator(["rbf", "linear"], random_state=0)
        case.fits["model"].fit(rows_of(1)[0], targets_of(case.component, 1))
    return case.fits["model"]


def states_words_and_scores(case: Case) -> None:
    """Words are not empty, the first score ranks models, and a model must beat a known score."""
    task = case.component
    words = {word: getattr(task, word) for word in ("noun", "plural", "guess")}
    expect(all(words.values()), "words for a sample's target", words, "State them in the class.")
    keys = [score.key for score in task.labeled]
    expect(task.scores[0].ranks, "a first score that ranks models", keys, "Reorder 'scores'.")
    expect("baseline" in keys, "a score named 'baseline'", keys, "Add one that does not rank.")
    stated = task.guessed_by
    expect(stated in keys, "'guessed_by' to be a score's key", stated, f"Choose of {keys}.")


def has_learners(case: Case) -> None:
    """There are a learner and a combiner for its first kind of target."""
    choose_components("uniform", None, None, target=case.component.kinds[0])


def reads_its_columns(case: Case) -> None:
    """Targets as columns of a table are read as the same targets in Python."""
    task = case.component
    targets = targets_of(case.component, 1)
    columns = pd.DataFrame(targets, columns=list(task.targets))
    read = task.as_array(task.read(columns).to_numpy())
    expected = task.as_array(targets)
    same = np.array_equal(read, expected)
    expect(same, f"{expected[:2].tolist()}, ...", read[:2].tolist(), "Compare read and as_array.")


def splits_all_rows(case: Case) -> None:
    """Each sample is scored once in the folds of a repetition."""
    splits = case.component.splits(targets_of(case.component, 1), 3)
    rows = np.sort(np.concatenate(splits.tests))
    expect(np.array_equal(rows, np.arange(N_ROWS)), "every sample once", rows, "Check 'strata'.")


def the_baseline_is_no_better_than_itself(case: Case) -> None:
    """The predictions of the baseline have the task's shape, and are told to be a guess."""
    task = case.component
    truth = task.truth(targets_of(task, 1))
    nothing = np.zeros((N_ROWS, 1))
    guesses = np.asarray(task.baseline().fit(nothing, truth).predict(nothing))
    task.check_predicted(guesses, truth)
    told = task.no_better_than_guessing(task.score(truth, guesses, truth))
    expect("no better than" in told, "a sentence on guessing", told, "Compare guess and baseline.")


def its_estimator_learns(case: Case) -> None:
    """The estimator is better than the baseline on new samples, and its model is of the task."""
    task = case.component
    model = fitted(case)
    expect(task_of(model).name == task.name, task.name, task_of(model).name, "Set 'estimator'.")
    truth, predictions = task.truth(targets_of(task, 2)), model.predict(rows_of(2)[0])
    task.check_predicted(predictions, truth)
    scores = task.score(truth, predictions, targets_of(task, 1))
    better = scores["better_than_baseline"] or task.kinds[0].is_empty
    expect(better, "scores above those of the baseline", scores, "Check fit and predict.")


def predictions_can_be_read_back(case: Case) -> None:
    """Predictions that are written as CSV are read back the same."""
    task = task_of(fitted(case))
    table = task.predictions(fitted(case), rows_of(2)[0])
    text = io.StringIO(table.to_csv(index=False))
    written, back = task.predicted(table), task.predicted(pd.read_csv(text))
    same = all(a == b or np.isclose(a, b) for a, b in zip(written.flat, back.flat, strict=True))
    expect(same, f"{written[:3]}", back[:3], "Write numbers or text; 'comparable' reads both.")


def saved_models_predict_the_same(case: Case) -> None:
    """A model loaded from a model file predicts the same as the saved one."""
    rows = rows_of(2)[0]
    models = saved_and_loaded(fitted(case)), fitted(case)
    loaded, usual = (case.component.comparable(_table(m.predict(rows))) for m in models)
    if loaded.dtype.kind == "f":
        expect_close(loaded, usual, "the loaded model to predict the same", KEEP, 1e-12)
    same = np.array_equal(loaded, usual)
    expect(same or loaded.dtype.kind == "f", usual[:3], loaded[:3], KEEP)


def _table(predictions: Any) -> pd.DataFrame:
    return pd.DataFrame(np.asarray(predictions).reshape(N_ROWS, -1))


TASK_CHECKS = (
    name_and_description,
    parameters_round_trip,
    states_words_and_scores,
    has_learners,
    reads_its_columns,
    splits_all_rows,
    the_baseline_is_no_better_than_itself,
    its_estimator_learns,
    predictions_can_be_read_back,
    saved_models_predict_the_same,
)
