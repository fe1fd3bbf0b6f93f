"""Scores of a fitted model on other samples: intervals and calibration."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit
from scipy.stats import bootstrap, norm
from sklearn.metrics import roc_auc_score

from mklkit import MKLClassifier, MKLRegressor, build_pipeline
from mklkit.errors import DataError
from mklkit.evaluation.calibration_lines import calibration_of
from mklkit.evaluation.cohort import score_cohort
from mklkit.evaluation.counted_scores import of_counts
from mklkit.protocols.score import Answers
from mklkit.tasks import Classification, Regression

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(160, 4)), columns=["lab_a", "lab_b", "x_a", "x_b"])
Y = np.where(X["lab_a"] + X["x_a"] + RNG.normal(size=160) > 0, "yes", "no")
TRAIN, TEST = slice(0, 80), slice(80, 160)


@pytest.fixture(scope="module")
def model() -> Any:
    """Return a classifier with probabilities."""
    kernels = ["lab:rbf@lab_*", "x:rbf@x_*"]
    return build_pipeline(MKLClassifier(kernels, probability=True)).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def result(model: Any) -> dict[str, Any]:
    """Return its scores on the other samples."""
    return score_cohort(model, X[TEST], Y[TEST], Classification(), n_draws=200)


def test_the_interval_of_the_accuracy_is_wilsons(model: Any, result: dict[str, Any]) -> None:
    share = (model.predict(X[TEST]) == Y[TEST]).mean()
    n, z = 80, norm.ppf(0.975)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    assert result["intervals"]["all"]["accuracy"] == pytest.approx((middle - half, middle + half))


def test_the_interval_of_the_area_is_scipys_bootstrap(model: Any, result: dict[str, Any]) -> None:
    probabilities = model.predict_proba(X[TEST])[:, 1]
    truth = Y[TEST] == "yes"

    def area(truth: Any, values: Any) -> float:
        return float(roc_auc_score(truth, values))

    drawn = bootstrap(
        (truth, probabilities),
        area,
        paired=True,
        vectorized=False,
        n_resamples=400,
        method="percentile",
        rng=np.random.default_rng(5),
    ).confidence_interval
    # Both are quantiles of draws: their own error is a sixth of the width.
    width = drawn.high - drawn.low
    assert result["intervals"]["all"]["auc"] == pytest.approx(
        (drawn.low, drawn.high), abs=width / 5
    )
    assert result["scores"]["all"]["auc"] == pytest.approx(area(truth, probabilities))


def test_balanced_accuracy_covers_its_expectation() -> None:
    """Of 400 cohorts, the interval holds the expected balanced accuracy in 93 % or more."""
    from mklkit.evaluation.resampling import wilson_of_mean

    rng = np.random.default_rng(1)
    recalls = np.array([0.9, 0.6])
    covered = 0
    for _ in range(400):
        low, high = wilson_of_mean(
            [rng.random(n) < p for n, p in zip((60, 12), recalls, strict=True)]
        )
        covered += low <= recalls.mean() <= high
    # A binomial share of 0.95 is below 0.925 in one of a hundred such runs.
    assert covered >= 0.925 * 400


def test_calibration_is_the_maximum_of_the_likelihood(model: Any, result: dict[str, Any]) -> None:
    probabilities = model.predict_proba(X[TEST])[:, 1]
    logits = np.log(probabilities / (1 - probabilities))
    happened = (Y[TEST] == "yes").astype(float)

    def loss(line: Any) -> float:
        values = line[0] + line[1] * logits
        return float(np.logaddexp(0, values).sum() - happened @ values)

    both = minimize(loss, [0.0, 1.0], tol=1e-10).x
    shift = minimize(lambda shift: loss([shift[0], 1.0]), [0.0], tol=1e-10).x
    line = result["calibration"]["yes"]
    assert line["slope"] == pytest.approx(both[1], rel=1e-3)
    assert line["intercept"] == pytest.approx(shift[0], abs=1e-4)
    low, high = line["slope_interval"]
    assert low < line["slope"] < high


def test_parts_have_all_sources_or_lack_one(model: Any) -> None:
    lacking = X[TEST].copy()
    lacking.loc[lacking.index[:20], ["lab_a", "lab_b"]] = np.nan
    scores = score_cohort(model, lacking, Y[TEST], Classification(), n_draws=100)["scores"]
    assert (scores["complete"]["rows"], scores["incomplete"]["rows"]) == (60, 20)
    right = model.predict(lacking) == Y[TEST]
    assert scores["incomplete"]["accuracy"] == pytest.approx(right[:20].mean())


def test_groups_widen_intervals_and_few_have_none(model: Any) -> None:
    twice = pd.concat([X[TEST], X[TEST]]), np.concatenate([Y[TEST], Y[TEST]])
    groups = np.tile(np.arange(80), 2)
    alone = score_cohort(model, X[TEST], Y[TEST], Classification(), n_draws=100)["intervals"][
        "all"
    ]["auc"]
    grouped = score_cohort(model, *twice, Classification(), groups, n_draws=100)["intervals"][
        "all"
    ]["auc"]
    assert grouped == pytest.approx(alone, abs=0.02)
    few = score_cohort(model, *twice, Classification(), np.repeat([0, 1], 80), n_draws=100)
    assert few["intervals"]["all"]["auc"] is None


def test_a_regression_is_scored_and_calibrated() -> None:
    target = X["lab_a"].to_numpy() + 0.1 * RNG.normal(size=160)
    model = build_pipeline(MKLRegressor(["linear"])).fit(X[TRAIN], target[TRAIN])
    result = score_cohort(model, X[TEST], target[TEST], Regression(), n_draws=100)
    predictions = model.predict(X[TEST])
    line = result["calibration"]["target"]
    assert line["slope"] == pytest.approx(np.polyfit(predictions, target[TEST], 1)[0])
    assert line["intercept"] == pytest.approx((target[TEST] - predictions).mean())
    low, high = result["intervals"]["all"]["r2"]
    assert low < result["scores"]["all"]["r2"] < high


def test_predictions_of_another_kind_than_targets_are_not_calibrated() -> None:
    """As a risk for a time and an event."""
    truth = np.column_stack([RNG.exponential(size=60), RNG.integers(2, size=60)])
    answers = Answers(truth, RNG.normal(size=60))
    assert calibration_of(answers, Regression(["time", "event"])) == {}


def test_a_perfect_score_has_no_interval_from_draws_that_are_all_the_same(model: Any) -> None:
    own = model.predict(X[TEST])
    result = score_cohort(model, X[TEST], own, Classification(), n_draws=100)
    assert result["intervals"]["all"]["auc"] is None
    low, high = result["intervals"]["all"]["balanced_accuracy"]
    assert low < 1 == pytest.approx(high)


def test_a_class_that_was_not_learned_is_refused(model: Any) -> None:
    with pytest.raises(DataError, match="'perhaps'"):
        score_cohort(model, X[TEST], np.full(80, "perhaps"), Classification(), n_draws=100)


def test_one_class_has_an_accuracy_alone(model: Any) -> None:
    ill = X[TEST][Y[TEST] == "yes"]
    result = score_cohort(model, ill, np.full(len(ill), "yes"), Classification(), n_draws=50)
    right = model.predict(ill) == "yes"
    scores = result["scores"]["all"]
    assert scores["accuracy"] == pytest.approx(right.mean())
    assert scores["confusion"] == [[0, 0], [int((~right).sum()), int(right.sum())]]
    assert scores["balanced_accuracy"] is scores["auc"] is scores["baseline"] is None
    ends = proportion_confint(int(right.sum()), len(ill))
    assert result["intervals"]["all"]["accuracy"] == pytest.approx(ends)
    assert result["calibration"] == {}
    assert "'yes'" in result["notes"][0]


def proportion_confint(n_right: int, n: int) -> tuple[float, float]:
    """Return Wilson's interval, as the roots of the quadratic equation of the score test."""
    z, share = norm.ppf(0.975), n_right / n
    low, high = sorted(np.roots([1 + z**2 / n, -(2 * share + z**2 / n), share**2]))
    return float(low), float(high)


def test_parts_have_intervals_like_cohorts_of_their_own(model: Any) -> None:
    lacking = X[TEST].copy()
    few = np.arange(80) < 30
    lacking.loc[lacking.index[few], ["lab_a", "lab_b"]] = np.nan
    result = score_cohort(model, lacking, Y[TEST], Classification(), n_draws=100)
    for part, rows in {"complete": ~few, "incomplete": few}.items():
        alone = score_cohort(model, lacking[rows], Y[TEST][rows], Classification(), n_draws=100)
        for score, ends in alone["intervals"]["all"].items():
            assert result["intervals"][part][score] == pytest.approx(ends)
        assert result["scores"][part]["auc"] == pytest.approx(
            roc_auc_score(Y[TEST][rows] == "yes", model.predict_proba(lacking[rows])[:, 1])
        )


def test_calibration_needs_fifty_samples_of_both_kinds(model: Any) -> None:
    def enough(n_yes: int, n_no: int) -> bool:
        places = [*np.flatnonzero(Y == "yes")[:n_yes], *np.flatnonzero(Y == "no")[:n_no]]
        cohort = X.iloc[places], Y[places]
        result = score_cohort(model, *cohort, Classification(), n_draws=20)
        return bool(result["calibration"]["yes"]["enough"])

    assert enough(50, 50)
    assert not enough(49, 60)
    assert not enough(60, 49)


def shift_to(probabilities: np.ndarray, logits: np.ndarray) -> float:
    """Return by how much logits are to rise, so that their mean probability is the true one."""
    return float(brentq(lambda shift: np.mean(expit(logits + shift) - probabilities), -5, 5))


@pytest.mark.process
@pytest.mark.parametrize("size", [1, 3])
def test_intervals_of_a_calibration_hold_the_truth(size: int) -> None:
    """Logits are too extreme by a known factor, alone and in groups of equal samples."""
    rng = np.random.default_rng(3)
    covered = np.zeros(2)
    n_cohorts = 200
    for _ in range(n_cohorts):
        logits = rng.normal(size=120) + 0.3
        happened = (rng.random(120) < expit(logits / 2)).astype(int)
        said, truth = np.repeat(logits, size), np.repeat(happened, size)
        probabilities = np.column_stack([expit(-said), expit(said)])
        answers = Answers(truth, truth, probabilities=probabilities)
        groups = None if size == 1 else np.repeat(np.arange(120), size)
        labels = np.array(["no", "yes"])
        line = calibration_of(answers, Classification(), labels, groups)["yes"]
        truths = 0.5, shift_to(expit(said / 2), said)
        ends = line["slope_interval"], line["intercept_interval"]
        covered += [low < true < high for true, (low, high) in zip(truths, ends, strict=True)]
    # A binomial share of 0.95 is below 0.91 in one of a hundred such runs.
    assert (covered >= 0.91 * n_cohorts).all()


def test_draws_of_one_class_have_no_area() -> None:
    truth, values = np.array([0, 0, 1]), np.array([0.2, 0.6, 0.5])
    area = of_counts("roc_auc", truth, {"decision_function": values}, np.array([0, 1]))
    assert area is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = area(np.array([[1.0, 1, 1], [2, 1, 0], [2, 0, 1]]))
    np.testing.assert_allclose(drawn, [roc_auc_score(truth, values), np.nan, 1])
