"""``mklkit.compare`` of numbers and outliers, by any score, with weights and chosen baselines."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, mean_absolute_error, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import (
    Comparison,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    compare,
)
from mklkit.comparison.baselines import baselines
from mklkit.comparison.data import data_sets
from mklkit.comparison.design import Design
from mklkit.comparison.line_up import methods_to_compare
from mklkit.comparison.result_tables import shortfall
from mklkit.comparison.running import run_cells
from mklkit.comparison.stored import Cell
from mklkit.errors import DataError, MKLKitError
from mklkit.estimators.model_settings import ModelSettings
from mklkit.evaluation import make_splits
from mklkit.evaluation.study import Roles
from mklkit.tasks import Outliers, Regression

FEATURES, NUMBERS = (part[:90] for part in load_diabetes(return_X_y=True))
WINES, CLASSES = load_wine(return_X_y=True)
X, Y = WINES[30:90, 1:5], np.array(["a", "b"])[CLASSES[30:90]]
"""60 rows of two overlapping wines, half of them of each."""
CHEAP: dict[str, Any] = {"kernels": ["linear", "rbf"], "methods": "uniform", "baselines": "none"}
FIXED: dict[str, Any] = {"learners": ["svm(C=1.0)"]}
"""A choice of C takes most of the time of a fit: for what is about something else."""


def runs(comparison: Comparison, method: str) -> pd.DataFrame:
    return comparison.results[comparison.results["method"] == method].reset_index(drop=True)


def test_numbers_are_compared_by_r2() -> None:
    settings: dict[str, Any] = {"methods": "centered-alignment", "baselines": ["ridge regression"]}
    done = compare(FEATURES, NUMBERS, kernels=["linear", "rbf"], cv="3x2", **settings)
    assert (done.plan["task"], done.plan["score"]) == ("regression", "r2")
    names = {"centered-alignment", "uniform", "linear", "rbf", "best-single", "ridge regression"}
    assert set(done.table()["method"]) == names
    kernel = MKLRegressor(["linear", "rbf"], combiner="centered-alignment")
    model = make_pipeline(StandardScaler(), kernel)
    splitter = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    parts = []
    for (_, run), (train, test) in zip(
        runs(done, "centered-alignment").iterrows(), splitter.split(FEATURES), strict=True
    ):
        answers = model.fit(FEATURES[train], NUMBERS[train]).predict(FEATURES[test])
        assert run["score"] == run["r2"]
        error = mean_absolute_error(NUMBERS[test], answers)
        assert run["mean_absolute_error"] == pytest.approx(error)
        parts.append((run["repeat"], NUMBERS[test], answers))
    of_repeats = [
        r2_score(
            *(np.concatenate([part[k] for part in parts if part[0] == repeat]) for k in (1, 2))
        )
        for repeat in (0, 1)
    ]
    row = done.table().set_index("method").loc["centered-alignment"]
    assert row["score"] == pytest.approx(np.mean(of_repeats))
    assert done.table()["score"].round(12).is_monotonic_decreasing


@pytest.mark.process
def test_several_targets_and_every_file(tmp_path: Any) -> None:
    targets = pd.DataFrame({"sugar": NUMBERS, "mass": FEATURES[:, 2] + 0.001 * NUMBERS})
    settings = CHEAP | {"baselines": ["gradient boosting"], "score": "neg_mean_absolute_error"}
    done = compare(FEATURES, targets, cv="2x1", **settings)
    model = make_pipeline(StandardScaler(), MKLRegressor(["linear", "rbf"]))
    train, test = next(KFold(2, shuffle=True, random_state=0).split(FEATURES))
    answers = model.fit(FEATURES[train], targets.to_numpy()[train]).predict(FEATURES[test])
    expected = -mean_absolute_error(targets.to_numpy()[test], answers)
    assert runs(done, "uniform")["score"][0] == pytest.approx(expected)
    assert done.table()["failures"].sum() == 0
    for ending in ("html", "json", "tex", "csv"):
        done.report(tmp_path / f"a.{ending}")
    assert r"R$^2$" in (tmp_path / "a.tex").read_text()
    page = done._repr_html_()
    assert "R²" in page
    # The error itself is written, under its own name; the least comes first.
    written = page[page.index("Mean absolute error") :]
    assert f">{-done.table()['score'].iloc[0]:.3f}" in written.replace("<strong>", "")
    assert "Neg " not in page
    assert f"{-done.table()['score'].max():.4g}" in repr(done)
    assert "mean difference in mean absolute error" in done.how[0]
    assert done.best_estimator_.predict(FEATURES[:3]).shape == (3, 2)


def test_outliers_are_found_without_labels() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 4))
    rows[:8] *= 4
    odd = np.repeat(["odd", "usual"], [8, 52])
    settings = CHEAP | {"methods": None, "baselines": None}
    done = compare(rows, odd, task="outliers", cv="2x1", **settings)
    table = done.table()
    baselines = table.loc[table["kind"] == "baseline", "method"].tolist()
    assert (baselines, done.plan["score"]) == (["isolation forest"], "roc_auc")
    assert {"uniform", "linear", "rbf"} < set(table["method"])
    train, test = next(StratifiedKFold(2, shuffle=True, random_state=0).split(rows, odd))
    model = make_pipeline(StandardScaler(), MKLOneClass(["linear", "rbf"])).fit(rows[train])
    expected = roc_auc_score(odd[test] == "usual", model.decision_function(rows[test]))
    assert runs(done, "uniform")["score"][0] == pytest.approx(expected)


@pytest.mark.process
def test_numbers_and_outliers_are_tuned_inside_the_training_rows() -> None:
    targets = np.column_stack([NUMBERS, NUMBERS + 100 * FEATURES[:, 0]])
    rows = np.random.default_rng(0).normal(size=(60, 4))
    odd = np.where(np.arange(60) < 12, -1, 1)
    rows[:12] *= 3
    outliers = MKLOneClass("rbf"), "roc_auc", StratifiedKFold
    numbers = MKLRegressor("rbf"), "r2", KFold
    for X, y, (model, score, splitter) in ((FEATURES, targets, numbers), (rows, odd, outliers)):
        task = "outliers" if score == "roc_auc" else "regression"
        done = compare(X, y, task=task, **CHEAP | {"kernels": "rbf", "tune": 2, "cv": "2x1"})
        assert done.table()["failures"].sum() == 0
        train, test = next(splitter(2, shuffle=True, random_state=0).split(X, y))
        scaler = StandardScaler().fit(X[train])
        inside, new = scaler.transform(X[train]), scaler.transform(X[test])
        search = MKLSearchCV(model.set_params(random_state=0), effort=2).fit(inside, y[train])
        expected = get_scorer(score)(search, new, y[test])
        if score == "r2":  # Squared errors count beside the variance of all rows.
            errors = (y[test] - search.predict(new)) ** 2
            expected = np.mean(1 - errors.mean(axis=0) / y.var(axis=0))
        run = runs(done, "uniform").iloc[0]
        assert run["score"] == pytest.approx(expected)
        assert run["params"] == search.best_params_
        assert len(done.best_estimator_.predict(X[:3])) == 3


def test_baselines_of_every_task_search_grids_that_they_have() -> None:
    for task, y in (
        (Regression(["a"]), NUMBERS),
        (Regression(["a", "b"]), np.column_stack([NUMBERS, NUMBERS])),
        (Outliers(), np.where(np.arange(90) % 9 > 0, 1, -1)),
    ):
        design = Design(settings=ModelSettings(tune=9), task=task, scoring=task.ranked_by[0])
        searches = [method.pipeline[-1] for method in baselines(design)]
        searches = [search for search in searches if isinstance(search, GridSearchCV)]
        assert searches
        for search in searches:
            for name, values in search.param_grid.items():
                search.estimator.set_params(**{name: values[0]})
            folds = search.cv.split(FEATURES, y)
            assert len(folds) == search.cv.get_n_splits(FEATURES, y) == 5
            assert sorted(np.concatenate([test for _, test in folds])) == list(range(90))
            assert all(not {*train} & {*test} for train, test in folds)


@pytest.mark.parametrize("score", ["balanced_accuracy", "f1_macro", "neg_log_loss"])
def test_a_score_is_scikit_learns(score: str) -> None:
    few = np.r_[:30, 30:42]  # classes of unequal size
    probability = score == "neg_log_loss"
    weights = np.arange(len(few)) % 3 + 0.5
    settings = CHEAP | FIXED | {"score": score, "baselines": "logistic-regression", "cv": "2x1"}
    extra = {"class_weight": "balanced", "probability": probability, "weights": weights}
    done = compare(X[few], Y[few], **settings, **extra)
    kernels = MKLClassifier(
        ["linear", "rbf"],
        learner="svm(C=1.0)",
        class_weight="balanced",
        probability=probability,
        random_state=0,
    )
    linear = LogisticRegression(max_iter=1000, class_weight="balanced")
    train, test = next(StratifiedKFold(2, shuffle=True, random_state=0).split(few, Y[few]))
    for name, estimator in {"uniform": kernels, "logistic regression": linear}.items():
        model = make_pipeline(StandardScaler(), estimator)
        step = {f"{model.steps[-1][0]}__sample_weight": weights[train]}
        model.fit(X[few][train], Y[few][train], **step)
        expected = get_scorer(score)(model, X[few][test], Y[few][test])
        assert runs(done, name)["score"][0] == pytest.approx(expected), name
    assert done.table()["score"].round(12).is_monotonic_decreasing
    assert done.plan["score"] == score


def test_parameters_are_chosen_by_the_score() -> None:
    tuned = ModelSettings(tune="fast")
    design = Design(settings=tuned, score="f1_macro", scoring="f1_macro")
    methods, *_ = methods_to_compare(["uniform"], (), design)
    assert {method.pipeline[-1].scoring for method in methods} == {"f1_macro"}


def test_class_weights_name_labels_by_their_text() -> None:
    by_text, balanced = (
        compare(
            X,
            CLASSES[30:90],
            class_weight=weights,
            score="balanced_accuracy",
            cv=3,
            **CHEAP,
            **FIXED,
        )
        for weights in ({"0": 30.0, "1": 1.0}, {0: 30.0, 1: 1.0})
    )
    assert by_text.results["score"].tolist() == balanced.results["score"].tolist()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"score": "accurracy"}, r"Did you mean 'accuracy'.*balanced_accuracy"),
        ({"score": "r2"}, r"^There is no score 'r2' for classes\. Choose one of .*recall_macro"),
        ({"score": "neg_log_loss"}, "add --probability"),
        ({"score": "f1"}, "pos_label=1.*f1_macro"),
        ({"baselines": "forest"}, "Did you mean 'random forest'"),
        ({"baselines": ["none", "random forest"]}, "leave out one"),
        ({"time_limit": "soon"}, "90s, 10m or 2h"),
        ({"weights": [1.0, 2.0]}, "Expected 60 weights"),
        ({"weights": -np.ones(60)}, "from 0 up"),
    ],
)
def test_what_can_not_be_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(MKLKitError, match=reason):
        compare(X, Y, **CHEAP | settings)


def test_tasks_are_not_mixed() -> None:
    with pytest.raises(DataError, match="x classes, y numbers"):
        compare({"x": (X, Y), "y": (FEATURES, NUMBERS)}, **CHEAP)


def test_a_baseline_that_takes_most_of_the_time_is_left_out() -> None:
    linear = ModelSettings(kernels="linear")
    design = Design(settings=linear, baselines=("logistic regression",))
    methods, *_ = methods_to_compare((), (), design)
    (data,) = data_sets(X, Y, Roles())
    plan = make_splits(Y, "2x1")
    plain = [cell for *_, cell in run_cells(data, plan, methods, lambda *_: None, lambda _: None)]

    def known(place: int, method: Any) -> Cell | None:
        """Return cells of the first split, on which the baseline took long."""
        cell = next(cell for cell in plain if cell.method == method.name)
        slow = 100.0 if method.kind == "baseline" else 99.0
        return None if place else attrs.evolve(cell, seconds=slow)

    def reasons(capped: bool) -> list[str | None]:
        later = run_cells(data, plan, methods, known, lambda _: None, None, None, capped)
        return [cell.reason for place, _, cell in later if place]

    assert reasons(capped=False) == [None, None]
    kernel, baseline = reasons(capped=True)
    assert kernel is None
    assert "it took 100 of 199 seconds" in str(baseline)
    left_out = {"failures": 1, "splits": 2, "reason": baseline}
    assert shortfall(left_out) == baseline
    assert shortfall({**left_out, "reason": "singular"}) == "failed on 1 of 2 splits: singular"


def test_no_run_begins_after_the_time_limit() -> None:
    # The first run begins in any case, and takes some time.
    done = compare(X, Y, time_limit=0, **CHEAP, **FIXED)
    assert (len(done.cells), done.complete, done.by_time) == (1, False, True)
    assert "the time limit of 0 ended it after 1 of 200 runs" in done.notes


def test_notes_on_text_say_whether_proposed_kernels_read_it() -> None:
    words = np.random.default_rng(0).choice(["ache", "rash", "cough"], size=(len(X), 12))
    notes = pd.Series([" ".join(row) for row in words])
    rows = pd.DataFrame(X).add_prefix("x").assign(note=notes)
    options: dict[str, Any] = CHEAP | FIXED | {"kernels": "auto", "cv": "2x1"}
    (data,) = compare(rows, Y, **options).data
    assert any("'note' kept for kernels" in note for note in data.notes)
    (data,) = compare(rows, Y, **options, covariates="x0").data
    assert any("'note' dropped" in note for note in data.notes)


def test_numbers_of_any_size_have_errors() -> None:
    done = compare(FEATURES, NUMBERS * 1e100, **CHEAP | {"cv": "2x1"})
    near = compare(FEATURES, NUMBERS, **CHEAP | {"cv": "2x1"})
    errors = [cell.scores["mean_absolute_error"] for cell in near.cells]
    assert [cell.scores["mean_absolute_error"] / 1e100 for cell in done.cells] == pytest.approx(
        errors
    )


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_fields_of_a_structured_array_are_no_targets(task: str) -> None:
    y = np.array([(1.0, True), (2.0, False)] * 10, dtype=[("time", float), ("event", bool)])
    with pytest.raises(DataError, match="time, event"):
        compare(np.arange(20.0)[:, None], y, task=task)
