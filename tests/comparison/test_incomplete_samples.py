"""Scores of rows that have all sources and of those that lack one, against fits by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from mklkit import MKLClassifier, MKLSearchCV, compare, explain
from mklkit.comparison.result_tables import shortfall
from mklkit.datasets import load_table
from mklkit.estimators.missing_sources import WARNING
from mklkit.evaluation import make_splits

SOURCES = ("profile", "fourier", "pattern")
KERNELS = [f"{name}:rbf(sigma=8)@{name}_*" for name in SOURCES]


@pytest.fixture(scope="module")
def data() -> tuple[pd.DataFrame, np.ndarray]:
    table = load_table("digits_missing")
    rows = np.flatnonzero(table.target < 4)[::3]
    columns = [name for n in SOURCES for name in table.features.filter(like=f"{n}_").columns[::8]]
    few = table.features[columns].iloc[rows].reset_index(drop=True)
    return few, table.target.to_numpy()[rows]


@pytest.fixture(scope="module")
def lacks(data: tuple[pd.DataFrame, np.ndarray]) -> np.ndarray:
    """Which rows lack each source."""
    return np.column_stack([data[0].filter(like=f"{n}_").isna().all(axis=1) for n in SOURCES])


@pytest.mark.process
def test_rows_without_a_text_lack_a_source() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["lab_1", "lab_2"])
    frame["note"] = rng.choice(["no fever today", "cough and fever", "well"], size=60)
    frame.loc[::4, "note"] = None
    frame.loc[1::4, ["lab_1", "lab_2"]] = np.nan
    kernels = ["lab:rbf@lab_*", "note:spectrum@note"]
    comparison = compare(
        frame, rng.permutation(60) % 2, kernels=kernels, methods="uniform", cv="2x1", baselines=[]
    )
    assert comparison.as_dict()["plan"]["data"][0]["rows_incomplete"] == 30
    assert any("15 of 60 samples lack note" in note for note in comparison.data[0].notes)


def test_a_kernel_on_all_columns_leaves_no_row_without_a_value() -> None:
    """A fit takes rows without the other kernel's columns, and so does a comparison."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["age", "lab_1", "lab_2"])
    frame.loc[::4, ["lab_1", "lab_2"]] = np.nan
    labels = np.where(frame["age"] > 0, "ill", "well")
    halves = [(np.arange(20), np.arange(20, 40))]
    kernels = ["linear", "linear@lab_*"]
    comparison = compare(
        frame, labels, kernels=kernels, methods="uniform", cv=halves, score="accuracy", baselines=[]
    )
    (uniform,) = (method for method in comparison.methods if method.name == "uniform")
    model = clone(uniform.pipeline).fit(frame[:20], labels[:20])
    right = (model.predict(frame[20:]) == labels[20:]).mean()
    table = comparison.table().set_index("method")
    assert table.loc["uniform", "score"] == pytest.approx(right)
    assert any("10 of 40 samples lack linear@lab_*" in note for note in comparison.data[0].notes)


def test_methods_without_failures_have_no_reason() -> None:
    # A column of reasons has NaN for methods without, if other methods have some.
    assert shortfall({"failures": 0, "reason": np.nan}) == ""
    assert "2 of 5" in shortfall({"failures": 2, "splits": 5, "reason": "too few rows"})


def splits_of(y: np.ndarray) -> list[Any]:
    return list(StratifiedKFold(3, shuffle=True, random_state=1).split(y, y))


@pytest.mark.process
def test_compare(data: Any, lacks: np.ndarray, tmp_path: Any) -> None:
    X, y = data
    settings = {"kernels": KERNELS, "learners": ["svm(C=5)"], "baselines": ["logistic regression"]}
    comparison = compare(X, y, methods="uniform", missing="present,impute", cv="2x1", **settings)
    table, lacking = comparison.table().set_index("method"), lacks.any(axis=1)
    for method in comparison.methods:
        if method.name not in ("uniform, present", "uniform, impute", "logistic regression"):
            continue
        by_split = []
        for split in make_splits(y, "2x1"):
            model = clone(method.pipeline).fit(X.iloc[split.train], y[split.train])
            right, lack = model.predict(X.iloc[split.test]) == y[split.test], lacking[split.test]
            by_split.append([right[~lack].mean(), right[lack].mean()])
        shown = table.loc[method.name, ["complete_score", "incomplete_score"]].to_numpy(float)
        np.testing.assert_allclose(shown, np.mean(by_split, axis=0))
    metadata = comparison.as_dict()
    assert metadata["plan"]["data"][0]["rows_incomplete"] == lacking.sum()
    assert metadata["tables"]["data"][0]["incomplete_score"] == table["incomplete_score"].iloc[0]
    for ending in ("html", "tex"):
        comparison.report(tmp_path / f"report.{ending}")
        assert "One lacking" in (tmp_path / f"report.{ending}").read_text(encoding="utf-8")
    few = settings | {"kernels": KERNELS[:2], "baselines": "none"}
    whole = compare(X.loc[~lacking], y[~lacking], methods="uniform", cv="2x1", **few)
    assert whole.results["incomplete_score"].isna().all()


def test_search(data: Any, lacks: np.ndarray) -> None:
    X, y = data
    base, lacking = MKLClassifier(KERNELS, combiner="uniform", learner="svm"), lacks.any(axis=1)
    grid = {"learner__C": [1.0, 10.0], "missing": ["present", "impute"]}
    for scoring in (None, "balanced_accuracy"):
        # Each class has as many rows of each kind as by chance, so the two scores differ.
        search = MKLSearchCV(base, grid, cv=splits_of(y), scoring=scoring, random_state=0).fit(X, y)
        results = search.cv_results_
        for place, point in enumerate(results["params"]):
            by_split = []
            for train, test in splits_of(y):
                model = clone(base).set_params(random_state=0, learner="svm")
                model.set_params(missing=point["missing"], learner=f"svm(C={point['learner__C']})")
                right = model.fit(X.iloc[train], y[train]).predict(X.iloc[test]) == y[test]
                parts = (~lacking[test], lacking[test])
                recalls = [[right[p & (y[test] == c)].mean() for c in np.unique(y)] for p in parts]
                of_parts = [right[part].mean() for part in parts]
                by_split.append(np.mean(recalls, axis=1) if scoring else of_parts)
            shown = [results[f"mean_test_{part}"][place] for part in ("complete", "incomplete")]
            np.testing.assert_allclose(shown, np.mean(by_split, axis=0))
    complete = MKLSearchCV(base, {"learner__C": [1.0]}, cv=2).fit(X[~lacking], y[~lacking])
    assert "mean_test_incomplete" not in complete.cv_results_


@pytest.mark.process
def test_explain_tells_what_a_source_is_worth_to_those_who_have_it(
    data: Any, lacks: np.ndarray
) -> None:
    X, y = data
    settings = {"combiner": "uniform", "learner": "svm(C=5)", "random_state": 0}
    model, splits = MKLClassifier(KERNELS, **settings).fit(X, y), splits_of(y)
    explanation = explain(model, X, y, cv=splits, score="accuracy", repeats=1, columns="sources")
    for place, row in enumerate(explanation.kernels.to_dict("records")):
        others = ~np.delete(lacks, place, axis=1).all(axis=1)
        have = others & ~lacks[:, place]
        left = [kernel for kernel in KERNELS if not kernel.startswith(row["kernel"])]
        lost = []
        for train, test in splits:
            kept, scored = train[others[train]], test[others[test]]
            whole = clone(model).fit(X.iloc[train], y[train])
            smaller = MKLClassifier(left, **settings).fit(X.iloc[kept], y[kept])
            rights = [m.predict(X.iloc[scored]) == y[scored] for m in (whole, smaller)]
            difference = rights[0].astype(float) - rights[1]
            lost.append([difference.mean(), difference[have[scored]].mean()])
        np.testing.assert_allclose([row["left_out"], row["have"]], -np.mean(lost, axis=0))
        assert row["have_rows"] == have.sum()
        assert row["have_low"] < row["have"] < row["have_high"]
        sentence = f"have it: {row['kernel']} ({have.sum()} samples have it and another): lost: "
        assert (sentence in explanation.text()) == (row["have_high"] < 0)
    # On a single split the rows beside an interval are those that it is about.
    settings = {"cv": splits[:1], "score": "accuracy", "repeats": 1, "columns": "sources"}
    single, (_, test) = explain(model, X, y, **settings), splits[0]
    others = ~np.delete(lacks, 0, axis=1).all(axis=1)
    n_have = (others & ~lacks[:, 0])[test].sum()
    assert single.kernels.loc[0, "have_rows"] == n_have
    assert f"({n_have} test samples have it and another)" in single.text()
    assert f"{lacks[:, 0].sum()} of {len(y)} samples lack profile" in explanation.text()
    assert WARNING not in explanation.text()
    means = explanation.scores[["complete_score", "incomplete_score"]].mean()
    assert means["complete_score"] > means["incomplete_score"]


@pytest.mark.process
def test_lacking_that_tells_the_class_is_a_warning(data: Any, tmp_path: Any) -> None:
    X, y = data[0].copy(), data[1] > 1
    X.loc[y, X.columns.str.startswith("pattern_")] = np.nan
    X.loc[X.isna().all(axis=1)] = 0.0
    settings = {"kernels": KERNELS, "learners": ["svm(C=5)"], "baselines": ["none"], "cv": "2x1"}
    comparison = compare(X, y, methods="uniform", also=["linear"], **settings)
    told = [note for note in comparison.data[0].notes if WARNING in note]
    assert len(told) == 1
    assert "lack pattern" in told[0]
    comparison.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert WARNING in page[: page.index("<main>")]
    model = MKLClassifier(KERNELS, combiner="uniform", learner="svm(C=5)").fit(X, y)
    explanation = explain(model, X, y, cv=2, repeats=1, columns="sources")
    assert told[0] in explanation.text()


def test_gaps_that_a_kernel_skips_are_no_lacking_source() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    ward = np.where(rng.random(80) < 0.3, None, rng.choice(["A", "B"], 80))
    X = pd.DataFrame({"x": rng.normal(size=80) + y, "ward": ward})
    model = MKLClassifier(["x:rbf@x", "w:overlap@ward"], combiner="uniform").fit(X, y)
    explanation = explain(model, X, y, cv=2, repeats=1)
    assert "have" not in explanation.kernels
    assert "incomplete" not in explanation.notes["about"].tolist()
