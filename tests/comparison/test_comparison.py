"""``mklkit.compare``: scores, statistics, failures, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from helpers.panels import panels
from scipy import stats
from sklearn import ensemble
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit import Comparison, MKLClassifier, compare
from mklkit.comparison.data import data_sets
from mklkit.errors import DataError, UnknownNameError
from mklkit.evaluation.study import Roles

WINES, CLASSES = load_wine(return_X_y=True, as_frame=True)
X, Y = WINES.iloc[30:90, 1:5].reset_index(drop=True), np.array(["a", "b"])[CLASSES[30:90]]
"""60 rows of two overlapping wines."""


@pytest.fixture(scope="module", autouse=True)
def few_trees() -> None:
    """Keep the forest small: these tests are not about it."""
    small = ensemble.RandomForestClassifier
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            ensemble, "RandomForestClassifier", lambda **rest: small(5, max_depth=2, **rest)
        )
        patch.setattr(ensemble, "HistGradientBoostingClassifier", lambda **_: GaussianNB())
        yield


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return compare(
        X,
        Y,
        methods=["alignment", ("counts", MultinomialNB())],
        kernels=["linear", "rbf", "linear"],
        learners=["svm(C=1.0)"],
        cv="2x2",
    )


@pytest.mark.process
def test_scores_are_scikit_learns(compared: Comparison) -> None:
    splitter = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    kernel = make_pipeline(StandardScaler(), MKLClassifier(["linear"], learner="svm(C=1.0)"))
    results = compared.results.set_index(["method", "repeat", "fold"])
    codes = np.unique(Y, return_inverse=True)[1]
    for place, (train, test) in enumerate(splitter.split(X, codes)):
        model.fit(X.iloc[train], Y[train])
        row = results.loc[("logistic regression", *divmod(place, 2))]
        proba = model.predict_proba(X.iloc[test])
        assert row["accuracy"] == model.score(X.iloc[test], Y[test])
        assert np.isclose(
            row["balanced_accuracy"], balanced_accuracy_score(Y[test], model.predict(X.iloc[test]))
        )
        assert np.isclose(row["log_loss"], log_loss(Y[test], proba))
        assert np.isclose(row["auc"], roc_auc_score(Y[test], proba[:, 1]))
        assert (row["n_train"], row["n_test"]) == (len(train), len(test))
        kernel.fit(X.iloc[train], Y[train])
        row = results.loc[("linear", *divmod(place, 2))]
        assert row["accuracy"] == kernel.score(X.iloc[test], Y[test])
        assert np.isnan(row["log_loss"])


def test_table_by_hand(compared: Comparison) -> None:
    table = compared.table().set_index("method")
    scores = compared.results.pivot(index=["repeat", "fold"], columns="method", values="accuracy")
    means = scores.mean().sort_values()
    best = table.index[0]
    assert table["accuracy"].iloc[0] == pytest.approx(means.max())
    n = compared.results.groupby(["repeat", "fold"])[["n_test", "n_train"]].first()
    factor = 1 / len(scores) + (n["n_test"] / n["n_train"]).mean()
    plain = {}
    for name in scores.columns[scores.notna().all()].drop(best):
        differences = scores[name] - scores[best]
        assert table.loc[name, "deviation"] == pytest.approx(scores[name].std(ddof=1))
        assert table.loc[name, "difference"] == pytest.approx(differences.mean())
        paired = stats.ttest_rel(scores[name], scores[best])
        assert table.loc[name, "p_paired"] == pytest.approx(paired.pvalue)
        corrected = paired.statistic / np.sqrt(factor * len(scores))
        plain[name] = 2 * stats.t.sf(abs(corrected), len(scores) - 1)
    # Holm: the i-th smallest of m times m − i + 1, and none below a smaller one.
    least = 0.0
    for place, name in enumerate(sorted(plain, key=plain.__getitem__)):
        least = max(least, min(1, (len(plain) - place) * plain[name]))
        assert table.loc[name, "p_corrected"] == pytest.approx(least)
    assert least > 0
    assert table["p_corrected"].count() == len(plain)
    assert np.isnan(table.loc[best, "p_corrected"])


def test_planned_questions_by_hand(compared: Comparison) -> None:
    asked = compared.questions[["question", "method", "reference"]].to_numpy().tolist()
    assert asked[:2] == [
        ["Learned weights", "alignment", "uniform"],
        ["All kernels or the best one", "uniform", "best-single"],
    ]
    rivals = compared.results.query("kind in ['baseline', 'classifier']")
    means = rivals.groupby("method")["score"].agg(lambda scores: scores.mean(skipna=False))
    # Those before it in the list of equal ones; "counts" fails on all splits and is no choice.
    assert asked[2][:2] == ["Kernels or other classifiers", "alignment"]
    assert means[asked[2][2]] == means.max()
    assert compared.questions["choices"].tolist() == [1, 1, means.notna().sum()]
    scores = compared.results.pivot(index=["repeat", "fold"], columns="method", values="accuracy")
    n = compared.results.groupby(["repeat", "fold"])[["n_test", "n_train"]].first()
    factor = 1 / len(scores) + (n["n_test"] / n["n_train"]).mean()
    for test in compared.questions.to_dict("records"):
        differences = scores[test["method"]] - scores[test["reference"]]
        assert test["difference"] == pytest.approx(differences.mean())
        error = np.sqrt(factor * differences.var(ddof=1))
        half = stats.t.ppf((1 + test["level"]) / 2, len(scores) - 1) * error
        ends = differences.mean() + half * np.array([-1, 1])
        assert [test["low"], test["high"]] == pytest.approx(ends)
    lines = compared.verdict.splitlines()
    assert [line.partition(":")[0] for line in lines] == [title for title, *_ in asked]
    assert compared.as_dict()["questions"][0]["p_holm"] == compared.questions["p_holm"][0]


@pytest.mark.process
def test_each_learner_has_its_references_and_questions() -> None:
    comparison = compare(
        X,
        Y,
        methods=["alignment"],
        kernels=["linear@0:2", "rbf@2:4"],
        learners=["ridge", "svm(C=1.0)"],
        cv="2x1",
        reference="rbf@2:4 + ridge",
    )
    table = comparison.table().set_index("method")
    names = ("alignment", "uniform", "linear@0:2", "rbf@2:4", "best-single", "rbf on all columns")
    for learner in ("ridge", "svm(C=1.0)"):
        assert (table.loc[[f"{name} + {learner}" for name in names], "learner"] == learner).all()
        asked = comparison.questions[comparison.questions["method"].str.endswith(f" + {learner}")]
        beside = ["uniform", "best-single", "rbf on all columns"]
        assert set(asked["reference"]) >= {f"{name} + {learner}" for name in beside}
    assert len(comparison.questions) == 7
    assert comparison.as_dict()["tables"][comparison.data[0].name][0].keys() >= {
        "method",
        "learner",
    }
    scores = comparison.results.pivot(index="fold", columns="method", values="accuracy")
    for name in table.index:
        expected = (scores[name] - scores["rbf@2:4 + ridge"]).mean()
        assert table.loc[name, "difference"] == pytest.approx(expected)
    assert np.isnan(table.loc["rbf@2:4 + ridge", "p_corrected"])
    with pytest.raises(UnknownNameError, match="Did you mean 'uniform'"):
        compare(X, Y, methods="alignment", reference="unifrom")


@pytest.mark.process
def test_a_kernel_that_is_not_combined() -> None:
    settings: dict[str, Any] = {"methods": [], "learners": ["ridge"], "cv": "2x1"}
    alone = compare(X, Y, kernels=["rbf"], **settings).results
    comparison = compare(X, Y, kernels=["linear"], also="all:rbf", **settings)
    beside = comparison.results.query("method == 'all:rbf'")["accuracy"].tolist()
    assert beside == alone.query("method == 'rbf'")["accuracy"].tolist()
    question = comparison.questions.iloc[0]
    assert (question["method"], question["reference"]) == ("linear", "all:rbf")


def test_cells_have_what_reports_show(compared: Comparison) -> None:
    cells = [cell for cell in compared.cells if cell.method == "alignment"]
    assert all(sum(cell.weights.values()) == pytest.approx(1) for cell in cells)
    assert set(cells[0].weights) == {"linear", "rbf", "linear #2"}
    assert sum(np.sum(cell.details["confusion"]) for cell in cells) == 2 * 60
    cell = next(cell for cell in compared.cells if cell.method == "logistic regression")
    bins, confusion = cell.details["calibration"], cell.details["confusion"]
    assert sum(bins["rows"]) == cell.n_test
    assert sum(bins["hits"]) == sum(confusion[1])  # rows of the second class
    failed = compared.table().set_index("method").loc["counts"]
    assert (failed["splits"], failed["failures"]) == (4, 4)
    assert "Negative values" in failed["reason"]
    assert np.isnan(failed["accuracy"])


def test_best_estimator_is_the_method_on_all_rows(compared: Comparison) -> None:
    assert compared.best_method.kind == "method"
    model = compared.best_estimator_
    assert model.predict(X).shape == (60,)
    assert model[-1].combiner == compared.best_method.name


def test_names_in_files_are_harmless(compared: Comparison, tmp_path: Path) -> None:
    compared.report(tmp_path / "a.tex")
    text = (tmp_path / "a.tex").read_text()
    assert text.count(r"\\") == 2 + len(compared.questions) + len(compared.methods)
    assert "linear \\#2" in text
    named = attrs.evolve(compared, cells=[attrs.evolve(compared.cells[0], method="=1+1")])
    named.report(tmp_path / "a.csv")
    assert ",'=1+1," in (tmp_path / "a.csv").read_text(encoding="utf-8")


@pytest.mark.process
def test_several_data_sets() -> None:
    sets = {f"set {i}": (X.iloc[:, i:], Y) for i in range(3)}
    comparison = compare(
        sets, methods=[("bayes", GaussianNB())], kernels="linear", learners=["svm(C=1.0)"], cv="2x1"
    )
    assert comparison.best_method.kind == "one kernel"  # not "bayes"
    table = comparison.table().set_index("method")
    scores = comparison.results.pivot_table(index="data", columns="method", values="accuracy")
    expected = scores.rank(axis=1, ascending=False).mean()
    for name, rank in expected.items():
        assert table.loc[name, "rank"] == pytest.approx(rank)
    assert comparison.ranking["friedman"]["p_value"] <= 1
    # The stand-in for boosting is the same as "bayes", which is a row once.
    assert len(comparison.table("set 1")) == 4
    with pytest.raises(DataError, match="single best estimator"):
        _ = comparison.best_estimator_


def test_proposed_kernels_are_those_of_each_split() -> None:
    settings: dict[str, Any] = {"kernels": "auto", "learners": ["svm(C=1.0)"], "cv": "2x1"}
    comparison = compare(X, Y, methods=["dimkl[5]"], **settings)
    accuracy = comparison.results.query("method == 'uniform' and fold == 0")["accuracy"].item()
    splitter = RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=0)
    train, test = next(iter(splitter.split(X, Y)))
    model = make_pipeline(
        StandardScaler().set_output(transform="pandas"),
        MKLClassifier("auto", combiner="uniform", learner="svm(C=1.0)", random_state=0),
    )
    assert accuracy == model.fit(X.iloc[train], Y[train]).score(X.iloc[test], Y[test])
    singles = comparison.results.query("kind == 'one kernel'")["method"].unique()
    assert list(singles) == ["best-single"]


def test_published_split_leaves_its_column_out() -> None:
    part = np.where(np.arange(60) % 4 == 0, "test", "train")
    comparison = compare(X.assign(part=part), Y, methods=[], kernels="linear", split_column="part")
    assert comparison.results["n_test"].unique().tolist() == [15]
    assert "part" not in comparison.data[0].features
    assert "with 15 samples" in comparison.verdict
    assert "McNemar's exact test" in comparison.how[0]
    assert comparison.table()[["low", "high", "difference"]].notna().all(axis=None)


def test_the_figure_has_a_row_per_method(compared: Comparison) -> None:
    display = compared.plot()
    shown = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert shown == [name for name in compared.table()["method"] if name != "counts"]


def test_what_a_notebook_shows_is_short(compared: Comparison) -> None:
    table = compared.table()
    best = table[table["failures"] == 0].iloc[0]
    accuracy = f"best {best['method']} {100 * best['accuracy']:.1f} %)"
    n_splits = len(compared.results[["repeat", "fold"]].drop_duplicates())
    start = f"Comparison({len(table)} methods, {n_splits} splits of {compared.data[0].name}: "
    assert repr(compared) == start + accuracy
    (panel,) = panels(compared._repr_html_())
    ((head, *rows),) = panel.tables
    assert head[-2:] == ["p corrected Holm", "Fit"]
    for row, known in zip(rows, table.to_dict("records"), strict=True):
        assert row[0] == known["method"]
        if known["failures"] == 0:
            assert row[2].startswith(f"{100 * known['accuracy']:.1f} ± ")
    failed = table.loc[table["failures"] > 0, "method"]
    lines = [repr(compared), *compared.verdict.splitlines()]
    assert panel.paragraphs[: len(lines)] == lines
    after = panel.paragraphs[len(lines) :]
    assert [line.partition(" failed")[0] for line in after] == failed.tolist()
    assert len(repr(compared.methods[0])) < 100
    none_yet = attrs.evolve(compared, cells=[], complete=False)
    assert "no run finished" in repr(none_yet)
    assert panels(none_yet._repr_html_())[0].paragraphs == [repr(none_yet)]


def test_of_several_data_sets_a_notebook_shows_ranks(compared: Comparison) -> None:
    twice = [attrs.evolve(cell, data="again") for cell in compared.cells]
    margins = {"again": 0.02, **compared.plan["margins"]}
    both = attrs.evolve(
        compared,
        cells=[*compared.cells, *twice],
        plan={**compared.plan, "margins": margins},
        notes=["<b>odd</b>"],
    )
    (panel,) = panels(both._repr_html_())
    ((head, *rows),) = panel.tables
    assert head[2] == "Rank"
    assert [float(row[2]) for row in rows if row[2] != "–"] == pytest.approx(
        both.table()["rank"].dropna().tolist(), abs=6e-3
    )
    assert panel.notes == ["<b>odd</b>"]


def test_a_frame_may_hold_its_target() -> None:
    (plain,) = data_sets(X, Y, Roles())
    (held,) = data_sets(X.assign(kind=Y), None, Roles(target="kind"))
    assert held.fingerprint() == plain.fingerprint()
    with pytest.raises(DataError, match="got DataFrame"):
        data_sets(X, None, Roles())
    with pytest.raises(DataError, match="Did you mean 'kind'"):
        data_sets(X.assign(kind=Y), None, Roles(target="kindd"))
