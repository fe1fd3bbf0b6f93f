"""What an explanation finds is what data made for it contain, and what fits by hand give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import attrs
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from panels import panels
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sources import (
    FIRST_TWO,
    KERNELS,
    fitted,
    fitted_numbers,
    notes_of,
    three_numbers,
    three_sources,
)

from mklkit import (
    DataError,
    IncompatibleError,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLSearchCV,
    MKLTransformer,
    MKLVotingClassifier,
    RPEMEKLClassifier,
    SpecError,
    TableEncoder,
    explain,
)
from mklkit.combiners.uniform import Uniform
from mklkit.explanation import Explanation
from mklkit.explanation.effects import effects_table
from mklkit.explanation.meaning import Unit, judged, without_kernels
from mklkit.plotting import KernelWorthDisplay
from mklkit.plugin import CombinerFacts

SAME_AS_LINEAR = "polynomial(degree=1, coef0=0)"
QUICK = {"cv": 2, "repeats": 1}


@pytest.fixture(scope="module")
def learned() -> Explanation:
    return explain(*fitted(combiner="centered-alignment"), cv=4, repeats=5)


def test_noise_is_worth_nothing_and_a_copy_can_go(learned: Explanation) -> None:
    kernels = learned.kernels.set_index("kernel")
    assert kernels["shuffled"]["scan"] > 0.1
    assert kernels["shuffled"]["copy"] > 0.1
    assert abs(kernels["shuffled"]["noise"]) < 0.02
    assert kernels["left_out"].abs().max() < 0.03
    assert kernels["weight"]["noise"] < 0.05
    assert kernels["weight"]["scan"] == pytest.approx(kernels["weight"]["copy"])


def test_a_notebook_shows_kernels_columns_and_notes(learned: Explanation) -> None:
    (panel,) = panels(learned._repr_html_())
    kernels, columns = panel.tables
    assert [row[0] for row in kernels[1:]] == learned.kernels["kernel"].tolist()
    for row, known in zip(kernels[1:], learned.kernels.to_dict("records"), strict=True):
        assert row[1] == f"{known['weight']:.3f} ± {known['weight_std']:.3f}"
        lost = float(row[3].partition(" ±")[0].replace("−", "-"))
        assert lost == pytest.approx(100 * known["left_out"], abs=0.06)
    assert [row[0] for row in columns[1:]] == learned.columns["group"].tolist()
    assert "\n".join(panel.notes) == learned.text()
    assert panel.paragraphs == [repr(learned)]


def test_columns_are_the_users_own(learned: Explanation) -> None:
    columns = learned.columns.set_index("group")
    assert set(columns.index[:4]) == {"scan_a", "scan_b", "copy_a", "copy_b"}
    assert columns["kernels"]["noise_a"] == ["noise"]
    assert learned.kernels["columns"][1] == ["noise_a", "noise_b"]


@pytest.mark.parametrize(
    ("task", "scores"),
    [
        (fitted, {"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score}),
        (fitted_numbers, {"r2": r2_score, "mean_absolute_error": mean_absolute_error}),
    ],
)
def test_weights_scores_and_losses_are_those_of_fits_by_hand(task: Any, scores: Any) -> None:
    model, rows, targets = task(combiner="centered-alignment")
    splits = list(KFold(3, shuffle=True, random_state=1).split(rows))
    result = explain(model, rows, targets, cv=splits, repeats=1)
    weights, by_score = [], {name: [] for name in scores}
    for train, test in splits:
        whole = clone(model).fit(rows.iloc[train], targets[train])
        two = clone(model).set_params(kernels=KERNELS[1:]).fit(rows.iloc[train], targets[train])
        weights.append(whole.weights_[0])
        for name, score in scores.items():
            answers = [fit.predict(rows.iloc[test]) for fit in (whole, two)]
            by_score[name].append([score(targets[test], answer) for answer in answers])
    kernels = result.kernels
    np.testing.assert_allclose(kernels["weight"], np.mean(weights, axis=0))
    np.testing.assert_allclose(kernels["weight_std"], np.std(weights, axis=0, ddof=1))
    np.testing.assert_allclose(kernels["weight_max"], np.max(weights, axis=0))
    for name, values in by_score.items():
        np.testing.assert_allclose(result.scores[name], np.array(values)[:, 0])
    first = -np.diff(by_score[result.score])[:, 0]
    assert kernels["left_out"][0] == pytest.approx(first.mean())
    assert kernels["left_out_std"][0] == pytest.approx(first.std(ddof=1))
    assert result.n_fits == 3 * (1 + 3)


def test_shuffling_is_scikit_learns_permutation_importance() -> None:
    rows, labels = three_sources()
    rows = rows[["scan_a", "scan_b"]]
    train, test = np.arange(60), np.arange(60, 120)
    model = MKLClassifier(["rbf", "linear@scan_a"], learner="svm(C=1)").fit(rows, labels)
    result = explain(model, rows, labels, cv=[(train, test)], repeats=150)
    refitted = clone(model).fit(rows.iloc[train], labels[train])
    peer = permutation_importance(
        refitted, rows.iloc[test], labels[test], n_repeats=80, random_state=3
    )
    columns = result.columns.set_index("group")["shuffled"]
    np.testing.assert_allclose(columns[rows.columns], peer.importances_mean, atol=0.015)


def test_a_category_is_shuffled_before_it_is_encoded() -> None:
    ward = np.tile(["north", "south", "west", "west"], 20)
    rows = pd.DataFrame({"ward": ward, "age": np.random.default_rng(0).normal(size=80)})
    labels = ward == "west"
    kernels = ["ward:linear@ward_*", "age:rbf@age"]
    model = make_pipeline(TableEncoder(), MKLClassifier(kernels, learner="svm(C=1)"))
    train, test = np.arange(40), np.arange(40, 80)
    result = explain(model.fit(rows, labels), rows, labels, cv=[(train, test)], repeats=100)
    assert result.scores["accuracy"][0] == 1
    # A permutation that exchanges whole values errs for rows of another class: half of them.
    assert result.kernels["shuffled"][0] == pytest.approx(0.5, abs=0.03)
    assert result.columns["group"].tolist() == ["ward", "age"]


@pytest.mark.parametrize(
    ("combiner", "said"),
    [
        ("ifsl", ["weights of ifsl are fixed before any row", "share in the joint prediction"]),
        ("best-single(cv=2)", ["chooses one kernel"]),
        ("cluster-gating(n_clusters=2)", ["each row has its own weights"]),
        ("dimkl3", ["are learned from the rows"]),
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


@attrs.frozen
class Pair(Uniform):
    """Two kernels, no more and no fewer."""

    name: ClassVar[str] = "pair"
    facts: ClassVar[CombinerFacts] = CombinerFacts(n_kernels=2)


@pytest.mark.parametrize(
    ("kernels", "settings", "why"),
    [
        (KERNELS[:1], {}, "there is one kernel"),
        (KERNELS[:2], {"combiner": Pair()}, "pair takes exactly 2 kernels"),
        (KERNELS, {"combiner": "ifsl(weights=[1, 2, 3])", "learner": "mhks"}, "weights"),
    ],
)
def test_kernels_that_cannot_be_left_out(kernels: Any, settings: Any, why: str) -> None:
    result = explain(*fitted(kernels, **settings), cv=2, repeats=1)
    assert result.kernels["left_out"].isna().all()
    assert result.kernels["why_not"].str.contains(why).all()
    assert f"not possible, {result.kernels['why_not'][0]}" in notes_of(result, "left out")


def test_without_a_kernel_the_others_keep_their_columns() -> None:
    """A kernel that names no columns must not fall onto those of the one that is left out."""
    rows, labels = three_sources(60)
    dna = np.where(labels == "ill", "ACGTACGT", "TTGCATGC")
    ward = np.where(np.arange(60) % 3 == 0, "north", "south")
    grade = pd.Series(np.arange(60) % 4 + 1.0).where(np.arange(60) % 5 > 0)
    rows = rows[["scan_a", "noise_a"]].assign(dna=dna, ward=ward, grade=grade)
    kernels = ["seq:spectrum@dna", "who:overlap@ward", "stage:overlap@grade", "all:rbf"]
    model = MKLClassifier(kernels, learner="svm(C=1)").fit(rows, labels)
    folds = list(StratifiedKFold(2, shuffle=True, random_state=0).split(rows, labels))
    result = explain(model, rows, labels, cv=folds, repeats=1, columns={"dna": "dna"})
    assert result.kernels["why_not"].tolist() == [""] * 4
    explicit = MKLClassifier([*kernels[1:3], "all:rbf@scan_a,noise_a"], learner="svm(C=1)")
    by_hand = []
    for train, scored in folds:
        whole, smaller = (
            clone(kept_model)
            .fit(rows[names].iloc[train], labels[train])
            .score(rows[names].iloc[scored], labels[scored])
            for kept_model, names in (
                (model, list(rows)),
                (explicit, list(rows.columns.drop("dna"))),
            )
        )
        by_hand.append(whole - smaller)
    assert result.kernels["left_out"][0] == pytest.approx(np.mean(by_hand))


def test_a_matrix_is_that_of_the_model_and_not_of_its_file(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """A path may come from a model file of somebody else: nothing is opened there."""
    rows, labels = three_sources(40)
    path = tmp_path / "graph.npy"
    np.save(path, rows.to_numpy() @ rows.to_numpy().T)
    kernels = [f"precomputed(path={str(path)!r})@id", "rbf@scan_a"]
    rows = rows.assign(id=np.arange(40))
    model = MKLClassifier(kernels, learner="svm(C=1)").fit(rows, labels)
    opened: list[str] = []
    monkeypatch.setattr("mklkit.kernels.precomputed._loaded", opened.append)
    result = explain(model, rows, labels, cv=2, repeats=1)
    assert result.kernels["left_out"].notna().all()
    assert not opened


@pytest.mark.slow
def test_a_search_is_not_repeated() -> None:
    rows, labels = three_sources(60)
    grid = {"combiner__lam": [0.25, 4.0], "learner__alpha": [0.5]}
    ours = MKLSearchCV(MKLClassifier(KERNELS, combiner="ifsl"), grid, cv=2, random_state=0)
    combiners = {"combiner": ["uniform", "dimkl3"]}
    theirs = GridSearchCV(MKLClassifier(KERNELS, learner="svm(C=1)"), combiners, cv=2)
    for search in (ours, theirs):
        search.fit(rows, labels)
        plain = clone(search.best_estimator_).fit(rows, labels)
        of_search, other = (
            explain(model, rows, labels, cv=2, repeats=1) for model in (search, plain)
        )
        pd.testing.assert_frame_equal(of_search.kernels, other.kernels)
        assert of_search.n_fits == 2 * (1 + 3)


@pytest.mark.slow
def test_votes() -> None:
    rows, labels = three_sources(60)
    member = MKLClassifier(KERNELS, feature_map="empirical(subset=20)", learner="mhks")
    vote = MKLVotingClassifier(member, n_members=2, random_state=0).fit(rows, labels)
    result = explain(vote, rows, labels, cv=2, repeats=1)
    assert result.kernels["kernel"].tolist() == ["scan", "noise", "copy"]
    ensemble = RPEMEKLClassifier(KERNELS, subset=10, n_members=2, random_state=0)
    result = explain(ensemble.fit(rows, labels), rows, labels, cv=2, repeats=1)
    assert "fixed" in notes_of(result, "weights")


def test_kernels_on_all_columns_share_them() -> None:
    result = explain(*fitted(["linear", "rbf", "scan:rbf@scan_*"]), **QUICK)
    assert result.kernels["shuffled"].isna().tolist() == [True, True, False]
    assert "linear, rbf: all columns in use are read" in notes_of(result, "shuffled")
    assert "scan: columns are shared with other kernels" in notes_of(result, "shuffled")


def test_groups_of_columns() -> None:
    model, rows, labels = fitted([*KERNELS[:2], "rbf@scan_a,copy_*"])
    by_source = explain(model, rows, labels, columns="sources", **QUICK)
    assert set(by_source.columns["group"]) == {"noise", "scan_a", "scan_b", "copy_a, copy_b"}
    named = explain(model, rows, labels, columns={"first": "*_a", "rest": ["scan_b"]}, **QUICK)
    columns = named.columns.set_index("group")
    assert columns["columns"]["first"] == ["scan_a", "noise_a", "copy_a"]
    assert columns["kernels"]["rest"] == ["scan"]


def test_columns_that_cannot_be_traced_are_shuffled_one_by_one() -> None:
    rows, labels = three_sources()
    model = make_pipeline(PCA(2), MKLClassifier(["linear", "rbf"], learner="svm(C=1)"))
    result = explain(model.fit(rows, labels), rows, labels, **QUICK)
    assert "can't be traced" in notes_of(result, "shuffled")
    assert len(result.columns) == 6
    assert result.kernels["columns"].isna().all()


def test_rows_without_names_and_more_than_are_used() -> None:
    rows, labels = three_sources()
    kernels = [("one", "rbf", [0, 1]), "linear"]
    model = make_pipeline(StandardScaler(), MKLClassifier(kernels, learner="svm(C=1)"))
    model.fit(rows.to_numpy(), labels)
    result = explain(model, rows.to_numpy(), labels, max_rows=50, **QUICK)
    assert "50 rows of 120" in notes_of(result, "rows")
    assert result.scores["rows"].sum() == 50
    assert result.kernels["columns"][0] == ["0", "1"]
    again = explain(model, rows.to_numpy(), labels, max_rows=50, **QUICK)
    pd.testing.assert_frame_equal(result.kernels, again.kernels)


@pytest.mark.parametrize("task", [fitted, fitted_numbers])
def test_a_model_that_guesses_has_nothing_to_explain(task: Any) -> None:
    model, rows, targets = task(KERNELS[1:2])
    mixed = np.random.default_rng(1).permutation(targets)
    result = explain(model, rows, mixed, **QUICK)
    assert "not shown to be better than guessing" in notes_of(result, "rows")


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
    left, right = display.axes_
    assert [label.get_text() for label in left.get_yticklabels()] == ["scan", "noise"]
    widths = [patch.get_width() for patch in left.patches]
    np.testing.assert_allclose(widths, explanation.kernels["weight"])
    lost = [patch.get_width() for patch in right.patches]
    np.testing.assert_allclose(lost, 100 * explanation.kernels["left_out"])
    assert f"points of {explanation.unit.score} lost" in right.get_xlabel()
    mpl.pyplot.close(display.figure_)


def test_what_cannot_be_left_out_is_written_beside_the_diamond() -> None:
    mpl.use("Agg")
    kernels = pd.DataFrame({"kernel": ["a", "b"], "weight": 0.5, "weight_std": 0.0})
    kernels = kernels.assign(left_out=np.nan, left_out_std=np.nan, shuffled=[0.0, 0.2])
    display = KernelWorthDisplay(kernels).plot()
    right = display.axes_[1]
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


@pytest.mark.parametrize("searched", [False, True])
def test_kernels_that_the_model_proposed_are_not_proposed_again(searched: bool) -> None:
    rows, labels = three_sources(60)
    # A category that some folds lack, so that the places of columns differ.
    rows.insert(0, "site", ["north", "south", "west"] * 19 + ["far", "north", "south"])
    steps = make_pipeline(TableEncoder(), MKLClassifier("auto", learner="svm(C=1)"))
    grid = {"mklclassifier__combiner": ["uniform", "dimkl3"]}
    model = GridSearchCV(steps, grid, cv=2) if searched else steps
    model.fit(rows, labels)
    result = explain(model, rows, labels, cv=3, repeats=1)
    fitted_one = (model.best_estimator_ if searched else model)[-1]
    assert result.kernels["kernel"].tolist() == fitted_one.kernel_names_
    assert result.weights["kernel"].tolist() == 3 * fitted_one.kernel_names_
    assert result.n_fits == 3 * (1 + len(fitted_one.kernel_names_))
    assert result.kernels["left_out"].notna().all()
    assert "the bank was not proposed again" in notes_of(result, "rows")


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
    unit = Unit("accuracy")
    table = judged(kernels, 100, unit.little)
    # Half of the width, 11.9 and 4.2 points, has to be 10.7, and 2.0 - 0.2 = 1.8 points.
    assert table["rows_needed"].tolist()[:3:2] == [130, 550]
    assert list(without_kernels(table, unit)) == [
        "clin: lost: 20.0 points (10.0 to 30.0)",
        "mrna: can't tell: 10.7 points lost (-1.2 to 22.6); about 130 rows would settle it",
        "noise: can't tell: 0.2 points lost (-4.0 to 4.4); about 550 rows would settle it",
        "copy: not lost by more than 1.4 points",
        "harm: not lost, better without: -3.0 points lost (-5.0 to -1.0)",
    ]
    one_fold = kernels.head(1).assign(left_out_low=np.nan, left_out_high=np.nan)
    (sentence,) = without_kernels(judged(one_fold, 100, unit.little), unit)
    assert "can't tell from one fold" in sentence


def test_uneven_classes_are_judged_by_balanced_accuracy_and_any_score_can_be_named() -> None:
    rows, _ = three_sources()
    labels = np.where(rows["scan_a"] > 1.5, "rare", "usual")
    model = MKLClassifier(FIRST_TWO, learner="svm(C=1)", class_weight="balanced")
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(rows, labels))
    usual = explain(model.fit(rows, labels), rows, labels, cv=splits, repeats=1)
    assert usual.score == "balanced_accuracy"
    assert usual.scores["guess"].tolist() == [0.5] * 3
    assert "guessing" not in notes_of(usual, "rows")
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
    assert by_area.kernels["left_out"][0] == pytest.approx(-np.diff(areas).mean())
    with pytest.raises(SpecError, match="roc_auc"):
        explain(model, rows, labels, score="roc_acu", **QUICK)
    with pytest.raises(SpecError, match="no score neg_log_loss"):
        explain(model, rows, labels, score="neg_log_loss", **QUICK)


def test_effects_of_columns_are_exact_for_linear_kernels_and_shuffled_for_others() -> None:
    rows, labels = three_sources(200)
    columns = ["scan_a", "scan_b", "noise_a"]
    # The same function by a kernel that is not known to be linear, on the same columns.
    kernels = [f"{kernel}@{','.join(columns)}" for kernel in ("linear", SAME_AS_LINEAR)]
    model = MKLClassifier([*kernels, "rbf@copy_a"], learner="svm(C=1)").fit(rows, labels)
    train, test = np.arange(100), np.arange(100, 200)
    splits = [(train, test), (test, train)]
    effects = explain(model, rows, labels, cv=splits, repeats=1).effects
    by_hand = []
    for train, test in splits:
        fit = clone(model).fit(rows.iloc[train], labels[train])
        x = rows[columns].to_numpy()[test]
        linear = fit.decision_function(rows.iloc[test], split=True)[:, 0]
        slopes = np.linalg.lstsq(x, linear, rcond=None)[0]
        np.testing.assert_allclose(x @ slopes, linear, atol=1e-9)
        by_hand.append(np.abs(slopes) * x.std(axis=0))
    exact, shuffled = (part.set_index("column") for _, part in effects.groupby("exact", sort=False))
    np.testing.assert_allclose(exact["effect"][columns], np.mean(by_hand, axis=0))
    np.testing.assert_allclose(shuffled["effect"][columns], exact["effect"][columns], rtol=0.15)
    selected = np.argmax(by_hand, axis=1)
    expected = [np.mean(selected == place) for place in range(3)]
    assert exact["frequency"][columns].tolist() == expected
    assert set(effects["kernel"]) == set(kernels)
    assert set(effects["top"]) == {1}


def test_effects_are_of_the_users_columns_and_need_parts_that_add_up() -> None:
    rows, labels = three_sources()
    rows["ward"] = np.where(labels == "ill", "north", "south")
    kernels = ["some:rbf@ward_*,noise_a"]
    model = make_pipeline(TableEncoder(), MKLClassifier(kernels, learner="svm(C=1)"))
    result = explain(model.fit(rows, labels), rows, labels, **QUICK)
    assert result.effects["column"].tolist() == ["ward", "noise_a"]
    assert result.effects["frequency"].tolist() == [1, 0]
    mpl.use("Agg")
    display = result.plot_columns()
    (ax,) = display.axes_
    widths = [patch.get_width() for patch in ax.patches]
    np.testing.assert_allclose(widths, result.effects["effect"])
    assert {"100%", "0%"} <= {text.get_text().strip() for text in ax.texts}
    mpl.pyplot.close(display.figure_)
    unused = [{"kernel": 0, "column": place, "effect": 0.0, "exact": True} for place in range(4)]
    assert effects_table([unused], ["some"], list("abcd"))["frequency"].tolist() == [0] * 4
    gated = explain(*fitted(combiner="cluster-gating(n_clusters=2)"), **QUICK)
    assert gated.effects.empty


def test_folds_that_agree_show_little_on_few_rows() -> None:
    """Of 40 rows none is predicted otherwise, which may be so by chance where 3 of 40 would be."""
    rows, labels = three_sources(40)
    model = MKLClassifier([*FIRST_TWO[:1], "same:rbf@scan_*"], learner="svm(C=1)")
    kernels = explain(model.fit(rows, labels), rows, labels, **QUICK).kernels
    assert kernels["left_out"].tolist() == [0, 0]
    np.testing.assert_allclose(kernels["left_out_high"], 3 / 40)
    assert kernels["outcome"].tolist() == ["can't tell"] * 2


def test_small_data_have_repeated_folds() -> None:
    model, rows, labels = fitted(FIRST_TWO)
    assert len(explain(model, rows, labels, repeats=1).scores) == 50
    assert len(explain(model, rows, labels, cv="2x3", repeats=1).scores) == 6


def test_what_is_shown_of_an_explanation(learned: Explanation) -> None:
    accuracy = 100 * learned.scores["accuracy"].mean()
    assert repr(learned) == f"Explanation(3 kernels, 4 folds: accuracy {accuracy:.1f}%)"
    assert learned.text().splitlines()[0].startswith("rows: fitted again on 4 folds, with")
    assert len(learned.text().splitlines()) == len(learned.notes)
    numbers = explain(*fitted_numbers(FIRST_TWO), **QUICK)
    assert f"R² {numbers.scores['r2'].mean():.3f}" in repr(numbers)
    assert numbers.summary().endswith("points of R²: 1 point is 0.01")


def test_several_targets_are_scored_by_their_mean() -> None:
    rows, numbers = three_numbers()
    both = np.column_stack([numbers, rows["noise_a"]])
    model = MKLRegressor(FIRST_TWO, combiner="loo-ridge", learner="ridge(alpha=0.1)")
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
    assert "8 rows of 120, drawn at random" in notes_of(result, "rows")
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
    assert result.kernels["left_out"][0] > result.kernels["left_out"][1]
    with pytest.raises(DataError, match="'outlier' for some"):
        explain(model, rows, odd)


def test_models_that_predict_nothing_are_refused() -> None:
    rows, numbers = three_numbers(40)
    with pytest.raises(IncompatibleError, match="no score"):
        explain(MKLTransformer("linear").fit(rows), rows, numbers)


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
