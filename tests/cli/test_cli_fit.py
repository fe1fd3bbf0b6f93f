"""``mklkit fit`` and ``mklkit evaluate``."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import FIXED, Fitted, Run
from sklearn.metrics import pairwise_distances

from mklkit import load_model
from mklkit.__main__ import main


def test_json_holds_the_same_for_machines(mklkit: Run) -> None:
    done = mklkit("fit", "wine", "-k", "linear", "-k", "wide:rbf(sigma='2*mean')", "--json")
    assert done.code == 0, done
    result = done.json
    assert result["data"]["rows"] == 178
    assert result["data"]["classes"][0] == {"label": "class_1", "rows": 71}
    assert [kernel["name"] for kernel in result["model"]["kernels"]] == ["linear", "wide"]
    weights = pd.DataFrame(result["model"]["weights"])
    assert len(weights) == 3 * 2
    np.testing.assert_allclose(weights.groupby("problem")["weight"].sum(), 1)
    assert result["scores"]["train"]["rows"] + result["scores"]["held_out"]["rows"] == 178
    assert result["scores"]["held_out"]["accuracy"] > 0.9
    assert result["split"] == "stratified"
    assert result["seconds"] > 0


@pytest.mark.slow
def test_the_built_in_data_take_less_than_four_seconds(started: Run) -> None:
    # The first run has filled the JIT cache. Processor time stands in for the clock's, which other
    # work on the machine would lengthen.
    def seconds() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    assert started("fit", "--combiner", "dimkl3").code == 0
    before = seconds()
    assert started("fit", "--combiner", "dimkl3").code == 0
    assert seconds() - before < 4


def test_mixed_types_and_gaps(fitted: Fitted) -> None:
    done = fitted.outcome
    assert done.code == 0, done
    assert "120 samples, 4 features (2 not numeric), 3 classes: well (60), ill (40)" in done.out
    assert "2 category columns one-hot encoded into 5" in done.out
    assert "in category columns taken as the value 'missing'" in done.out
    assert "imputed by the median" in done.out
    assert "range over 3 problems" in done.out
    assert done.err == f"saved {fitted.model}\n"


def test_options_override_a_preset(mklkit: Run) -> None:
    arguments = ("fit", "iris", "--preset", "mhks", "--learner", "mhks(alpha=2.0)", "--json")
    result = mklkit(*arguments).json
    assert result["model"]["learner"] == "mhks(alpha=2.0)"
    assert result["model"]["feature_map"].startswith("empirical")
    assert result["choices"][0] == "preset mhks"


@pytest.mark.parametrize("command", [("fit",), ("evaluate", "--folds", "2")])
def test_bandwidths_of_all_rows(mklkit: Run, command: tuple[str, ...]) -> None:
    arguments = (*command, "wine", "-k", "rbf(sigma='mean/6')", "-l", "svm(C=1)", "--json")
    separate, again, once = [
        mklkit(*arguments, *more).json["scores"]
        for more in ((), ("--bandwidths", "per-problem"), ("--bandwidths", "all-rows"))
    ]
    assert separate == again != once


def test_seed_decides_the_split(mklkit: Run) -> None:
    command = ("fit", "iris", "-l", "svm(C=1)", "--json", "--seed")
    first, again, reseeded = [mklkit(*command, seed).json for seed in (1, 1, 2)]
    for result in (first, again):
        del result["seconds"], result["scored_model"]["seconds"]
    assert first == again
    assert first["model"]["weights"] == reseeded["model"]["weights"]
    assert first["scores"] != reseeded["scores"]


def test_the_saved_model_has_learned_from_all_rows(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    rows = patients.drop(columns="target")
    whole = tmp_path / "whole.mkl"
    mklkit("fit", fitted.data, "-c", "dimkl3", "--holdout", "0", "-o", whole)
    saved = load_model(fitted.model)
    assert saved[-1].n_samples_fit_ == 120
    np.testing.assert_array_equal(
        saved.decision_function(rows), load_model(whole).decision_function(rows)
    )
    metadata = mklkit("inspect", fitted.model, "--json").json
    assert (metadata["scored_model"]["rows"], metadata["model"]["rows"]) == (96, 120)
    alone = mklkit("fit", fitted.data, "-c", "dimkl3", "--json").json
    assert alone["scores"] == metadata["scores"]
    assert alone["model"]["rows"] == alone["scored_model"]["rows"] == 96
    for shown in (fitted.outcome.out, mklkit("inspect", fitted.model).out):
        assert "scores of a model of 96 samples" in shown
        assert "the saved model has learned from all 120" in shown


@pytest.mark.process
def test_what_was_tuned_is_learned_from_all_rows_without_another_search(
    mklkit: Run, fitted: Fitted, patients: pd.DataFrame, tmp_path: Path
) -> None:
    tuned, untuned = tmp_path / "tuned.mkl", tmp_path / "given.mkl"
    result = mklkit("fit", fitted.data, "-k", "rbf", "--tune", "2", "-o", tuned, "--json").json
    said = [choice for choice in result["choices"] if "best of 2 settings" in choice]
    assert len(said) == 1
    assert "the search was not repeated" in result["choices"][-1]
    kernel, learner = result["model"]["kernels"][0]["spec"], result["model"]["learner"]
    mklkit("fit", fitted.data, "-k", kernel, "-l", learner, "--holdout", "0", "-o", untuned)
    rows = patients.drop(columns="target")
    values = [load_model(path).decision_function(rows) for path in (tuned, untuned)]
    np.testing.assert_array_equal(*values)


def test_the_numbers_that_a_fit_chose(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(40, 3)), columns=list("abc"))
    frame.assign(kind=np.arange(40) % 2).to_csv(tmp_path / "a.csv", index=False)
    kernels = ("-k", "wide:cosine(rbf(sigma='2*mean'))", "-k", "rbf(sigma=1)@a", "-k", "linear")
    common = ("fit", tmp_path / "a.csv", *kernels, "--scale", "none", "--holdout", "0")
    done = mklkit(*common, "-l", "svm")
    sigma = 2 * pairwise_distances(frame).mean()
    assert f"sigma = {sigma:.3g} (wide)" in done.out
    chosen = mklkit(*common, "-l", "svm", "--json").json["model"]["chosen"]
    np.testing.assert_allclose(chosen.pop("kernels__wide__kernel__sigma"), [sigma], rtol=1e-5)
    ((name, (C,)),) = chosen.items()
    assert name == "learner__C"
    assert f"C = {C:.3g}" in done.out
    # The number gives the model that the rule gave.
    answer = mklkit(*common, "-l", f"svm(C={C!r})", "--json").json
    assert list(answer["model"]["chosen"]) == ["kernels__wide__kernel__sigma"]
    assert answer["scores"] == mklkit(*common, "-l", "svm", "--json").json["scores"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("1,a 2,b 3,a 4,b 5,a", "1 sample, at random, too few samples to stratify"),
        ("1,a 2,b", "no samples (none, every class has a single sample)"),
    ],
)
def test_very_few_rows(mklkit: Run, tmp_path: Path, rows: str, said: str) -> None:
    (tmp_path / "a.csv").write_text("x,kind\n" + rows.replace(" ", "\n"))
    done = mklkit("fit", tmp_path / "a.csv", *FIXED, "-k", "rbf")
    assert done.code == 0, done
    assert said in done.out


def test_a_model_that_learned_nothing_is_told_from_one_that_did(
    mklkit: Run, tmp_path: Path
) -> None:
    kinds = ["a"] * 75 + ["b"] * 15 + ["c"] * 10
    rows = "".join(f"{i * 1000 % 997},{kind}\n" for i, kind in enumerate(kinds))
    (tmp_path / "a.csv").write_text("x,kind\n" + rows)
    useless = ("-k", "rbf(sigma=0.001)", "--scale", "none", "--learner", "svm(C=1.0)")
    useless += ("-o", tmp_path / "a.mkl")
    done = mklkit("fit", tmp_path / "a.csv", *useless)
    assert done.code == 0, done
    (message,) = [line for line in done.err.splitlines() if "this model is no better" in line]
    assert message.startswith("warning: this model is no better than always predicting")
    # The mean recall of a guess among three classes.
    assert message.count("33.3 %") == 2
    for way in ("--scale standard", "the default kernels", "a smaller C (--learner 'svm(C=0.01)')"):
        assert way in message
    for command in (("fit", tmp_path / "a.csv", *useless[:6]), ("inspect", tmp_path / "a.mkl")):
        metadata = mklkit(*command, "--json").json
        held_out = metadata["scores"]["held_out"]
        assert held_out["recall"] == [1.0, 0.0, 0.0]
        assert held_out["confusion"] == [[15, 0, 0], [3, 0, 0], [2, 0, 0]]
        assert held_out["baseline"] == held_out["accuracy"] == 0.75
    shown = mklkit("inspect", tmp_path / "a.mkl").out
    assert ["b", "3", "0.0", "%", "3", "0", "0"] in [line.split() for line in shown.splitlines()]
    assert mklkit("fit", "iris", *FIXED, "-k", "rbf(sigma='mean/2')[none]").err == ""


def test_columns_are_chosen_by_their_readable_names(mklkit: Run, fitted: Fitted) -> None:
    kernels = ("-k", "ward:linear@ward_*", "-k", "body:rbf@fever,pulse")
    done = mklkit("fit", fitted.data, *FIXED, *kernels, "--json", "--holdout", "0")
    assert done.code == 0, done
    assert [kernel["name"] for kernel in done.json["model"]["kernels"]] == ["ward", "body"]
    assert done.json["scores"]["held_out"] is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_the_model_is_saved_before_anything_is_printed(
    fitted: Fitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model.mkl"
    command = ["mklkit", "fit", str(fitted.data), "-k", "linear", "-o", str(model)]
    monkeypatch.setattr(sys, "argv", command)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as leaving:
            main()
    assert leaving.value.code == 2
    assert model.exists()


def test_a_class_of_which_no_row_was_held_out_is_named(mklkit: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    kinds = np.array(["a", "b"] * 60 + ["moved"])
    frame = pd.DataFrame({"x": random.normal(size=121) + (kinds == "a"), "kind": kinds})
    frame.to_csv(tmp_path / "rare.csv", index=False)
    done = mklkit("fit", tmp_path / "rare.csv", *FIXED, "-k", "linear")
    assert "no sample of class 'moved' was held out; scores are of the other classes" in done.out
    assert "was held out" not in mklkit("fit", "iris", *FIXED, "-k", "linear").out


def test_report_is_quiet_in_a_pipe(mklkit: Run) -> None:
    done = mklkit("evaluate", "iris", "-l", "svm(C=1)", "--repeats", "2", "--folds", "3")
    assert done.code == 0, done
    assert done.err == ""
    assert "3 stratified folds, 2 times" in done.out
    assert "±" in done.out
    assert "balanced accuracy" in done.out


def test_a_useless_model_of_one_fold_is_asked_as_it_was_fitted(mklkit: Run, tmp_path: Path) -> None:
    # One of each kind in each ward.
    wards = "".join(f"{i // 2 % 5},ward {i // 2},{'ab'[i % 2]}\n" for i in range(24))
    (tmp_path / "a.csv").write_text("x,ward,kind\n" + wards)
    done = mklkit("evaluate", tmp_path / "a.csv", *FIXED, "--scale", "standard", "--folds", "2")
    assert done.code == 0, done
    assert "always predicting" in done.err
