"""``--class-weight`` and ``--weights`` on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import FIXED, Run

from mklkit.persistence import load_model


@pytest.fixture
def data(tmp_path: Path) -> Path:
    draw = np.random.default_rng(0)
    ill = np.arange(120) % 6 == 0
    table = pd.DataFrame(draw.normal(size=(120, 2)) + 1.2 * ill[:, None], columns=["a", "b"])
    table["often"] = 1 + np.arange(120) % 3
    table["kind"] = np.where(ill, "ill", "well")
    table.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def test_weights_of_classes_are_used_shown_and_kept(mklkit: Run, data: Path) -> None:
    model = data.with_name("model.mkl")
    done = mklkit("fit", data, *FIXED, "--class-weight", "ill=5,well=1", "-o", model, "--json")
    assert done.code == 0, done
    assert done.json["model"]["class_weight"] == [5.0, 1.0]
    assert "weights of classes: ill 5, well 1" in done.json["choices"]
    shown = mklkit("inspect", model)
    assert "ill (weight 5), well (weight 1)" in shown.out
    np.testing.assert_array_equal(load_model(model)[-1].class_weight_, [5, 1])
    plain = mklkit("fit", data, *FIXED, "--json")
    assert plain.json["model"]["class_weight"] is None
    recall = [outcome.json["scores"]["train"]["recall"][0] for outcome in (plain, done)]
    assert recall[1] > recall[0]


@pytest.mark.process
def test_classes_that_are_numbers_are_named_by_their_text(mklkit: Run, data: Path) -> None:
    table = pd.read_csv(data)
    table["kind"] = (table["kind"] == "ill").astype(int)
    table.to_csv(data, index=False)
    done = mklkit("fit", data, "--class-weight", "1=4", "--preset", "rpemekl", "--json")
    assert done.code == 0, done
    assert done.json["model"]["class_weight"] == [1.0, 4.0]
    tuned = mklkit("fit", data, "--class-weight", "1=4", "--tune", "2", "--json")
    assert tuned.json["model"]["class_weight"] == [1.0, 4.0]


def test_a_column_of_weights_is_no_feature(mklkit: Run, data: Path) -> None:
    done = mklkit("fit", data, *FIXED, "--weights", "often", "--holdout", "0", "--json")
    assert done.code == 0, done
    assert done.json["data"]["columns"] == ["a", "b"]
    assert done.json["data"]["weights"] == "often"
    model = data.with_name("model.mkl")
    mklkit("fit", data, *FIXED, "--weights", "often", "-o", model)
    assert "of samples, from the column 'often'" in mklkit("inspect", model).out


def test_evaluate_weighs_rows_and_classes(mklkit: Run, data: Path) -> None:
    options = ["evaluate", data, *FIXED, "--folds", "3", "--json"]
    plain, weighted = mklkit(*options), mklkit(*options, "--class-weight", "balanced")
    assert weighted.code == 0, weighted
    scores = [outcome.json["scores"]["balanced_accuracy"]["mean"] for outcome in (plain, weighted)]
    assert scores[1] > scores[0] + 0.02
    assert mklkit(*options, "--weights", "often").code == 0


def test_tables_in_parts_weigh_classes(mklkit: Run, data: Path) -> None:
    learner = ["--map", "empirical(subset=10)", "--learner", "mhks", "--class-weight", "balanced"]
    done = mklkit("fit", data, "--stream", *learner, "--json")
    assert done.code == 0, done
    assert done.json["model"]["class_weight"] == pytest.approx([3, 0.6], rel=0.05)
