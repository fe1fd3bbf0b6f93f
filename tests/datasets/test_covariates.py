"""Covariates: taken out of the other columns by least squares, or kept with a fixed share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import run_in_process
from sklearn.model_selection import KFold

from mklkit import (
    IncompatibleError,
    MKLClassifier,
    MKLRegressor,
    MKLSearchCV,
    build_pipeline,
    compare,
    cross_validate,
    explain,
)
from mklkit.datasets import CovariateRemoval
from mklkit.errors import CovariatesWarning, DataError, SpecError
from mklkit.persistence import load_model, save_model
from mklkit.protocols import CombinerTraits, Rows, traits_of
from mklkit.registry.composing import default_instances
from mklkit.registry.registry import get_registry
from mklkit.registry.specs import kernel_spec

COVARIATES = "age,sex,batch"
KERNELS = ["a:rbf@a_*", "b:linear@b_*"]
KEPT = "covariates:fixed-share(rbf, share=0.3)@age,sex,batch"
COMBINERS = {c.name: c for c in default_instances(get_registry(), "combiner")}


@pytest.fixture
def study(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return 60 rows with a covariate of many numbers, one of words and one of three numbers."""
    y = np.resize(["case", "control"], 60)
    batch = rng.integers(1, 4, 60)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 9, 60),
            "sex": rng.choice(["f", "m"], 60),
            "batch": batch,
            **{f"a_{m}": rng.normal(size=60) + batch**2 for m in range(3)},
            **{f"b_{m}": rng.normal(size=60) + (y == "case") for m in range(2)},
        }
    )
    return frame, y


def design(rows: pd.DataFrame) -> np.ndarray:
    """Return an intercept, the age, and a column of 0 and 1 for each word and batch."""
    values = [rows["sex"] == "m", rows["batch"] == 2, rows["batch"] == 3]
    return np.column_stack([np.ones(len(rows)), rows["age"], *values]).astype(float)


def test_residuals_are_those_of_the_training_rows_of_each_fold(study) -> None:
    frame, y = study
    others = ["a_0", "a_1", "a_2", "b_0", "b_1"]
    for training, test in KFold(3, shuffle=True, random_state=0).split(frame):
        known, new = frame.iloc[training], frame.iloc[test]
        model = build_pipeline(MKLClassifier(KERNELS), covariates=COVARIATES).fit(
            known, y[training]
        )
        columns = known[others].to_numpy()
        coefficients = np.linalg.lstsq(design(known), columns, rcond=None)[0]
        expected = (new[others] - design(new) @ coefficients).to_numpy()
        removed = model[:-1].transform(new)
        assert removed.columns.tolist() == others
        np.testing.assert_allclose(removed, expected, atol=1e-9)
        # Kernels read what is left of the columns, standardised.
        left = columns - design(known) @ coefficients
        for bound in model[-1].bound_kernels_:
            (read,) = Rows.of(removed.to_numpy()).arrays_of([bound])
            of_kernel = expected[:, bound.columns] / left[:, bound.columns].std(axis=0)
            np.testing.assert_allclose(read, of_kernel, atol=1e-9)


def test_a_new_batch_counts_as_none_and_words_stay(study) -> None:
    frame, _ = study
    frame["sex"] = frame["sex"].map({"f": 0.0, "m": 1.0})
    frame["word"] = "x"
    step = CovariateRemoval(COVARIATES, passthrough=["b_0"]).fit(frame)
    assert (step.left_, [*step.values_]) == (["b_0", "word"], ["sex", "batch"])
    new = frame[:2].assign(batch=[7, 8])
    changes = new[["a_0", "a_1"]] - step.transform(new)[["a_0", "a_1"]]
    new_rows = frame[:2].assign(batch=[8, 7])
    np.testing.assert_allclose(
        changes, new_rows[["a_0", "a_1"]] - step.transform(new_rows)[["a_0", "a_1"]]
    )
    assert step.transform(new)[["b_0", "word"]].equals(new[["b_0", "word"]])
    assert len(step.transform(pd.concat([new, new]))) == 4


def test_columns_of_a_source_are_fitted_on_the_rows_that_have_it(study) -> None:
    frame, _ = study
    frame["sex"] = frame["sex"].map({"f": 0.0, "m": 1.0})
    gaps = {"a_": np.arange(60) % 4 == 1, "b_": np.arange(60) % 5 == 0}
    for source, absent in gaps.items():
        frame.loc[absent, [name for name in frame if name.startswith(source)]] = np.nan
    removed = CovariateRemoval(COVARIATES).fit(frame).transform(frame)
    every = design(frame.assign(sex=frame["sex"].map({0.0: "f", 1.0: "m"})))
    for name in removed:
        present = ~gaps[name[:2]]
        levels = frame[name].to_numpy()
        coefficients = np.linalg.lstsq(every[present], levels[present], rcond=None)[0]
        np.testing.assert_allclose(removed[name], levels - every @ coefficients, atol=1e-9)


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        ("agee", "No column is named 'agee'. Did you mean 'age'?"),
        ("age,word", "numbers or one-hot encoded"),
        ("age,a_*,b_*,batch", "other columns of numbers"),
    ],
)
def test_covariates_that_can_not_be_taken_out_are_refused(study, covariates, message) -> None:
    frame, _ = study
    with pytest.raises(DataError) as refused:
        CovariateRemoval(covariates).fit(frame.drop(columns="sex").assign(word="x"))
    assert message in str(refused.value)


def test_rows_that_covariates_tell_apart_are_refused(study) -> None:
    frame = study[0].drop(columns="sex")
    with pytest.raises(DataError, match="tell all 4 training rows apart"):
        CovariateRemoval("age,batch").fit(frame.iloc[:4].assign(batch=[1, 2, 3, 3]))


# Rules for separable classes have no weights for these.
@pytest.mark.filterwarnings("ignore::mklkit.errors.WeightsWarning")
@pytest.mark.parametrize("feature_map", [None, "empirical"])
@pytest.mark.parametrize("name", [name for name, c in COMBINERS.items() if c.gives_weights])
def test_a_share_holds_and_the_rest_is_as_without_it(study, name, feature_map) -> None:
    frame, y = study
    traits = traits_of(COMBINERS[name], CombinerTraits)
    estimator, target = MKLClassifier, y
    if "two classes" not in traits.learns:
        estimator, target = MKLRegressor, frame["b_0"] + frame["age"]
    settings = {"combiner": name, "feature_map": feature_map, "random_state": 0}
    kept = build_pipeline(estimator([*KERNELS, KEPT], **settings)).fit(frame, target)
    alone = build_pipeline(estimator(KERNELS, **settings)).fit(frame, target)
    (weights,) = kept[-1].weights_
    assert weights[2] == pytest.approx(0.3, abs=1e-12)
    np.testing.assert_allclose(weights[:2], 0.7 * alone[-1].weights_[0], atol=1e-9)
    assert len(kept.predict(frame[:3])) == 3


def test_combiners_without_a_weighted_sum_are_refused(study) -> None:
    without = [
        name
        for name, combiner in COMBINERS.items()
        if not combiner.gives_weights
        and "two classes" in traits_of(combiner, CombinerTraits).learns
    ]
    assert "ifsl" in without
    for name in without:
        with pytest.raises(IncompatibleError, match="does not learn from a weighted sum"):
            build_pipeline(MKLClassifier([*KERNELS, KEPT], combiner=name)).fit(*study)


def test_shares_that_leave_no_weight_are_refused(study) -> None:
    kernels = [*KERNELS, KEPT, "fixed-share(linear, share=0.7)@a_0"]
    with pytest.raises(SpecError, match="leave other kernels no weight"):
        build_pipeline(MKLClassifier(kernels)).fit(*study)
    both = build_pipeline(MKLClassifier(kernels[2:])).fit(*study)
    np.testing.assert_allclose(both[-1].weights_, [[0.3, 0.7]])


def test_kernels_that_name_no_columns_leave_out_those_of_a_share(study) -> None:
    model = build_pipeline(MKLClassifier(["rbf", KEPT])).fit(*study)
    assert [len(columns) for columns in model[-1].kernel_columns_] == [5, 4]


@pytest.mark.parametrize("bank", [["auto"], ["auto@a_*", "auto@b_*"]])
@pytest.mark.parametrize("numbers", [False, True])
def test_kernels_are_chosen_without_the_covariates(study, bank, numbers) -> None:
    frame, y = study
    y = frame["b_0"] + 0.3 * frame["a_0"] if numbers else y
    estimator = MKLRegressor if numbers else MKLClassifier
    others = frame.drop(columns=COVARIATES.split(","))
    kept = build_pipeline(estimator([*bank, KEPT], combiner="alignment")).fit(frame, y)[-1]
    *chosen, share = kept.bound_kernels_
    assert (len(chosen), share.label) == (2, "covariates")
    names = [kept.feature_names_in_[bound.columns].tolist() for bound in chosen]
    assert names == [["a_0", "a_1", "a_2"], ["b_0", "b_1"]]
    # Beside a kernel that is named, no source is left out.
    again = [(k.label, "auto", columns) for k, columns in zip(chosen, names, strict=True)]
    plain = build_pipeline(estimator([*again, "rest:linear@b_0"])).fit(others, y)[-1]
    specs = [kernel_spec(bound) for bound in chosen]
    assert specs == [kernel_spec(bound) for bound in plain.bound_kernels_[:2]]
    (weights,) = kept.weights_
    assert weights[-1] == pytest.approx(0.3, abs=1e-12)
    parts = zip(chosen, names, strict=True)
    same = [(bound.label, bound.kernel, read, bound.scaling.name) for bound, read in parts]
    same = build_pipeline(estimator(same, combiner="alignment")).fit(others, y)[-1]
    np.testing.assert_allclose(weights[:-1], 0.7 * same.weights_[0], atol=1e-9)
    encoded = kept.feature_names_in_
    read = {name for columns in kept.kernel_columns_[:-1] for name in encoded[columns]}
    assert read <= set(others.columns)
    read_by_share = set(encoded[kept.kernel_columns_[-1]])
    assert read_by_share == {"age", "batch", "sex_f", "sex_m"}


def test_a_search_keeps_the_share(study) -> None:
    search = MKLSearchCV(
        MKLClassifier([*KERNELS, KEPT], combiner="centered-alignment", learner="ridge"),
        {"learner__alpha": [0.1, 10.0], "kernels__covariates__share": [0.1, 0.4]},
        cv=3,
    )
    search = build_pipeline(search).fit(*study)[-1]
    share = search.best_params_["kernels__covariates__share"]
    assert search.best_estimator_.weights_[0, 2] == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("share", [False, True])
def test_a_saved_model_keeps_either(study, tmp_path: Path, share: bool) -> None:
    estimator = MKLClassifier([*KERNELS, KEPT] if share else KERNELS)
    model = build_pipeline(estimator, covariates=None if share else COVARIATES).fit(*study)
    save_model(model, tmp_path / "model.mkl")
    values = load_model(tmp_path / "model.mkl").decision_function(study[0])
    np.testing.assert_array_equal(values, model.decision_function(study[0]))


@pytest.fixture
def leaky() -> tuple[pd.DataFrame, np.ndarray]:
    """Return 200 rows of noise, one column of it binary, and an age that goes with the class."""
    random = np.random.default_rng(3)
    y = np.resize(["case", "control"], 200)
    frame = pd.DataFrame(random.normal(size=(200, 4)), columns=["snp_a", "snp_b", "lab_a", "lab_b"])
    frame["snp_a"] = (random.random(200) < 0.4).astype(float)
    return frame.assign(age=random.normal(50, 4, 200) + 8 * (y == "case")), y


SOURCES = ["snp:rbf@snp_*", "lab:rbf@lab_*"]


@pytest.mark.process
def test_a_column_that_still_tells_covariates_is_named_and_withholds_verdicts(leaky) -> None:
    frame, y = leaky
    with pytest.warns(CovariatesWarning, match="'snp_a'") as warned:
        model = build_pipeline(MKLClassifier(SOURCES), covariates="age").fit(frame, y)
    assert "'snp_b'" not in str(warned[0].message)
    assert model["covariates"].traced_ == ["snp_a"]
    with pytest.warns(CovariatesWarning) as warned:
        kernels = explain(model, frame, y, cv=2, repeats=1, columns="sources").kernels
    assert len(warned) == 1
    outcomes = dict(zip(kernels["kernel"], kernels["outcome"], strict=True))
    assert outcomes["snp"] == "no verdict"
    assert outcomes["lab"] not in ("no verdict", "")
    assert kernels["unadjusted"].tolist() == [["snp_a"], []]
    with pytest.warns(CovariatesWarning) as warned:
        adjustment = cross_validate(model, frame, y, cv=2).adjustment
    assert len(warned) == 1
    assert adjustment.metadata(model)["adjustment"]["by_kernel"] == {"snp": ["snp_a"]}
    settings = {"methods": "alignment", "cv": "2x1", "baselines": ["logistic regression"]}
    settings["learners"] = ["svm(C=1.0)"]
    with pytest.warns(CovariatesWarning) as warned:
        withheld = compare(frame, y, kernels=SOURCES, covariates="age", **settings)
    assert len(warned) == 1
    # Where the covariates are kept, what columns tell of them does no harm.
    keep = {"covariates", "uniform with covariates"}
    methods = {method.name for method in withheld.methods} - {"lab"} - keep
    assert {*withheld.unadjusted[withheld.data[0].name]} == methods
    questions = withheld.questions
    are_withheld = ~questions["method"].isin(keep)
    assert questions["withheld"].tolist() == are_withheld.tolist()
    assert questions.loc[are_withheld, ["low", "high", "p_holm"]].isna().all(axis=None)
    # What follows the answers tells which methods are not shown to be better than guessing.
    answers = withheld.verdict.splitlines()[: len(questions)]
    assert len(answers) == 5
    assert sum("no verdict" in line for line in answers) == are_withheld.sum()


@pytest.mark.filterwarnings("error::mklkit.errors.CovariatesWarning")
@pytest.mark.process
def test_verdicts_stand_on_columns_that_are_adjusted_or_covariates_that_are_kept(leaky) -> None:
    frame, y = leaky
    settings = {
        "methods": "alignment",
        "cv": "2x1",
        "baselines": "none",
        "learners": ["svm(C=1.0)"],
    }
    normal = frame.drop(columns="snp_a")
    adjusted = compare(normal, y, kernels=SOURCES, covariates="age", **settings)
    kept = compare(frame, y, kernels=[*SOURCES, KEPT.replace(COVARIATES, "age")], **settings)
    for comparison in (adjusted, kept):
        assert not comparison.questions["withheld"].any()
        assert "no verdict" not in comparison.verdict
    gain = kept.questions.set_index("question").loc["All kernels or the covariates alone"]
    assert (gain["method"], gain["reference"]) == ("uniform", "covariates")
    alone = kept.results.pivot(index="fold", columns="method", values="score")
    expected = (alone["uniform"] - alone["covariates"]).mean()
    assert gain["difference"] == pytest.approx(expected)


@pytest.mark.process
def test_commands_take_out_keep_save_and_refuse(study, tmp_path: Path) -> None:
    frame, y = study
    frame.assign(status=y).to_csv(tmp_path / "study.csv", index=False)
    kernels = ("-k", "a:rbf@a_*", "-k", "b:linear@b_*", "--target", "status")

    def run(*arguments: str, command: str = "fit") -> str:
        outcome = run_in_process(command, "study.csv", *kernels, *arguments, cwd=tmp_path)
        return outcome.out if outcome.code == 0 else f"{outcome.code}: {outcome.err}"

    taken_out = ("--covariates", COVARIATES)
    line = "removed from the others by least squares: column 'age' (a straight line), columns"
    assert line in " ".join(run(*taken_out, "-o", "out.mkl").split())
    assert line in " ".join(run(*taken_out, command="evaluate").split())
    inspected = run_in_process("inspect", "out.mkl", cwd=tmp_path).out
    assert line in " ".join(inspected.split())
    explained = run_in_process(
        "explain", "out.mkl", "study.csv", "--cv", "2", "--columns", "sources", cwd=tmp_path
    )
    assert (explained.code, "can't be traced" in explained.out) == (0, False)
    assert " covariates    0.200 " in run(*taken_out, "--covariates-share", "0.2")
    proposed = ("fit", "study.csv", "--target", "status", "-k", "auto@a_*", "-k", "auto@b_*")
    proposed = run_in_process(*proposed, *taken_out, "--covariates-share", "0.2", cwd=tmp_path)
    assert "covariates 0.200" in " ".join(proposed.out.split())
    compared = run(*taken_out, "--cv", "2x1", "-c", "uniform", command="compare")
    assert "\ndata " in compared
    assert "uniform with covariates" in compared
    for arguments, reason in {
        ("--covariates", "agee"): "No column is named 'agee'. Did you mean 'age'?",
        ("--covariates-share", "0.2"): "give the columns too",
        (*taken_out, "--covariates-share", "2"): "'share' must be < 1",
        (*taken_out, "--stream"): "--covariates needs the whole table in memory",
    }.items():
        refusal = run(*arguments)
        assert refusal.startswith("2: ")
        assert reason in refusal
