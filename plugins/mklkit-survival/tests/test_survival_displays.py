"""Kaplan-Meier curves with numbers at risk, and calibration."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_survival import KaplanMeierDisplay, MKLSurvival, SurvivalCalibrationDisplay
from mklkit_survival.kaplan_meier import KaplanMeier
from survival_problems import study

from mklkit import DataError

pytest.importorskip("matplotlib")


def test_thirds_of_the_risk_are_drawn_with_the_numbers_at_risk() -> None:
    _, target, risks = study(90, 1)
    display = KaplanMeierDisplay.from_predictions(target, risks, unit="years")
    figure = display.figure()
    assert [len(group) for group in display.groups.values()] == [30, 30, 30]
    ax = display.ax_
    drawn = ax.lines[0].get_ydata()
    expected = KaplanMeier.of(target[risks <= np.sort(risks)[29]]).survival
    np.testing.assert_allclose(drawn[1:-1], expected)
    texts = [text.get_text() for text in ax.texts]
    ticks = ax.get_xticks()
    assert texts[:2] == ["at risk", "low risk"]
    at_risk = [str(int((display.groups["low risk"][:, 0] >= tick).sum())) for tick in ticks]
    assert texts[2 : 2 + len(ticks)] == at_risk
    assert at_risk[0] == "30"
    assert figure.axes[0].get_xlabel() == "years"


def test_groups_that_do_not_differ_are_refused() -> None:
    _, target, _ = study(30, 2)
    with pytest.raises(DataError, match="too few different"):
        KaplanMeierDisplay.from_predictions(target, np.zeros(30))
    with pytest.raises(DataError, match="2, 3 or 4"):
        KaplanMeierDisplay.from_predictions(target, np.arange(30), groups=7)
    with pytest.raises(DataError, match="29 risks for 30 samples"):
        KaplanMeierDisplay.from_predictions(target, np.arange(29))


def test_calibration_is_the_kaplan_meier_curve_of_each_group() -> None:
    rows, target, log_hazards = study(2000, 3)
    true = np.exp(-0.6 * np.exp(log_hazards))
    display = SurvivalCalibrationDisplay.from_predictions(target, true, 0.6)
    # Groups of 400 samples.
    np.testing.assert_allclose(display.observed, display.predicted, atol=0.08)
    assert (display.low <= display.observed).all()
    assert (display.observed <= display.high).all()
    lowest = np.argsort(true)[:400]
    assert display.observed[0] == KaplanMeier.of(target[lowest]).at(np.array([0.6]))[0]
    model = MKLSurvival("linear", learner="cox(alpha=1)").fit(rows[:300], target[:300])
    drawn = SurvivalCalibrationDisplay.from_estimator(
        model, rows[300:], target[300:], 0.6, unit="years"
    ).plot()
    assert drawn.ax_.get_ylabel() == "share surviving 0.6 years"


def test_calibration_needs_a_probability_for_each_sample() -> None:
    _, target, _ = study(30, 4)
    with pytest.raises(DataError, match="got 29 for 30"):
        SurvivalCalibrationDisplay.from_predictions(target, np.zeros(29), 1.0)
