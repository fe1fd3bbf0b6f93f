"""Regression on the command line: seen by itself, asked for, refused, and used later."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, r2_score

from mklkit import load_model
from mklkit.datasets.target import looks_like_numbers


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    random = np.random.default_rng(4)
    size = random.uniform(30, 200, 90).round(1)
    place = random.choice(["centre", "edge"], 90)
    price = 2 * size + 80 * (place == "centre") + random.normal(size=90) + 10
    frame = pd.DataFrame({"size": size, "place": place, "rooms": (size // 25), "price": price})
    path = tmp_path_factory.mktemp("houses") / "houses.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(mklkit, houses):
    path = houses.parent / "house.mkl"
    return path, mklkit("fit", houses, "--target", "price", "-o", path)


def test_a_target_of_numbers_is_learned_by_regression_and_it_says_so(model):
    _, done = model
    assert done.code == 0, done.err
    assert "'price' holds numbers: regression" in done.err
    assert "mean absolute error" in done.out
    assert "always the median" in done.out
    assert "learner ridge" in done.out


def test_json_has_the_scores_of_both_parts(mklkit, houses):
    done = mklkit("fit", houses, "-t", "price", "--combiner", "centered-alignment", "--json")
    result = json.loads(done.out)
    assert result["data"]["task"] == result["model"]["task"] == "regression"
    held_out = result["scores"]["held_out"]
    assert held_out["rows"] == 18
    assert held_out["r2"] > 0.95
    assert held_out["mean_absolute_error"] < held_out["baseline"] / 4


@pytest.mark.process
def test_numbers_are_tuned_on_the_training_rows(mklkit, houses, tmp_path):
    path = tmp_path / "tuned.mkl"
    done = mklkit("fit", houses, "-t", "price", "-k", "linear", "--tune", "3", "-o", path)
    assert done.code == 0, done.err
    assert "best of 3 settings by 5-fold cross-validation" in " ".join(done.out.split())
    assert load_model(path)[-1].n_samples_fit_ == 90
    assert "R²" in mklkit("evaluate", houses, "-t", "price", "--tune", "2", "--cv", "2").out


def test_predictions_are_numbers_and_their_errors_are_said(mklkit, model, houses):
    done = mklkit("predict", model[0], houses)
    answers = pd.read_csv(pd.io.common.StringIO(done.out))["prediction"]
    frame = pd.read_csv(houses)
    np.testing.assert_allclose(answers, load_model(model[0]).predict(frame), rtol=1e-6)
    assert f"R² {r2_score(frame['price'], answers):.3f}" in done.err
    assert f"error {mean_absolute_error(frame['price'], answers):.4g} on the 90 samples" in done.err
    without = houses.parent / "without.csv"
    frame.drop(columns="price").to_csv(without, index=False)
    assert "R²" not in mklkit("predict", model[0], without).err


def test_a_model_of_numbers_is_inspected_and_plotted(mklkit, model, houses, tmp_path):
    shown = mklkit("inspect", model[0])
    assert "numbers" in shown.out
    assert "R²" in shown.out
    pytest.importorskip("matplotlib")
    picture = tmp_path / "weights.png"
    drawn = mklkit("fit", houses, "-t", "price", "--holdout", 0, "--plot", picture)
    assert drawn.code == 0
    assert picture.stat().st_size > 1000


def test_cross_validation_reports_r2_and_absolute_error(mklkit, houses):
    done = mklkit("evaluate", houses, "-t", "price", "--folds", "3", "--json")
    result = json.loads(done.out)
    assert [fold["rows"] for fold in result["folds"]] == [30, 30, 30]
    expected = np.mean([fold["r2"] for fold in result["folds"]])
    np.testing.assert_allclose(result["scores"]["r2"]["mean"], expected, rtol=1e-9)
    assert "3 shuffled folds" in mklkit("evaluate", houses, "-t", "price", "--folds", "3").out


def test_whole_numbers_are_learned_as_numbers_if_asked_for(mklkit, houses):
    done = mklkit("fit", houses, "-t", "rooms", "--task", "regression", "--json")
    assert json.loads(done.out)["scores"]["held_out"]["r2"] > 0.5
    assert "classes" in json.loads(mklkit("fit", houses, "-t", "rooms", "--json").out)["data"]


def test_which_targets_look_like_numbers():
    assert looks_like_numbers(pd.Series([1.5, 2.0, 3.0]))
    assert looks_like_numbers(pd.Series(range(40)))
    assert not looks_like_numbers(pd.Series([1.0, 2.0, 2.0]))
    assert not looks_like_numbers(pd.Series(np.arange(520) % 52))
    assert not looks_like_numbers(pd.Series(["1.5", "2"]))
    assert not looks_like_numbers(pd.Series([True, False]))
