"""Concordance, AUC and Brier scores beside scikit-survival's functions."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_survival import Survival
from mklkit_survival import concordance as module
from mklkit_survival.concordance import concordance
from mklkit_survival.kaplan_meier import KaplanMeier
from mklkit_survival.scores import (
    SurvivalAnswers,
    cumulative_auc,
    integrated_brier,
    scored_times,
    uno,
)
from mklkit_survival.times import as_structured
from sksurv import metrics
from sksurv.nonparametric import kaplan_meier_estimator
from survival_problems import study

from mklkit.plugin import Answers


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("block", [7, 1024])
def test_concordance_is_harrells(tied: bool, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    _, target, risks = study(90, 1, tied=tied)
    risks = np.round(risks, 1) if tied else risks
    y = as_structured(target)
    known = metrics.concordance_index_censored(y["event"], y["time"], risks)[0]
    assert concordance(target, risks) == pytest.approx(known, rel=1e-12)


def test_concordance_without_a_comparable_pair_is_undefined() -> None:
    assert np.isnan(concordance(np.array([[1.0, 0], [2.0, 1]]), np.array([1.0, 0.0])))


@pytest.mark.parametrize("tied", [False, True])
def test_the_other_scores_are_those_of_scikit_survival(tied: bool) -> None:
    _, training, _ = study(150, 2, tied=tied)
    _, truth, risks = study(80, 3, tied=tied)
    times = scored_times(truth, training)
    assert len(times) > 2
    probabilities = np.exp(-np.outer(np.exp(risks), times))
    answers = Answers(truth, risks, training=training, probabilities=probabilities)
    y, known = as_structured(training), as_structured(truth)
    # Scored samples that are followed for longer than training samples are not in their range.
    known["event"] &= known["time"] <= times[-1]
    known["time"] = np.minimum(known["time"], np.nextafter(times[-1], np.inf))
    by_uno = metrics.concordance_index_ipcw(y, known, risks, tau=times[-1])[0]
    assert uno(answers) == pytest.approx(by_uno, rel=1e-10)
    area = metrics.cumulative_dynamic_auc(y, known, risks, times)[1]
    assert cumulative_auc(answers) == pytest.approx(area, rel=1e-12)
    brier = metrics.integrated_brier_score(y, known, probabilities, times)
    assert integrated_brier(answers) == pytest.approx(brier, rel=1e-12)


def test_true_hazards_are_calibrated_and_a_guess_is_worse() -> None:
    _, training, _ = study(400, 4)
    _, truth, risks = study(400, 5)
    times = scored_times(truth, training)
    curve = KaplanMeier.of(training).at(times)
    parts = np.exp(-np.outer(np.exp(risks), times)), np.tile(curve, (400, 1))
    scores = [
        integrated_brier(Answers(truth, risks, training=training, probabilities=part))
        for part in parts
    ]
    assert scores[0] < 0.8 * scores[1]


def test_scores_without_an_event_are_undefined() -> None:
    _, training, _ = study(50, 6)
    truth = np.array([[1.0, 0], [2.0, 0], [0.5, 0]])
    answers = SurvivalAnswers(truth, np.arange(3.0), training=training)
    for score in Survival().scores:
        if score.ranks:
            assert np.isnan(score.of(answers))


def test_the_kaplan_meier_curve_is_that_of_scikit_survival() -> None:
    _, target, _ = study(70, 7, tied=True)
    times, survival, limits = kaplan_meier_estimator(
        target[:, 1] > 0, target[:, 0], conf_type="log-log"
    )
    curve = KaplanMeier.of(target)
    np.testing.assert_allclose(curve.at(times), survival, rtol=1e-12)
    certain = (survival < 1) & (survival > 0)
    low, high = curve.interval(times)
    np.testing.assert_allclose(low[certain], limits[0][certain], rtol=1e-6)
    np.testing.assert_allclose(high[certain], limits[1][certain], rtol=1e-6)
