"""The partial likelihood and its derivatives, beside a transcription and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_survival.risk_sets import RiskSets, baseline_hazard, martingale_residuals
from mklkit_survival.times import as_structured
from sksurv.nonparametric import nelson_aalen_estimator
from survival_problems import log_likelihood, study


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("tied", [False, True])
def test_it_is_the_textbooks_one(ties: str, tied: bool) -> None:
    _, target, log_hazards = study(40, 1, tied=tied)
    likelihood = RiskSets.of(target, ties).at(log_hazards)
    assert likelihood.log == pytest.approx(log_likelihood(target, log_hazards, ties), rel=1e-12)
    assert likelihood.losses().sum() == pytest.approx(-likelihood.log, rel=1e-12)
    assert not likelihood.losses()[target[:, 1] == 0].any()


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_its_derivatives_are_those_of_the_transcription(ties: str) -> None:
    _, target, log_hazards = study(30, 2, tied=True)
    likelihood = RiskSets.of(target, ties).at(log_hazards)
    step = 1e-5
    gradient, hessian = np.zeros(30), np.zeros((30, 30))
    for place, unit in enumerate(np.eye(30)):
        above, below = (log_hazards + sign * step * unit for sign in (1, -1))
        rise = log_likelihood(target, above, ties) - log_likelihood(target, below, ties)
        gradient[place] = rise / (2 * step)
        slopes = [RiskSets.of(target, ties).at(f).residuals() for f in (above, below)]
        hessian[place] = (slopes[1] - slopes[0]) / (2 * step)
    # Central differences with steps of 1e-5 have errors near 1e-9.
    np.testing.assert_allclose(likelihood.residuals(), gradient, atol=1e-7)
    curved = np.array([likelihood.curved(unit) for unit in np.eye(30)])
    np.testing.assert_allclose(curved, hessian, atol=1e-7)
    np.testing.assert_allclose(curved.sum(axis=0), 0, atol=1e-12)  # Only differences count.


def test_huge_log_hazards_do_not_overflow() -> None:
    _, target, log_hazards = study(30, 3)
    risk_sets = RiskSets.of(target, "efron")
    shifted = risk_sets.at(log_hazards + 5000)
    assert shifted.log == pytest.approx(risk_sets.at(log_hazards).log, rel=1e-9)
    assert np.isfinite(shifted.residuals()).all()


def test_a_weight_of_two_is_the_same_sample_twice() -> None:
    _, target, log_hazards = study(30, 4, tied=True)
    times = np.where(np.arange(30) % 3 == 0, 2, 1)
    weighted = RiskSets.of(target, "breslow", times.astype(float)).at(log_hazards)
    twice = RiskSets.of(target.repeat(times, axis=0), "breslow").at(log_hazards.repeat(times))
    assert weighted.log == pytest.approx(twice.log, rel=1e-12)
    places = np.cumsum(times) - times
    np.testing.assert_allclose(
        weighted.residuals(), np.add.reduceat(twice.residuals(), places), atol=1e-12
    )


def test_martingale_residuals_are_events_less_the_cumulative_hazard() -> None:
    _, target, _ = study(60, 5, tied=True)
    times, hazards = nelson_aalen_estimator(target[:, 1] > 0, target[:, 0])
    expected = target[:, 1] - hazards[np.searchsorted(times, target[:, 0])]
    residuals = martingale_residuals(target)
    np.testing.assert_allclose(residuals, expected, atol=1e-12)
    assert residuals.sum() == pytest.approx(0, abs=1e-10)


def test_the_baseline_hazard_is_that_of_scikit_survival() -> None:
    from sksurv.linear_model.coxph import BreslowEstimator

    _, target, log_hazards = study(60, 6, tied=True)
    y = as_structured(target)
    known = BreslowEstimator().fit(log_hazards, y["event"], y["time"])
    times, hazards = baseline_hazard(target, log_hazards)
    np.testing.assert_allclose(hazards, known.cum_baseline_hazard_(times), rtol=1e-10)
