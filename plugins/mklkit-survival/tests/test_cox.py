"""Cox regression beside scikit-survival's and lifelines', on features and on Gram matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from mklkit_survival import Cox, MKLSurvival
from mklkit_survival.cox import GRID
from mklkit_survival.times import TIMES, as_structured, read_times
from scipy.optimize import minimize
from sklearn.preprocessing import StandardScaler
from sksurv import datasets
from sksurv.linear_model import CoxPHSurvivalAnalysis
from survival_problems import log_likelihood, study

from mklkit import DataError, IncompatibleError
from mklkit.plugin import FeatureSide, GramSide, Target


def table(name: str) -> tuple[np.ndarray[Any, Any], Any]:
    """Return standardised numbers and the structured array of a data set of scikit-survival."""
    X, y = getattr(datasets, f"load_{name}")()
    numbers = pd.get_dummies(X, drop_first=True, dtype=float)
    known = numbers.notna().all(axis=1).to_numpy() & (y[y.dtype.names[1]] > 0)
    return StandardScaler().fit_transform(numbers[known]), y[known]


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("name", ["gbsg2", "veterans_lung_cancer", "whas500", "breast_cancer"])
def test_a_linear_kernel_is_scikit_survivals_ridge(name: str, ties: str) -> None:
    rows, y = table(name)
    target = Target(TIMES, read_times(y))
    for alpha in (0.1, 10.0):
        known = CoxPHSurvivalAnalysis(alpha=alpha, ties=ties, n_iter=100, tol=1e-12).fit(rows, y)
        on_gram = Cox(alpha, ties).fit(GramSide(rows @ rows.T), target)
        on_features = Cox(alpha, ties).fit(FeatureSide(rows), target)
        for weights in (rows.T @ on_gram.coefficients, on_features.coefficients):
            np.testing.assert_allclose(weights, known.coef_, atol=1e-6)
        shifts = on_gram.decide(rows @ rows.T) - rows @ known.coef_
        np.testing.assert_allclose(shifts, shifts[0], atol=1e-6)
        others = on_features.decide(rows) - rows @ known.coef_
        np.testing.assert_allclose(others, shifts[0], atol=1e-6)


@pytest.mark.process
def test_it_is_scikit_survivals_ridge_on_thousands_of_samples() -> None:
    rows, y = table("flchain")
    known = CoxPHSurvivalAnalysis(alpha=1.0, ties="efron", n_iter=100, tol=1e-12).fit(rows, y)
    fitted = Cox(1.0).fit(FeatureSide(rows), Target(TIMES, read_times(y)))
    np.testing.assert_allclose(fitted.coefficients, known.coef_, atol=1e-6)


def test_without_a_penalty_it_is_lifelines_fit() -> None:
    lifelines = pytest.importorskip("lifelines")
    rows, target, _ = study(80, 1, tied=True)
    frame = pd.DataFrame(rows).assign(time=target[:, 0], event=target[:, 1])
    fitter = lifelines.CoxPHFitter()
    fitter.fit(frame, "time", "event", fit_options={"precision": 1e-12})
    fitted = Cox(1e-8).fit(FeatureSide(rows), Target(TIMES, target))
    np.testing.assert_allclose(fitted.coefficients, fitter.params_, atol=1e-4)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_a_kernel_of_full_rank_minimises_the_printed_objective(ties: str) -> None:
    rows, target, _ = study(25, 2, tied=True)
    gram = np.exp(-np.square(rows[:, None] - rows).sum(axis=2) / 5)

    def objective(coefficients: np.ndarray[Any, Any]) -> float:
        values = gram @ coefficients
        return -log_likelihood(target, values, ties) + 0.25 * float(coefficients @ values)

    fitted = Cox(0.5, ties).fit(GramSide(gram), Target(TIMES, target))
    best = minimize(objective, np.zeros(25), method="BFGS", options={"gtol": 1e-6})
    assert objective(fitted.coefficients) <= best.fun + 1e-9
    assert objective(fitted.coefficients) == pytest.approx(fitted.history[-1], rel=1e-9)


def test_more_features_than_samples_are_solved_among_samples() -> None:
    rows, target, _ = study(30, 3, features=50)
    on_features = Cox(2.0).fit(FeatureSide(rows), Target(TIMES, target))
    on_gram = Cox(2.0).fit(GramSide(rows @ rows.T), Target(TIMES, target))
    np.testing.assert_allclose(on_features.coefficients, rows.T @ on_gram.coefficients, atol=1e-8)
    np.testing.assert_allclose(on_features.decide(rows), on_gram.decide(rows @ rows.T), atol=1e-8)


def test_samples_that_end_before_the_first_event_do_not_count() -> None:
    rows, target, _ = study(40, 4)
    early = np.argsort(target[:, 0])[:5]
    target[early, 1] = 0
    kept = np.setdiff1d(np.arange(40), early)
    whole = Cox(1.0).fit(GramSide(rows @ rows.T), Target(TIMES, target))
    part = rows[kept]
    alone = Cox(1.0).fit(GramSide(part @ part.T), Target(TIMES, target[kept]))
    np.testing.assert_allclose(rows.T @ whole.coefficients, part.T @ alone.coefficients, atol=1e-8)


def folds_by_rank(target: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> Any:
    """Return the fold of each sample, dealt by event, time and squared norm."""
    order = np.lexsort((np.square(rows).sum(axis=1), target[:, 0], target[:, 1]))
    fold_of = np.empty(len(order), int)
    fold_of[order] = np.arange(len(order)) % 5
    return fold_of


def test_the_penalty_has_the_largest_cross_validated_likelihood() -> None:
    rows, target, _ = study(60, 5)
    y = as_structured(target)
    chosen = Cox().fit(FeatureSide(rows), Target(TIMES, target)).alpha
    fold_of = folds_by_rank(target, rows)

    def criterion(alpha: float) -> float:
        total = 0.0
        for fold in range(5):
            train = fold_of != fold
            model = CoxPHSurvivalAnalysis(alpha=alpha, ties="efron").fit(rows[train], y[train])
            values = rows @ model.coef_
            total += log_likelihood(target, values, "efron")
            total -= log_likelihood(target[train], values[train], "efron")
        return total

    ratios = GRID / GRID[0]
    tried = [chosen * ratio for ratio in (ratios[2], ratios[1], 1, 1 / ratios[1], 1 / ratios[2])]
    values = [criterion(alpha) for alpha in tried]
    # The folds of the fit end within 1e-3 of their minima.
    assert values[2] >= max(values) - 1e-4


def test_the_penalty_is_the_same_on_features_and_gram_matrices() -> None:
    rows, target, _ = study(80, 6, tied=True)
    on_features = Cox().fit(FeatureSide(rows), Target(TIMES, target))
    on_gram = Cox().fit(GramSide(rows @ rows.T), Target(TIMES, target))
    assert on_features.alpha == pytest.approx(on_gram.alpha, rel=1e-6)
    resolved = Cox().resolved(GramSide(rows @ rows.T), Target(TIMES, target))
    assert resolved.alpha == on_gram.alpha


def test_noise_is_shrunk_and_a_signal_is_not() -> None:
    rows, target, log_hazards = study(300, 7)
    signal = Cox().fit(FeatureSide(rows), Target(TIMES, target))
    # Of 300 exponential times, coefficients of 1 and −0.7 have standard errors below 0.1.
    np.testing.assert_allclose(signal.coefficients, [1, -0.7, 0, 0, 0], atol=0.3)
    noise = np.random.default_rng(8).normal(size=(300, 40))
    shrunk = Cox().fit(FeatureSide(noise), Target(TIMES, target))
    assert np.std(noise @ shrunk.coefficients) < 0.3 * np.std(log_hazards)


def test_groups_are_kept_together_when_the_penalty_is_chosen() -> None:
    rows, target, _ = study(30, 9)
    # A sample and its copies, in folds of their own, would be told by heart.
    copies = np.arange(30).repeat(4)
    wide = np.hstack([rows, np.random.default_rng(9).normal(size=(30, 60))])[copies]
    alone = Cox().fit(FeatureSide(wide), Target(TIMES, target[copies]))
    grouped = Cox().fit(FeatureSide(wide), Target(TIMES, target[copies], groups=copies))
    assert grouped.alpha > alone.alpha


def test_nothing_can_be_learned_without_an_event() -> None:
    rows, target, _ = study(20, 10)
    target[:, 1] = 0
    with pytest.raises(DataError, match="no event among the training samples"):
        Cox().fit(FeatureSide(rows), Target(TIMES, target))


def test_weights_of_samples_need_breslows_ties() -> None:
    rows, target, _ = study(40, 11)
    weights = np.linspace(1, 3, 40)
    with pytest.raises(IncompatibleError, match="cox"):
        MKLSurvival("linear").fit(rows, target, sample_weight=weights)
    times = np.where(np.arange(40) % 2, 2, 1)
    model = MKLSurvival("linear", learner="cox(alpha=1, ties='breslow')", scale="none")
    weighted = model.fit(rows, target, sample_weight=times.astype(float))
    hazards, values = weighted.cumulative_hazards_, weighted.decision_function(rows)
    repeated = model.fit(rows.repeat(times, axis=0), target.repeat(times, axis=0))
    np.testing.assert_allclose(values, repeated.decision_function(rows), atol=1e-7)
    np.testing.assert_allclose(hazards, repeated.cumulative_hazards_, rtol=1e-6)
