"""Models of numbers are explained by R², as fits by hand and scikit-learn measure it."""

from __future__ import annotations

import json
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import KFold
from sources import KERNELS, fitted_numbers, three_numbers

from mklkit import (
    DataError,
    IncompatibleError,
    MKLOneClass,
    MKLRegressor,
    MKLTransformer,
    SpecError,
    explain,
)
from mklkit.explanation import Explanation

FIRST_TWO = KERNELS[:2]


@pytest.fixture(scope="module")
def learned() -> Explanation:
    return explain(*fitted_numbers(FIRST_TWO, combiner="loo-ridge"), cv=3, repeats=2)


def notes_of(found: Explanation, about: str) -> str:
    return " ".join(found.notes.loc[found.notes["about"] == about, "note"])


def test_losses_and_weights_are_those_of_fits_by_hand(learned: Explanation) -> None:
    model, rows, numbers = fitted_numbers(FIRST_TWO, combiner="loo-ridge")
    found, without, errors, weights = [], [], [], []
    for train, test in KFold(3, shuffle=True, random_state=0).split(rows):
        seen, new, truth = rows.iloc[train], rows.iloc[test], numbers[test]
        whole = clone(model).fit(seen, numbers[train])
        less = clone(model).set_params(kernels=KERNELS[1:2]).fit(seen, numbers[train])
        found.append(r2_score(truth, whole.predict(new)))
        without.append(r2_score(truth, less.predict(new)))
        errors.append(mean_absolute_error(truth, whole.predict(new)))
        weights.append(whole.weights_[0])
    lost = np.subtract(found, without)
    kernels = learned.kernels
    np.testing.assert_allclose(learned.scores["r2"], found, rtol=1e-9)
    np.testing.assert_allclose(learned.scores["mean_absolute_error"], errors, rtol=1e-9)
    np.testing.assert_allclose(kernels["weight"], np.mean(weights, axis=0), rtol=1e-9)
    np.testing.assert_allclose(kernels["weight_std"], np.std(weights, axis=0, ddof=1), rtol=1e-7)
    np.testing.assert_allclose(kernels["left_out"][0], lost.mean(), rtol=1e-9)
    np.testing.assert_allclose(kernels["left_out_std"][0], lost.std(ddof=1), rtol=1e-9)
    assert learned.n_fits == 3 * (1 + 2)


def test_it_says_r2(learned: Explanation) -> None:
    mpl.use("Agg")
    assert f"R² {learned.scores['r2'].mean():.3f}" in repr(learned)
    assert learned.summary().endswith("points of R²: 1 point is 0.01")
    assert notes_of(learned, "left out").startswith("these 3 folds show a loss without: scan, ")
    plain = json.loads(json.dumps(learned.to_dict()))
    assert plain["score"] == "R²"
    assert not [name for name in plain["kernels"][0] if "balanced" in name]
    display = learned.plot()
    assert "points of R² lost" in display.axes_[1].get_xlabel()
    lost = [patch.get_width() for patch in display.axes_[1].patches]
    np.testing.assert_allclose(lost, 100 * learned.kernels["left_out"])
    mpl.pyplot.close(display.figure_)


def test_several_targets_are_scored_by_their_mean() -> None:
    rows, numbers = three_numbers()
    both = np.column_stack([numbers, rows["noise_a"]])
    model = MKLRegressor(FIRST_TWO, combiner="loo-ridge", learner="ridge(alpha=0.1)")
    train, test = np.arange(80), np.arange(80, 120)
    found = explain(model.fit(rows, both), rows, both, cv=[(train, test)], repeats=1)
    one = clone(model).fit(rows.iloc[train], both[train])
    expected = r2_score(both[test], one.predict(rows.iloc[test]))
    np.testing.assert_allclose(found.scores["r2"], expected, rtol=1e-9)
    np.testing.assert_allclose(found.kernels["weight"], one.weights_.mean(axis=0), rtol=1e-9)
    error = mean_absolute_error(both[test], one.predict(rows.iloc[test]))
    np.testing.assert_allclose(found.scores["mean_absolute_error"], error, rtol=1e-9)
    with pytest.raises(DataError, match=r"\(120, 2\)"):
        explain(model, rows, numbers)


def test_folds_and_samples_of_numbers() -> None:
    model, rows, numbers = fitted_numbers(FIRST_TWO)
    found = explain(model, rows, numbers, cv=5, repeats=1, max_rows=8)
    assert "8 rows of 120, drawn at random" in notes_of(found, "rows")
    assert "4 folds instead of 5: there are 8 rows" in notes_of(found, "rows")
    assert found.scores["rows"].tolist() == [2, 2, 2, 2]
    with pytest.raises(DataError, match="needs four rows at least; there are 3"):
        explain(model, rows, numbers, max_rows=3)
    rare = np.where(np.arange(120) < 3, numbers, 0.0)
    halves = [(np.arange(60), np.arange(60, 120))]
    with pytest.raises(DataError, match="fold 0"):
        explain(model, rows, rare, cv=halves)
    with pytest.raises(SpecError, match="cv must be"):
        explain(model, rows, numbers, cv=1)


def test_a_model_that_guesses_is_told_from_one_that_predicts() -> None:
    model, rows, _ = fitted_numbers(FIRST_TWO)
    random = np.random.default_rng(2).normal(size=120)
    found = explain(model, rows, random, cv=2, repeats=1)
    assert "no better than always predicting" in notes_of(found, "rows")


@pytest.mark.parametrize("model", [MKLOneClass("linear"), MKLTransformer("linear")])
def test_models_without_a_target_are_refused(model: Any) -> None:
    rows, numbers = three_numbers(40)
    with pytest.raises(IncompatibleError, match="rows without labels, so there is no score"):
        explain(model.fit(rows), rows, numbers)
