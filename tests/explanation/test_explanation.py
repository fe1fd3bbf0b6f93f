"""What an explanation says of data made for it, of every task, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from helpers.panels import panels
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    r2_score,
    roc_auc_score,
)
from sklearn.model_selection import KFold, StratifiedKFold
from sources import (
    FIRST_TWO,
    KERNELS,
    fitted,
    fitted_numbers,
    notes_of,
    three_numbers,
    three_sources,
)

import mklkit
from mklkit import (
    DataError,
    IncompatibleError,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    SpecError,
    explain,
)
from mklkit.evaluation.equivalence import MARGIN
from mklkit.evaluation.sentences import Unit
from mklkit.explanation import Explanation
from mklkit.explanation.meaning import judged, without_kernels
from mklkit.plotting import KernelWorthDisplay

QUICK = {"cv": 2, "repeats": 1}


ENDS = ("", "_low", "_high")


@pytest.fixture(scope="module")
def learned() -> Explanation:
    return explain(*fitted(combiner="centered-alignment"), cv=4, repeats=5)


def test_noise_is_worth_nothing_and_a_copy_can_go(learned: Explanation) -> None:
    kernels = learned.kernels.set_index("kernel")
    assert kernels["shuffled"]["scan"] < -0.1
    assert kernels["shuffled"]["copy"] < -0.1
    assert abs(kernels["shuffled"]["noise"]) < 0.02
    assert kernels["left_out"].abs().max() < 0.03
    assert kernels["weight"]["noise"] < 0.05
    assert kernels["weight"]["scan"] == pytest.approx(kernels["weight"]["copy"])


def test_a_notebook_shows_kernels_columns_and_notes(learned: Explanation) -> None:
    (panel,) = panels(learned._repr_html_())
    kernels, groups, columns = panel.tables
    assert groups[1][0] == "scan and copy"
    assert [row[0] for row in kernels[1:]] == learned.kernels["kernel"].tolist()
    for row, known in zip(kernels[1:], learned.kernels.to_dict("records"), strict=True):
        assert row[1] == f"{known['weight']:.3f} ± {known['weight_std']:.3f}"
        for cell, key in ((row[3], "alone"), (row[4], "left_out")):
            points = float(cell.partition(" ±")[0].replace("−", "-"))
            assert points == pytest.approx(100 * known[key], abs=0.06)
    assert [row[0] for row in columns[1:]] == learned.columns["group"].tolist()
    assert "\n".join(panel.notes) == learned.text()
    assert panel.paragraphs == [repr(learned)]


def test_columns_are_the_users_own(learned: Explanation) -> None:
    columns = learned.columns.set_index("group")
    assert set(columns.index[:4]) == {"scan_a", "scan_b", "copy_a", "copy_b"}
    assert columns["kernels"]["noise_a"] == ["noise"]
    assert learned.kernels["columns"][1] == ["noise_a", "noise_b"]


@pytest.mark.parametrize(
    ("combiner", "said"),
    [
        ("ifsl", ["weights of ifsl are fixed before any sample", "share in the joint prediction"]),
        ("best-single(cv=2)", ["chooses one kernel"]),
        ("cluster-gating(n_clusters=2)", ["each sample has its own weights"]),
        ("dimkl3", ["are learned from the samples"]),
    ],
)
def test_what_a_weight_does_not_say(combiner: str, said: list[str]) -> None:
    rows, labels = three_sources(40)
    learner = "svm(C=1)" if combiner in ("dimkl3", "best-single(cv=2)") else None
    kernels = ["linear@scan_*", "rbf@noise_*"]
    model = MKLClassifier(kernels, combiner=combiner, learner=learner, random_state=0)
    result = explain(model.fit(rows, labels), rows, labels, cv=2, repeats=1)
    assert all(part in notes_of(result, "weights") for part in said)
    assert result.kernels["row_spread"].notna().all() == combiner.startswith("cluster")


def test_kernels_of_different_size_are_compared_by_weight_times_size() -> None:
    rows, labels = three_sources()
    model = MKLClassifier(["linear@scan_*", "rbf@noise_*"], learner="svm(C=1)")
    result = explain(model.fit(rows, labels), rows, labels, **QUICK)
    size = (rows[["scan_a", "scan_b"]] ** 2).sum(axis=1).mean()
    assert result.kernels["size"].tolist() == pytest.approx([size, 1])
    assert result.kernels["sized_weight"][0] == pytest.approx(size / (size + 1))
    assert "differ in size" in notes_of(result, "weights")


@pytest.mark.parametrize("task", [fitted, fitted_numbers])
def test_a_model_that_guesses_has_nothing_to_explain(task: Any) -> None:
    model, rows, targets = task(KERNELS[1:2])
    mixed = np.random.default_rng(1).permutation(targets)
    result = explain(model, rows, mixed, **QUICK)
    assert "not shown to be better than guessing" in notes_of(result, "score")


def test_what_is_refused() -> None:
    model, rows, labels = fitted(KERNELS[:2])
    with pytest.raises(IncompatibleError, match="LogisticRegression has no kernels"):
        explain(LogisticRegression().fit(rows, labels), rows, labels)
    with pytest.raises(NotFittedError):
        explain(MKLClassifier(), rows, labels)
    with pytest.raises(DataError, match=r"lack column 'scan_a'.*Did you mean 'scan_aa'"):
        explain(model, rows.rename(columns={"scan_a": "scan_aa"}), labels)
    with pytest.raises(DataError):
        explain(model, rows, labels[:5])
    for wrong in ({"cv": 1}, {"repeats": 0}, {"max_rows": 1}, {"columns": "eahc"}):
        with pytest.raises(SpecError):
            explain(model, rows, labels, **wrong)


@pytest.mark.parametrize("task", [fitted, fitted_numbers])
def test_plain_values_and_a_figure(task: Any) -> None:
    mpl.use("Agg")
    explanation = explain(*task(FIRST_TWO), **QUICK)
    plain = json.loads(json.dumps(explanation.to_dict()))
    assert plain["score"] == explanation.score
    assert plain["kernels"][0]["columns"] == ["scan_a", "scan_b"]
    assert plain["alignment"]["kernels"] == ["scan", "noise"]
    display = explanation.plot()
    left, middle, right = display.axes_
    assert [label.get_text() for label in left.get_yticklabels()] == ["scan", "noise"]
    widths = [patch.get_width() for patch in left.patches]
    np.testing.assert_allclose(widths, explanation.kernels["weight"])
    gained = [patch.get_width() for patch in middle.patches]
    np.testing.assert_allclose(gained, 100 * explanation.kernels["alone"])
    changes = [patch.get_width() for patch in right.patches]
    np.testing.assert_allclose(changes, 100 * explanation.kernels["left_out"])
    label = right.get_xlabel()
    assert f"change in the score,\npoints of {explanation.unit.score}\n(lines: " in label
    # Two sources, of which one or none is shown to be needed.
    assert label.endswith(("lines: 95 to 97.5 % CI)", "lines: 97.5 % CI)"))
    assert "± SD over folds" in left.get_xlabel()
    mpl.pyplot.close(display.figure_)


def test_what_cannot_be_left_out_is_written_beside_the_diamond() -> None:
    mpl.use("Agg")
    kernels = pd.DataFrame({"kernel": ["a", "b"], "weight": 0.5, "weight_std": 0.0})
    unknown = {f"{key}{end}": np.nan for key in ("alone", "left_out") for end in ENDS}
    kernels = kernels.assign(**unknown, shuffled=[0.0, 0.2])
    display = KernelWorthDisplay(kernels).plot()
    right = display.axes_[2]
    display.figure_.draw_without_rendering()
    (diamonds,) = (line for line in right.lines if line.get_marker() == "D")
    places = right.transData.transform(diamonds.get_xydata())
    reach = 0.5 * diamonds.get_markersize() * display.figure_.dpi / 72
    words = [text.get_window_extent() for text in right.texts]
    assert len(words) == 2
    for x, y in places:
        for box in words:
            beside = box.x0 > x + reach or box.x1 < x - reach
            assert beside or box.y0 > y + reach or box.y1 < y - reach
    mpl.pyplot.close(display.figure_)


def test_sentences_follow_from_intervals() -> None:
    bounds = {
        "mrna": (0.107, -0.012, 0.226),
        "clin": (0.2, 0.1, 0.3),
        "noise": (0.002, -0.04, 0.044),
        "copy": (0.001, -0.012, 0.014),
        "harm": (-0.03, -0.05, -0.01),
    }
    columns = ["left_out", "left_out_low", "left_out_high"]
    kernels = pd.DataFrame(bounds, index=columns).T.rename_axis("kernel").reset_index()
    kernels["why_not"] = ""
    kernels["left_out_level"] = 0.95
    kernels["unadjusted"] = [[]] * len(kernels)
    unit = Unit("accuracy")
    table = judged(kernels, 100, MARGIN)
    # Half of the width, 11.9 and 4.2 points, has to be 10.7, and 2.0 - 0.2 = 1.8 points.
    assert table["rows_needed"].tolist()[:3:2] == [130, 550]
    assert list(without_kernels(table, unit)) == [
        "clin: lost: 20.0 points (95 % CI 10.0 to 30.0)",
        "mrna: inconclusive: −10.7 points without it (95 % CI −22.6 to +1.2); about 130 samples"
        " would have an even chance",
        "noise: inconclusive: −0.2 points without it (95 % CI −4.4 to +4.0); about 550 samples"
        " would have an even chance",
        "copy: not lost by more than 1.4 points (95 % CI −1.4 to +1.2)",
        "harm: not lost, better without: 3.0 points gained (95 % CI 1.0 to 5.0)",
    ]
    error = Unit("max error", 1, 2, "", is_error=True)
    assert list(without_kernels(table, error)) == [
        "clin: lost: max error rises by 0.20 (95 % CI 0.10 to 0.30)",
        "mrna: inconclusive: +0.11 in max error without it (95 % CI −0.01 to +0.23); about 130"
        " samples would have an even chance",
        "noise: inconclusive: +0.002 in max error without it (95 % CI −0.04 to +0.04); about 550"
        " samples would have an even chance",
        "copy: not lost by more than 0.01 (95 % CI −0.01 to +0.01)",
        "harm: not lost, better without: max error falls by 0.03 (95 % CI 0.01 to 0.05)",
    ]
    one_fold = kernels.head(1).assign(left_out_low=np.nan, left_out_high=np.nan)
    (sentence,) = without_kernels(judged(one_fold, 100, MARGIN), unit)
    assert "inconclusive from one split" in sentence
    withheld = kernels.assign(unadjusted=[["snp"]] * len(kernels))
    assert set(judged(withheld, 100, MARGIN)["outcome"]) == {"no verdict"}


def test_an_error_is_written_without_the_sign_by_which_it_is_ranked() -> None:
    rows, _ = three_sources()
    numbers = rows["scan_a"].to_numpy() + 10 * np.arange(len(rows)) % 7
    model = MKLRegressor(FIRST_TWO).fit(rows, numbers)
    told = explain(model, rows, numbers, score="neg_mean_absolute_error", **QUICK)
    errors = []
    for train, test in KFold(2, shuffle=True, random_state=0).split(rows):
        answers = clone(model).fit(rows.iloc[train], numbers[train]).predict(rows.iloc[test])
        errors.append(np.abs(numbers[test] - answers).mean())
    assert told.scores["score"].mean() == pytest.approx(-np.mean(errors))
    assert told.summary().startswith(f"{np.mean(errors):.4g} (")
    assert repr(told).endswith(f"mean absolute error {np.mean(errors):.4g})")
    assert told.summary().endswith("changes are in mean absolute error")


def test_uneven_classes_are_judged_by_balanced_accuracy_and_any_score_can_be_named() -> None:
    rows, _ = three_sources()
    labels = np.where(rows["scan_a"] > 1.5, "rare", "usual")
    model = MKLClassifier(FIRST_TWO, learner="svm(C=1)", class_weight="balanced")
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(rows, labels))
    usual = explain(model.fit(rows, labels), rows, labels, cv=splits, repeats=1)
    assert usual.score == "balanced_accuracy"
    assert usual.scores["guess"].tolist() == [0.5] * 3
    assert "score" not in set(usual.notes["about"])
    by_area = explain(model, rows, labels, cv=splits, score="roc_auc", repeats=1)
    areas = []
    for train, test in splits:
        fits = [
            clone(model).set_params(kernels=kernels).fit(rows.iloc[train], labels[train])
            for kernels in (FIRST_TWO, FIRST_TWO[1:])
        ]
        values = [fit.decision_function(rows.iloc[test]) for fit in fits]
        areas.append([roc_auc_score(labels[test] == "usual", value) for value in values])
    np.testing.assert_allclose(by_area.scores["score"], np.array(areas)[:, 0])
    assert by_area.kernels["left_out"][0] == pytest.approx(np.diff(areas).mean())
    with pytest.raises(SpecError, match="roc_auc"):
        explain(model, rows, labels, score="roc_acu", **QUICK)
    with pytest.raises(SpecError, match="neg_log_loss"):
        explain(model, rows, labels, score="neg_log_loss", **QUICK)


def test_folds_that_agree_show_little_on_few_rows() -> None:
    """Of 40 rows none is predicted otherwise, which may be chance where 3.7 of 40 would be."""
    rows, labels = three_sources(40)
    model = MKLClassifier([*FIRST_TWO[:1], "same:rbf@scan_*"], learner="svm(C=1)")
    kernels = explain(model.fit(rows, labels), rows, labels, **QUICK).kernels
    assert kernels["left_out"].tolist() == [0, 0]
    # Two sources are tested, so that each has half of the 5 %.
    np.testing.assert_allclose(kernels["left_out_low"], np.log(0.05 / 2) / 40)
    # None of 40 differs, and the limit shrinks with 1/n until it is two points.
    needed = -np.log(0.05 / 2) / 0.02
    assert kernels["rows_needed"].tolist() == [np.ceil(needed / 10) * 10] * 2
    assert kernels["narrowest_with"].tolist() == ["40 samples"] * 2
    assert kernels["outcome"].tolist() == ["inconclusive"] * 2


@pytest.mark.process
def test_small_data_have_repeated_folds() -> None:
    model, rows, labels = fitted(FIRST_TWO[:1])
    assert len(explain(model, rows, labels, repeats=1, columns="sources").scores) == 50
    assert len(explain(model, rows, labels, cv="2x3", repeats=1).scores) == 6


def test_what_is_shown_of_an_explanation(learned: Explanation) -> None:
    accuracy = 100 * learned.scores["accuracy"].mean()
    assert repr(learned) == f"Explanation(3 kernels, 4 folds: accuracy {accuracy:.1f} %)"
    assert learned.text().splitlines()[0].startswith("rows: refitted on 4 folds: 28 fits")
    assert len(learned.text().splitlines()) == len(learned.notes)
    numbers = explain(*fitted_numbers(FIRST_TWO), **QUICK)
    assert f"R² {numbers.scores['r2'].mean():.3f}" in repr(numbers)
    assert numbers.summary().endswith("points of R²: 1 point is 0.01")


@pytest.mark.process
def test_several_targets_are_scored_by_their_mean() -> None:
    rows, numbers = three_numbers()
    both = np.column_stack([numbers, rows["noise_a"]])
    model = MKLRegressor(FIRST_TWO, combiner="centered-alignment", learner="ridge(alpha=0.1)")
    train, test = np.arange(80), np.arange(80, 120)
    result = explain(model.fit(rows, both), rows, both, cv=[(train, test)], repeats=1)
    by_hand = clone(model).fit(rows.iloc[train], both[train])
    expected = r2_score(both[test], by_hand.predict(rows.iloc[test]))
    np.testing.assert_allclose(result.scores["r2"], expected, rtol=1e-9)
    np.testing.assert_allclose(result.kernels["weight"], by_hand.weights_.mean(axis=0), rtol=1e-9)
    with pytest.raises(DataError, match=r"\(120, 2\)"):
        explain(model, rows, numbers)


def test_folds_and_samples_of_numbers() -> None:
    model, rows, numbers = fitted_numbers(FIRST_TWO)
    result = explain(model, rows, numbers, cv=5, repeats=1, max_rows=8)
    assert "8 samples of 120, drawn at random" in notes_of(result, "rows")
    assert result.scores["rows"].tolist() == [2, 2, 2, 2]
    rare = np.where(np.arange(120) < 3, numbers, 0.0)
    with pytest.raises(DataError, match="fold 0"):
        explain(model, rows, rare, cv=[(np.arange(60), np.arange(60, 120))])


def test_outliers_are_scored_by_the_area_under_the_curve() -> None:
    rows, _ = three_sources()
    odd = np.arange(120) % 6 == 0
    rows.loc[odd, ["scan_a", "scan_b"]] += 6.0
    truth = np.where(odd, "outlier", "inlier")
    model = MKLOneClass(FIRST_TWO, learner="one-class-svm(nu=0.2)")
    splits = list(StratifiedKFold(2, shuffle=True, random_state=0).split(rows, truth))
    result = explain(model.fit(rows), rows, truth, cv=splits, repeats=1)
    areas = []
    for train, test in splits:
        values = clone(model).fit(rows.iloc[train]).decision_function(rows.iloc[test])
        areas.append(roc_auc_score(~odd[test], values))
    np.testing.assert_allclose(result.scores["score"], areas)
    assert result.unit.score == "roc auc"
    assert result.kernels["left_out"][0] < result.kernels["left_out"][1]
    with pytest.raises(DataError, match="'outlier' for some"):
        explain(model, rows, odd)


def test_models_that_predict_nothing_are_refused() -> None:
    rows, numbers = three_numbers(40)
    with pytest.raises(IncompatibleError, match="no score"):
        explain(mklkit.MKLTransformer("linear").fit(rows), rows, numbers)


def test_a_fold_of_one_class_counts_in_fits_without_a_kernel_too() -> None:
    """As in the score of all kernels: six of nine groups have one class each."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(9), 10)
    y = np.where(groups < 3, 1, np.where(groups < 6, 0, np.arange(90) % 2))
    X = rng.normal(size=(90, 2)) + np.outer(y, [1.0, 0.7])
    X[groups < 6, 0] += np.where(y[groups < 6] == 1, 2, -2)
    kernels = ["a:linear@0:1", "b:linear@1:2"]
    model = MKLClassifier(kernels, learner="svm(C=1)").fit(X, y, groups=groups)
    settings = {"cv": "groups", "groups": groups, "repeats": 1, "score": "accuracy"}
    explained = explain(model, X, y, **settings).kernels
    shares = []
    for group in range(9):
        train, test = groups != group, groups == group
        fits = [
            MKLClassifier(names, learner="svm(C=1)").fit(X[train], y[train])
            for names in (kernels, kernels[1:])
        ]
        shares.append([fit.score(X[test], y[test]) for fit in fits])
    whole, alone = np.mean(shares, axis=0)
    assert explained.loc[0, "left_out"] == pytest.approx(alone - whole)
    assert explained.loc[1, "alone_score"] == pytest.approx(alone)


def test_rows_of_a_group_are_never_on_both_sides() -> None:
    rng = np.random.default_rng(0)
    patients = np.repeat(np.arange(40), 3)
    rows = np.repeat(rng.normal(size=(40, 3)), 3, axis=0)
    y = np.repeat(rng.permutation(np.arange(40) % 2), 3)
    model = MKLClassifier(["rbf(sigma=0.1)", "linear"]).fit(rows, y)
    settings = {"cv": 5, "repeats": 1, "score": "accuracy", "random_state": 0}
    known = explain(model, rows, y, **settings).scores["score"].mean()
    apart = explain(model, rows, y, groups=patients, **settings).scores["score"].mean()
    # The labels are random: what is right without groups was seen in training.
    assert known > 0.8
    assert apart < 0.7
