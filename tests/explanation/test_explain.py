"""What kernels and columns are worth is what fits by hand give."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import attrs
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.inspection import permutation_importance
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    mean_absolute_error,
    r2_score,
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
    three_sources,
)

from mklkit import (
    MKLClassifier,
    MKLSearchCV,
    MKLVotingClassifier,
    RPEMEKLClassifier,
    TableEncoder,
    explain,
)
from mklkit.combiners.uniform import Uniform
from mklkit.errors import DataError, SpecError
from mklkit.explanation.effects import effects_table
from mklkit.explanation.result_tables import effects_result, kernels_result
from mklkit.plugin import CombinerTraits

SAME_AS_LINEAR = "polynomial(degree=1, coef0=0)"
QUICK = {"cv": 2, "repeats": 1}


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
    if "r2" in scores:  # Squared errors beside the variance of all rows, as folds are of one size.
        scores = scores | {"r2": lambda y, answer: 1 - np.mean((y - answer) ** 2) / targets.var()}
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
    first = np.diff(by_score[result.score])[:, 0]
    assert kernels["left_out"][0] == pytest.approx(first.mean())
    assert kernels["left_out_std"][0] == pytest.approx(first.std(ddof=1))
    # All, without each, and each alone; all but one is also the group of the two alike.
    assert result.n_fits == 3 * (1 + 3 + 3)
    assert result.together["kernels"].tolist() == [["scan", "copy"]]


@pytest.mark.process
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
    np.testing.assert_allclose(columns[rows.columns], -peer.importances_mean, atol=0.015)


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
    assert result.kernels["shuffled"][0] == pytest.approx(-0.5, abs=0.03)
    assert result.columns["group"].tolist() == ["ward", "age"]


@attrs.frozen
class Pair(Uniform):
    """Two kernels, no more and no fewer."""

    name: ClassVar[str] = "pair"
    traits: ClassVar[CombinerTraits] = CombinerTraits(n_kernels=2)


@pytest.mark.parametrize(
    ("kernels", "settings", "why"),
    [
        (KERNELS[:1], {}, "the only kernel"),
        (KERNELS[:2], {"combiner": Pair()}, "pair takes exactly 2 kernels"),
        (KERNELS, {"combiner": "ifsl(weights=[1, 2, 3])", "learner": "mhks"}, "weights"),
    ],
)
def test_kernels_that_cannot_be_left_out(kernels: Any, settings: Any, why: str) -> None:
    result = explain(*fitted(kernels, **settings), cv=2, repeats=1)
    assert result.kernels["left_out"].isna().all()
    assert result.kernels["why_not"].str.contains(why).all()
    assert f"not possible, {result.kernels['why_not'][0]}" in notes_of(result, "ablation")


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
        by_hand.append(smaller - whole)
    assert result.kernels["left_out"][0] == pytest.approx(np.mean(by_hand))


def test_a_matrix_is_that_of_the_model_and_not_of_its_file(tmp_path: Path) -> None:
    """A path may come from a model file of somebody else: nothing is opened there."""
    rows, labels = three_sources(40)
    path = tmp_path / "graph.npy"
    np.save(path, rows.to_numpy() @ rows.to_numpy().T)
    kernels = [f"precomputed(path={str(path)!r})@id", "rbf@scan_a"]
    rows = rows.assign(id=np.arange(40))
    model = MKLClassifier(kernels, learner="svm(C=1)").fit(rows, labels)
    expected = explain(model, rows, labels, cv=2, repeats=1).kernels
    np.save(path, np.eye(len(rows)))
    pd.testing.assert_frame_equal(explain(model, rows, labels, cv=2, repeats=1).kernels, expected)
    path.unlink()
    pd.testing.assert_frame_equal(explain(model, rows, labels, cv=2, repeats=1).kernels, expected)


@pytest.mark.slow
def test_a_search_is_not_repeated_if_the_model_is_kept_as_fitted() -> None:
    rows, labels = three_sources(60)
    grid = {"combiner__lam": [0.25, 4.0], "learner__alpha": [0.5]}
    ours = MKLSearchCV(MKLClassifier(KERNELS, combiner="ifsl"), grid, cv=2, random_state=0)
    combiners = {"combiner": ["uniform", "dimkl3"]}
    reference = GridSearchCV(MKLClassifier(KERNELS, learner="svm(C=1)"), combiners, cv=2)
    for search in (ours, reference):
        search.fit(rows, labels)
        plain = clone(search.best_estimator_).fit(rows, labels)
        of_search, other = (
            explain(model, rows, labels, cv=2, repeats=1, as_fitted=True)
            for model in (search, plain)
        )
        assert "scores are optimistic" in notes_of(of_search, "rows")
        pd.testing.assert_frame_equal(of_search.kernels, other.kernels)
        assert of_search.n_fits == 2 * (1 + 3 + 3)


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


@pytest.mark.parametrize("searched", [False, True])
@pytest.mark.process
def test_the_kernel_of_each_source_is_chosen_again_in_each_fold(searched: bool) -> None:
    rows, labels = three_sources(60)
    # The sources tell about as much each, and a fold may leave one out.
    rows.loc[labels == "ill", ["scan_a", "scan_b", "copy_b"]] -= 1.2
    rows.loc[labels == "ill", ["noise_a", "noise_b"]] += 1.0
    # A category that some folds lack, so that the places of columns differ.
    rows.insert(0, "site", ["north", "south", "west"] * 19 + ["far", "north", "south"])
    steps = make_pipeline(TableEncoder(), MKLClassifier("auto", learner="svm(C=1)"))
    grid = {"mklclassifier__combiner": ["uniform", "dimkl3"]}
    model = GridSearchCV(steps, grid, cv=2) if searched else steps
    model.fit(rows, labels)
    folds = list(KFold(4, shuffle=True, random_state=2).split(rows))
    result = explain(model, rows, labels, cv=folds, repeats=1)
    fitted_one = (model.best_estimator_ if searched else model)[-1]
    encoded = TableEncoder().fit_transform(rows)
    # The source of noise is not in the model, but a fold may take it.
    names = ["scan", "noise", "copy", "others"]
    prefixes = dict(zip(names, ("scan_", "noise_", "copy_", "site"), strict=True))
    assert set(names) - {*fitted_one.kernel_names_} == {"noise"}
    assert result.kernels["kernel"].tolist() == names
    assert result.kernels["left_out"].notna().all()
    assert "was chosen again in each fold" in notes_of(result, "rows")

    def fit_on(train: np.ndarray, kept: list[str]) -> Any:
        kernels = [
            (name, "auto", [column for column in encoded if column.startswith(prefixes[name])])
            for name in kept
        ]
        alone = MKLClassifier(kernels, learner="svm(C=1)", random_state=0)
        if searched:
            alone = GridSearchCV(alone, {"combiner": ["uniform", "dimkl3"]}, cv=2)
        alone.fit(encoded.iloc[train], labels[train])
        return alone.best_estimator_ if searched else alone

    expected, losses = [], []
    for train, test in folds:
        fits = {
            left_out: fit_on(train, [name for name in names if name != left_out])
            for left_out in ("", "noise")
        }
        alone, scores = fits[""], {}
        for left_out, fit in fits.items():
            answers = fit.predict(encoded.iloc[test])
            # Classes of one size, so that accuracy is the score.
            scores[left_out] = np.mean(answers == labels[test])
        losses.append(scores[""] - scores["noise"])
        weights = dict(zip(alone.kernel_names_, alone.weights_[0], strict=True))
        expected.append([weights.get(name, 0.0) for name in names])
    assert result.score == "accuracy"
    assert result.kernels["left_out"][1] == pytest.approx(-np.mean(losses))
    chosen = result.kernels["chosen"]
    assert chosen.tolist() == [float(share) for share in np.mean(np.array(expected) > 0, axis=0)]
    assert ((chosen > 0) & (chosen < 1)).any()
    weights = result.weights.pivot(index="fold", columns="kernel", values="weight")[names]
    np.testing.assert_allclose(weights, expected, atol=1e-9)
    # A source that a fold leaves out anyway needs no fit without it, and costs nothing. Without all
    # others, and without a group of similar ones, there is a fit in each fold.
    per_fold = 1 + len(names) + len(result.together)
    assert result.n_fits == 4 * per_fold + np.count_nonzero(expected)
    heads = {column.head for column in kernels_result(result.kernels, result.unit).columns}
    assert "in folds" in heads


def test_the_kernels_of_a_lone_source_are_those_of_the_model() -> None:
    rows, labels = three_sources(60)
    model = MKLClassifier("auto", learner="svm(C=1)").fit(rows.to_numpy(), labels)
    result = explain(model, rows.to_numpy(), labels, **QUICK)
    assert result.kernels["kernel"].tolist() == model.kernel_names_
    assert "were not chosen again" in notes_of(result, "score")
    kernels = [
        (bound.label, bound.kernel, None, bound.scaling and bound.scaling.name)
        for bound in model.bound_kernels_
    ]
    same = MKLClassifier(kernels, learner="svm(C=1)").fit(rows.to_numpy(), labels)
    expected = explain(same, rows.to_numpy(), labels, **QUICK)
    pd.testing.assert_frame_equal(result.kernels, expected.kernels)


def test_kernels_on_all_columns_share_them() -> None:
    result = explain(*fitted(["linear", "rbf", "scan:rbf@scan_*"]), **QUICK)
    assert result.kernels["shuffled"].isna().tolist() == [True, True, False]
    assert "linear, rbf: all columns in use are read" in notes_of(result, "permuted")
    assert "scan: columns are shared with other kernels" in notes_of(result, "permuted")


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
    assert "can't be traced" in notes_of(result, "permuted")
    assert len(result.columns) == 6
    assert result.kernels["columns"].isna().all()


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
    assert {"100 %", "0 %"} <= {text.get_text().strip() for text in ax.texts}
    mpl.pyplot.close(display.figure_)
    metadata = {"kernel": 0, "columns": 4, "effect": 0.0, "exact": True}
    unused = [{**metadata, "column": place} for place in range(4)]
    assert effects_table([unused], ["some"], list("abcd"))["frequency"].tolist() == [0] * 4
    gated = explain(*fitted(combiner="cluster-gating(n_clusters=2)"), **QUICK)
    assert gated.effects.empty


def test_rows_without_names_and_more_than_are_used() -> None:
    rows, labels = three_sources()
    kernels = [("one", "rbf", [0, 1]), "linear"]
    model = make_pipeline(StandardScaler(), MKLClassifier(kernels, learner="svm(C=1)"))
    model.fit(rows.to_numpy(), labels)
    result = explain(model, rows.to_numpy(), labels, max_rows=50, **QUICK)
    assert "50 samples of 120" in notes_of(result, "rows")
    assert result.scores["rows"].sum() == 50
    assert result.kernels["columns"][0] == ["0", "1"]
    again = explain(model, rows.to_numpy(), labels, max_rows=50, **QUICK)
    pd.testing.assert_frame_equal(result.kernels, again.kernels)


def test_a_model_of_groups_is_explained_by_groups_or_not_at_all() -> None:
    rows, labels = three_sources(60)
    groups = np.arange(60) // 3
    model = MKLClassifier(FIRST_TWO, learner="svm(C=1)").fit(rows, labels, groups=groups)
    assert model.n_groups_fit_ == 20
    with pytest.raises(DataError, match="20 groups"):
        explain(model, rows, labels, cv=2, repeats=1)
    with pytest.raises(SpecError, match="'patient'"):
        explain(model, rows, labels, cv=2, repeats=1, groups="patient")
    apart = explain(model, rows, labels, cv=2, repeats=1, groups=groups)
    assert set(apart.scores["rows"] % 3) == {0}
    free = explain(model, rows, labels, cv=2, repeats=1, groups="ignore")
    model.fit(rows, labels)
    assert model.n_groups_fit_ is None
    again = explain(model, rows, labels, cv=2, repeats=1)
    pd.testing.assert_frame_equal(free.scores, again.scores)


def test_rows_count_in_fits_by_their_weights_and_equally_in_scores() -> None:
    rows, labels = three_sources(60)
    weights = np.random.default_rng(1).exponential(size=60) ** 3
    # The labels of light rows are wrong, so that weights matter.
    labels = np.where(weights < 0.1, np.where(labels == "ill", "well", "ill"), labels)
    settings = {"learner": "svm(C=1)", "combiner": "centered-alignment", "random_state": 0}
    model = MKLClassifier(FIRST_TWO, **settings).fit(rows, labels, sample_weight=weights)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(rows, labels))
    told, unweighted = (
        explain(model, rows, labels, cv=folds, repeats=1, **more)
        for more in ({"sample_weight": weights}, {})
    )
    fits = [
        clone(model).fit(rows.iloc[train], labels[train], sample_weight=weights[train])
        for train, _ in folds
    ]
    scores = [
        accuracy_score(labels[test], fit.predict(rows.iloc[test]))
        for fit, (_, test) in zip(fits, folds, strict=True)
    ]
    assert told.scores["accuracy"].tolist() == pytest.approx(scores)
    expected = np.mean([fit.weights_[0] for fit in fits], axis=0)
    np.testing.assert_allclose(told.kernels["weight"], expected)
    assert np.abs(unweighted.kernels["weight"] - expected).max() > 0.01
    few = explain(model, rows, labels, cv=2, repeats=1, max_rows=40, sample_weight=weights)
    assert few.scores["rows"].sum() == 40
    with pytest.raises(DataError, match="59 weights for 60"):
        explain(model, rows, labels, cv=folds, sample_weight=weights[1:])


@pytest.mark.process
def test_a_source_that_the_model_left_out_has_a_row_because_a_fold_may_choose_it() -> None:
    rows, labels = three_sources(60)
    rows = rows.drop(columns=["copy_a", "copy_b"])
    rows.loc[labels == "ill", ["scan_a", "scan_b"]] -= 1.2
    rows.loc[labels == "ill", ["noise_a", "noise_b"]] += 0.6
    settings = {"learner": "svm(C=1)", "random_state": 0}
    model = MKLClassifier("auto", **settings).fit(rows, labels)
    assert model.kernel_names_ == ["scan"]
    folds = list(KFold(4, shuffle=True, random_state=0).split(rows))
    told = explain(model, rows, labels, cv=folds, repeats=1)
    fits = [clone(model).fit(rows.iloc[train], labels[train]) for train, _ in folds]
    weights = [
        dict(zip(fit.kernel_names_, fit.weights_[0], strict=True)).get("noise", 0) for fit in fits
    ]
    assert 0 < np.count_nonzero(weights) < 4
    by_name = told.kernels.set_index("kernel")
    assert by_name.index.tolist() == ["scan", "noise"]
    assert by_name["weight"]["noise"] == pytest.approx(np.mean(weights))
    assert by_name["chosen"].tolist() == [1.0, np.count_nonzero(weights) / 4]
    assert by_name["columns"]["noise"] == ["noise_a", "noise_b"]
    known = ["left_out", "shuffled", "alone"]
    assert by_name.loc["noise", known].notna().all()
    # It costs nothing where the fold left it out.
    losses = []
    for fit, (train, test), weight in zip(fits, folds, weights, strict=True):
        (scan,) = (bound for bound in fit.bound_kernels_ if bound.label == "scan")
        kernel = ("scan", scan.kernel, ["scan_a", "scan_b"], scan.scaling and scan.scaling.name)
        smaller = MKLClassifier([kernel], **settings).fit(rows.iloc[train], labels[train])
        scores = [each.score(rows.iloc[test], labels[test]) for each in (fit, smaller)]
        losses.append(scores[0] - scores[1] if weight else 0.0)
    assert by_name["left_out"]["noise"] == pytest.approx(-np.mean(losses))
    kept = explain(model, rows, labels, cv=folds, repeats=1, as_fitted=True)
    assert kept.kernels["kernel"].tolist() == ["scan"]


def test_the_samples_of_one_split_are_predicted_once_by_the_whole_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, labels = three_sources(60)
    kernels = [f"{name}:rbf@{name}_*" for name in ("scan", "noise", "copy")]
    model = MKLClassifier(kernels, learner="svm(C=1)", random_state=0).fit(rows, labels)
    predicted: list[tuple[int, int]] = []
    predict = MKLClassifier.predict

    def counted_predict(self: Any, X: Any) -> Any:
        predicted.append((len(self.kernel_names_), len(X)))
        return predict(self, X)

    counted_predict.__name__ = "predict"
    monkeypatch.setattr(MKLClassifier, "predict", counted_predict)
    split = [(np.arange(40), np.arange(40, 60))]
    explain(model, rows, labels, cv=split, repeats=2, columns="sources")
    assert predicted.count((3, 20)) == 1


@pytest.mark.parametrize(("n_columns", "is_shown"), [(6, False), (200, False), (201, True)])
def test_a_bound_that_can_not_be_small_is_not_shown(n_columns: int, is_shown: bool) -> None:
    metadata = {"kernel": 0, "columns": n_columns, "exact": True}
    fold = [{**metadata, "column": j, "effect": 1.0 + j} for j in range(n_columns)]
    effects = effects_table([fold] * 5, ["long"], [f"c{j}" for j in range(n_columns)])
    shown = [column.key for column in effects_result(effects).columns]
    assert ("p_chance" in shown) == is_shown
    assert (effects["p_chance"].min() < 0.05) == is_shown  # Selected in every fit.


def test_noise_is_selected_as_often_as_said_and_no_more_often_than_bounded() -> None:
    """Top 3 of 6 columns of noise, by their correlation with the target on overlapping rows."""
    frequencies = []
    for seed in range(30):
        random = np.random.default_rng(seed)
        columns, target = random.normal(size=(40, 6)), random.normal(size=40)
        folds = []
        for train, _ in KFold(5, shuffle=True, random_state=seed).split(columns):
            effects = np.abs(columns[train].T @ target[train])
            metadata = {"kernel": 0, "columns": 6, "exact": True}
            folds.append([{**metadata, "column": j, "effect": e} for j, e in enumerate(effects)])
        found = effects_table(folds, ["noise"], list("abcdef"))
        assert found["chance"].tolist() == [0.5] * 6
        often = found["frequency"].to_numpy()
        np.testing.assert_allclose(found["p_chance"], np.minimum(1, 0.5 / np.maximum(often, 1e-9)))
        frequencies.append(often)
    reached = np.concatenate(frequencies)
    assert reached.mean() == pytest.approx(0.5)
    for share in (0.6, 0.8, 1.0):
        assert (reached >= share).mean() <= 0.5 / share
    # Five independent fits would all select a column with a probability of 1/32.
    assert (reached == 1).mean() > 3 / 32
