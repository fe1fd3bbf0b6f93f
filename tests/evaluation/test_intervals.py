"""How intervals narrow with more samples, by closed forms and drawn samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from mklkit.display import numbers
from mklkit.evaluation import Resolution, planned_tests
from mklkit.evaluation.class_scores import ACCURACY
from mklkit.evaluation.intervals import Interval, samples_needed
from mklkit.evaluation.one_split import OneSplit
from mklkit.evaluation.sentences import Unit
from mklkit.tasks import Classification


@pytest.mark.parametrize("level", [0.95, 0.9833])
def test_limits_of_samples_that_do_not_differ_shrink_with_1_over_n(level: float) -> None:
    interval = Interval(0.0, 0.0, 0.0, level, Resolution(60, "samples"))
    exact = np.log(1 - level) / np.log1p(
        -0.02
    )  # so many of which none differs: (1 − p)ⁿ = 1 − level
    assert samples_needed(60, interval, 0.02) == pytest.approx(exact, rel=0.05)
    assert interval.narrowest_with == "60 samples"


def test_tangos_interval_of_no_differences_shrinks_with_1_over_n() -> None:
    square = stats.norm.isf(0.025) ** 2
    half = square / (50 + square)
    interval = Interval(0.0, -half, half, discordant=(0, 0, 50), of_one_split=True)
    exact = square / 0.02 - square  # the end is z²/(n + z²)
    assert samples_needed(50, interval, 0.02) == pytest.approx(exact, rel=0.06)


def test_other_widths_shrink_with_the_root() -> None:
    for mean, margin, resolved in ((0.03, 0.02, 0.03), (0.005, 0.02, 0.015), (-0.005, 0.02, 0.025)):
        interval = Interval(mean, mean - 0.08, mean + 0.08)
        needed = samples_needed(100, interval, margin)
        assert needed == pytest.approx(100 * (0.08 / resolved) ** 2, rel=0.1)
    both = samples_needed(100, Interval(-0.005, -0.085, 0.075), 0.02, both_ends=True)
    assert both == pytest.approx(100 * (0.08 / 0.015) ** 2, rel=0.1)
    assert np.isnan(samples_needed(100, Interval(0.0, -0.1, 0.1), 0.0))
    assert np.isnan(samples_needed(100, Interval(0.0, np.nan, np.nan), 0.02))


def test_the_wider_of_both_determines_the_number() -> None:
    """With so many samples, the variation and Poisson's limit end within the margin."""
    mean, spread, margin = 0.005, 0.02, 0.02
    needed = samples_needed(200, Interval(mean, mean - spread, mean + spread, units=UNITS), margin)

    def ends(n_samples: float) -> float:
        of_counts = stats.chi2.isf(0.05, 2 * (mean * n_samples + 1)) / 2 / n_samples
        return max(mean + spread * np.sqrt(200 / n_samples), of_counts)

    assert ends(needed) <= margin < ends(0.9 * needed)


UNITS = Resolution(200, "samples")


def one_split(score: Any, answers: dict[str, Any], truth: Any) -> OneSplit:
    task = Classification()
    split = OneSplit(task, score, truth, task.scorer(score.name), np.array([0, 1]))
    return split.having(answers)


def test_the_area_of_one_split_has_the_bootstraps_interval() -> None:
    random = np.random.default_rng(3)
    truth = np.repeat([0, 1], [60, 12])
    first = random.normal(size=72) + 1.2 * truth
    second = first + random.normal(scale=0.1, size=72)
    answers = {
        name: {"decision_function": values}
        for name, values in zip("ab", (first, second), strict=True)
    }
    area = Classification().score_named("roc_auc")
    split = one_split(area, answers, truth)
    scores = {"a": [roc_auc_score(truth, first)], "b": [roc_auc_score(truth, second)]}
    units = Resolution(12, "samples in the rarest class")
    (test,) = planned_tests(
        scores, [("Q", "a", "b")], 100, 72, resolution=units, one_split=split
    ).to_dict("records")
    # Of a draw, the area is the share of its pairs in which the sample of class 1 has more.
    of_ones = random.multinomial(12, np.full(12, 1 / 12), size=4000)
    of_zeros = random.multinomial(60, np.full(60, 1 / 60), size=4000)
    first_is, second_is = (x[truth == 1][:, None] > x[truth == 0] for x in (first, second))
    drawn = np.sum((of_ones @ (1.0 * first_is - second_is)) * of_zeros, axis=1) / (12 * 60)
    expected = np.quantile(drawn, [0.025, 0.975])
    # Ends are wider by Student's distribution for few samples, by about a tenth here.
    np.testing.assert_allclose([test["low"], test["high"]], expected, atol=0.25 * np.ptp(expected))
    # The rule of three of 12 samples would allow 25 points.
    assert test["high"] - test["low"] < 0.1
    assert test["narrowest_with"] == ""


def test_one_test_sample_has_no_interval() -> None:
    split = one_split(
        ACCURACY, {"a": {"predict": np.array([1])}, "b": {"predict": np.array([0])}}, np.array([1])
    )
    scores = {"a": [1.0], "b": [0.0]}
    (test,) = planned_tests(scores, [("Q", "a", "b")], 9, 1, one_split=split).to_dict("records")
    assert np.isnan([test["low"], test["high"], test["p_value"]]).all()
    assert test["why_not"] == "there is one test sample"


def test_tables_and_sentences_round_alike() -> None:
    """Also numbers halfway between two decimals, however they were computed."""
    unit = Unit("accuracy")
    for twentieths in range(-40, 41):
        points = twentieths / 20
        values = points / 100, 0.5 + points / 100 - 0.5
        (written,) = {unit.change_in_table(value) for value in values}
        assert abs(float(written.replace("−", "-")) - points) <= 0.05 + 1e-9
        (size,) = {numbers.number(100 * value, 1).lstrip("−") for value in values}
        assert written.lstrip("+−") == size
        if size != "0.0":
            assert {unit.changed(value) for value in values} == {written}
