"""``mklkit score`` of small models: targets in any order, groups, and samples of few values."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Run
from sklearn.metrics import r2_score

N = 60


def table(seed: int) -> pd.DataFrame:
    """Return samples of two numeric targets, one class, and two columns that tell of them."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(N, 3)), columns=list("abc"))
    noise = random.normal(size=(N, 2))
    first, second = frame["a"] + noise[:, 0], 2 * frame["b"] + noise[:, 1]
    kind = np.where(first > 0, "ill", "well")
    return frame.assign(first=first, second=second, kind=kind)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the samples of two cohorts."""
    folder = tmp_path_factory.mktemp("cohorts")
    for seed, name in enumerate(("old", "new")):
        table(seed).to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def numbers(folder: Path, mklkit: Run) -> str:
    """Fit and save a model of both numeric targets."""
    model = str(folder / "numbers.mkl")
    options = ("-t", "first", "-t", "second", "--drop", "kind", "-k", "linear", "-o", model)
    assert mklkit("fit", str(folder / "old.csv"), *options).code == 0
    return model


def test_targets_are_scored_in_the_order_of_the_model(
    folder: Path, numbers: str, mklkit: Run
) -> None:
    data = str(folder / "new.csv")
    predicted = pd.read_csv(io.StringIO(mklkit("predict", numbers, data).out))
    columns = [name for name in predicted if name.startswith("prediction")]
    expected = r2_score(table(1)[["first", "second"]], predicted[columns])
    for order in (("first", "second"), ("second", "first")):
        result = mklkit("score", numbers, data, "-t", order[0], "-t", order[1], "--json").json
        assert result["scores"]["all"]["r2"] == pytest.approx(expected)
        assert result["target"] == "first, second"
    renamed = table(1).rename(columns={"first": "other"})
    renamed.to_csv(folder / "renamed.csv", index=False)
    options = ("-t", "second", "-t", "other", "--json")
    result = mklkit("score", numbers, str(folder / "renamed.csv"), *options).json
    assert result["scores"]["all"]["r2"] == pytest.approx(expected)


def test_a_target_is_named_once(folder: Path, numbers: str, mklkit: Run) -> None:
    done = mklkit("score", numbers, str(folder / "new.csv"), "-t", "first", "-t", "first")
    assert done.code == 2
    assert "--target names 'first' twice" in done.err


def test_held_out_rows_of_a_model_in_parts_are_no_training_rows(folder: Path, mklkit: Run) -> None:
    names = [f"s{place}" for place in range(N)]
    frame = table(0)[["a", "b", "kind"]].assign(id=names)
    frame.to_csv(folder / "named.csv", index=False)
    # Other values, so that only identifiers are equal.
    frame.assign(a=frame["a"] + 0.1).to_csv(folder / "again.csv", index=False)
    model = str(folder / "parts.mkl")
    options = ("-t", "kind", "--by", "id", "-k", "linear", "--stream", "--holdout", "0.5")
    fitted = mklkit("fit", str(folder / "named.csv"), *options, "-o", model, "--json").json
    n_learned = fitted["scored_model"]["rows"]
    assert n_learned < N
    done = mklkit("score", model, str(folder / "again.csv"), "--by", "id")
    assert f"{n_learned} of {N} samples have the identifiers of training samples" in done.err
    done = mklkit("score", model, str(folder / "named.csv"), "--by", "id")
    assert f"{n_learned} of {N} samples are training samples of the model" in done.err
    assert "have the identifiers" not in done.err


@pytest.mark.parametrize("named", [False, True], ids=["numbers", "names"])
def test_each_row_needs_a_group(named: bool, folder: Path, numbers: str, mklkit: Run) -> None:
    groups = pd.Series(np.arange(N) // 2).where(np.arange(N) < 20)
    frame = table(1).assign(patient="p" + groups.astype("string") if named else groups)
    frame.to_csv(folder / "gaps.csv", index=False)
    done = mklkit("score", numbers, str(folder / "gaps.csv"), "--groups", "patient")
    assert done.code == 2
    assert "has no 'patient' in 40 samples of 60" in done.err


@pytest.mark.parametrize("n_rows", [1, 2])
def test_one_or_two_numbers_have_errors(
    n_rows: int, folder: Path, numbers: str, mklkit: Run
) -> None:
    path, few = str(folder / "few.csv"), table(1)[:n_rows]
    few.to_csv(path, index=False)
    predicted = pd.read_csv(io.StringIO(mklkit("predict", numbers, path).out)).to_numpy()
    result = mklkit("score", numbers, path, "--json").json
    scores, intervals = result["scores"]["all"], result["intervals"]["all"]
    error = np.abs(few[["first", "second"]].to_numpy() - predicted).mean()
    assert scores["mean_absolute_error"] == pytest.approx(error)
    assert (scores["r2"] is None) == (n_rows == 1)
    # Half of all draws of two samples have one twice.
    assert intervals["r2"] is None
    assert " – " not in mklkit("score", numbers, path).out


def test_one_class_has_an_accuracy_alone(folder: Path, mklkit: Run) -> None:
    model, path = str(folder / "kinds.mkl"), str(folder / "ill.csv")
    options = ("-t", "kind", "--drop", "first", "--drop", "second", "-k", "linear", "-o", model)
    assert mklkit("fit", str(folder / "old.csv"), *options).code == 0
    ill = table(1).query("kind == 'ill'")
    ill.to_csv(path, index=False)
    said = mklkit("predict", model, path).err
    assert f"on the {len(ill)} samples with 'kind' given, which are all of the class 'ill'" in said
    assert "balanced" not in said
    assert "majority" not in said
    assert "balanced" in mklkit("predict", model, str(folder / "new.csv")).err
