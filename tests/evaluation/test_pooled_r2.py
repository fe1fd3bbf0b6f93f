"""R² of splits: its mean is scikit-learn's R² of all held-out predictions together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from mklkit import MKLRegressor, explain
from mklkit.evaluation import cross_validate

RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(43, 2))
Y = X[:, 0] + RANDOM.normal(size=43)
SITES = np.repeat(np.arange(4), [3, 5, 10, 25])
MODEL = LinearRegression()


def together(folds: Any, splits: list[Any], targets: np.ndarray) -> float:
    """Return R² of the concatenated predictions of some folds."""
    tests = [test for _, test in splits]
    return float(r2_score(targets[np.concatenate(tests)], np.concatenate(folds)))


@pytest.mark.parametrize("targets", [Y, np.column_stack([Y, 100 + 5 * X[:, 1]])])
@pytest.mark.parametrize("scheme", [{"cv": "groups", "groups": SITES}, {"cv": "5x3"}])
def test_the_mean_is_that_of_all_predictions(scheme: Any, targets: np.ndarray) -> None:
    result = cross_validate(MODEL, X, targets, **scheme)
    k = result.splits.n_folds
    of_repeats = [
        together(result.answers[at : at + k], result.splits[at : at + k], targets)
        for at in range(0, len(result.splits), k)
    ]
    assert result.scores["r2"]["mean"] == pytest.approx(np.mean(of_repeats))


def test_single_samples_have_a_score() -> None:
    every = np.arange(43)
    result = cross_validate(MODEL, X, Y, [(np.delete(every, row), [row]) for row in every])
    assert result.scores["r2"]["mean"] == pytest.approx(r2_score(Y, np.concatenate(result.answers)))


def test_few_samples_and_heavy_tails_bias_it_little() -> None:
    """By simulation: R² of 40 samples is near that of the same models on many new samples."""
    random, gaps = np.random.default_rng(0), []
    for _ in range(25):
        rows, new = random.normal(size=(40, 1)), random.normal(size=(4000, 1))
        noise, other = (random.standard_t(3, size=n) / np.sqrt(3) for n in (40, 4000))
        y, truth = rows[:, 0] + noise, new[:, 0] + other
        result = cross_validate(MODEL, rows, y, cv=5)
        answers = MODEL.fit(rows, y).predict(new)
        gaps.append(result.scores["r2"]["mean"] - r2_score(truth, answers))
    assert abs(np.mean(gaps)) < 0.05
    assert min(gaps) > -0.5


def test_losses_are_differences_of_it() -> None:
    model = MKLRegressor(["a:linear@0", "b:linear@1"], learner="ridge(alpha=1)", random_state=0)
    every = np.arange(43)
    splits = [(every[site != SITES], every[site == SITES]) for site in range(4)]
    result = explain(model.fit(X, Y), X, Y, cv=splits, repeats=2)
    smaller = MKLRegressor(["b:linear@1"], learner="ridge(alpha=1)", random_state=0)
    whole, without = (
        together([fit.fit(X[t], Y[t]).predict(X[s]) for t, s in splits], splits, Y)
        for fit in (model, smaller)
    )
    assert result.scores["r2"].mean() == pytest.approx(whole)
    assert result.kernels["left_out"][0] == pytest.approx(without - whole)
