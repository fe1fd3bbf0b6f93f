"""MKLSurvival: survival functions, combiners, searches, comparisons and model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from mklkit_survival import MKLSurvival, StackedHazards
from mklkit_survival.risk_sets import martingale_residuals
from mklkit_survival.times import as_structured
from sksurv.linear_model import CoxPHSurvivalAnalysis
from survival_problems import study, two_sources

import mklkit
from mklkit import DataError, MKLSearchCV
from mklkit.estimators.task_of import task_of
from mklkit.persistence import load_model, save_model

SOURCES = ["signal:linear@0:4", "noise:linear@4:8"]


def test_survival_functions_are_those_of_scikit_survival() -> None:
    rows, target, _ = study(120, 1)
    model = MKLSurvival("linear", learner="cox(alpha=3)", scale="none").fit(rows, target)
    known = CoxPHSurvivalAnalysis(alpha=3, ties="efron", tol=1e-12, n_iter=100)
    functions = known.fit(rows, as_structured(target)).predict_survival_function(rows)
    times = np.quantile(target[:, 0], [0.1, 0.5, 0.9])
    expected = [[function(time) for time in times] for function in functions]
    np.testing.assert_allclose(model.predict_survival_function(rows, times), expected, atol=1e-6)
    whole = model.predict_survival_function(rows)
    assert whole.shape == (120, len(model.event_times_))
    assert (np.diff(whole, axis=1) <= 0).all()
    before = model.predict_survival_function(rows, [target[:, 0].min() / 2])
    np.testing.assert_array_equal(before, 1)


def test_separated_times_have_survival_functions() -> None:
    rows = np.linspace(-2, 2, 40)[:, None]
    target = np.column_stack([np.exp(-rows[:, 0]), np.ones(40)])
    model = MKLSurvival("linear", learner="cox(alpha=1e-3)", scale="none").fit(rows, target)
    assert np.ptp(model.decision_function(rows)) > 100
    curves = model.predict_survival_function(rows)
    assert np.isfinite(curves).all()
    # Each sample is predicted to end between the events before and after it.
    assert model.score(rows, target) == 1
    ranks = np.searchsorted(model.event_times_, model.predict_median(rows))
    np.testing.assert_allclose(ranks, np.arange(40)[::-1], atol=1)


def test_medians_are_where_survival_functions_cross_one_half() -> None:
    rows, target, _ = study(120, 2)
    model = MKLSurvival("linear", random_state=0).fit(rows, target)
    medians = model.predict_median(rows)
    assert np.isinf(medians).any()
    assert np.isfinite(medians).any()
    curves = model.predict_survival_function(rows)
    for median, curve in zip(medians, curves, strict=True):
        reached = model.event_times_[curve <= 0.5]
        assert median == (reached[0] if len(reached) else np.inf)


def test_survival_of_a_simulated_study_is_calibrated() -> None:
    rows, target, _ = study(1500, 3)
    new, _, log_hazards = study(500, 4)
    model = MKLSurvival("linear", random_state=0).fit(rows, target)
    predicted = model.predict_survival_function(new, [0.5])[:, 0]
    true = np.exp(-0.5 * np.exp(log_hazards))
    # Five coefficients and a baseline from about 1,000 events.
    assert np.abs(predicted - true).mean() < 0.04


@pytest.mark.parametrize("combiner", ["alignment", "centered-alignment"])
def test_alignment_is_with_the_martingale_residuals(combiner: str) -> None:
    rows, target, _ = two_sources(100, 5)
    model = MKLSurvival(SOURCES, combiner=combiner, scale="none", learner="cox(alpha=1)")
    weights = model.fit(rows, target).weights_[0]
    residuals = martingale_residuals(target)
    expected = []
    for columns in (slice(0, 4), slice(4, 8)):
        gram = rows[:, columns] @ rows[:, columns].T
        if combiner == "centered-alignment":
            gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
        expected.append(residuals @ gram @ residuals / np.linalg.norm(gram))
    np.testing.assert_allclose(weights, np.array(expected) / np.sum(expected), atol=1e-6)
    assert weights[0] > 0.8


def test_combiners_tell_the_source_with_the_signal() -> None:
    rows, target, _ = two_sources(200, 6)
    new, truth, _ = two_sources(400, 7)
    scores = {}
    for combiner in ("uniform", "best-single", "stack-hazards", "mean-hazard"):
        model = MKLSurvival(SOURCES, combiner=combiner, random_state=0).fit(rows, target)
        scores[combiner] = model.score(new, truth)
        if combiner in ("best-single", "stack-hazards"):
            assert model.weights_[0, 0] > 0.9
    # The true log-hazards have a concordance of 0.77.
    assert min(scores.values()) > 0.74


def test_stacking_is_cox_regression_on_log_hazards() -> None:
    _, target, log_hazards = study(200, 8)
    noise = np.random.default_rng(8).normal(size=200)
    scores = np.column_stack([log_hazards / 2, log_hazards + 2 * noise])
    fused = StackedHazards().learn(scores, target, np.random.RandomState(0))
    known = CoxPHSurvivalAnalysis(ties="efron").fit(scores, as_structured(target))
    np.testing.assert_allclose(fused.coefficients, known.coef_.clip(0), atol=0.02)
    nothing = StackedHazards().learn(-scores, target, np.random.RandomState(0))
    np.testing.assert_allclose(nothing.view_weights.sum(), 1)
    assert (nothing.coefficients < 0.02).all()


def test_a_feature_map_passes_over_blocks_of_samples() -> None:
    rows, target, _ = study(5000, 15)
    settings = {"feature_map": "empirical(subset=12)", "random_state": 0, "scale": "none"}
    model = MKLSurvival(["linear", "rbf(sigma=2)"], learner="cox(alpha=1)", **settings)
    model.fit(rows, target)
    decision = model.decisions_[0]
    features = decision.transform(rows)
    known = CoxPHSurvivalAnalysis(alpha=1, ties="efron", tol=1e-12, n_iter=100)
    coefficients = known.fit(features, as_structured(target)).coef_
    gaps = model.decision_function(rows) - features @ coefficients
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-6)


@pytest.mark.parametrize("combiner", ["uniform", "centered-alignment", "mean-hazard"])
def test_samples_may_lack_a_source(combiner: str) -> None:
    rows, target, _ = two_sources(150, 9)
    table = pd.DataFrame(rows, columns=[f"{s}_{k}" for s in ("a", "b") for k in range(4)])
    table.loc[::4, [name for name in table if name.startswith("b")]] = np.nan
    kernels = ["a:rbf@a_*", "b:rbf@b_*"]
    model = MKLSurvival(kernels, combiner=combiner, random_state=0).fit(table, target)
    assert np.isfinite(model.predict_survival_function(table)).all()
    assert model.score(table, target) > 0.7


def test_folds_take_structured_arrays() -> None:
    rows, target, _ = study(90, 16)
    model = MKLSurvival("linear", learner="cox(alpha=1)")
    scores = mklkit.cross_validate(model, rows, as_structured(target), cv=3).scores
    assert scores == mklkit.cross_validate(model, rows, target, cv=3).scores
    assert scores["concordance"]["mean"] > 0.6


def test_a_search_tunes_survival_models() -> None:
    rows, target, _ = study(80, 10)
    search = MKLSearchCV(MKLSurvival("linear"), {"learner__alpha": [1e4, 1.0]}, cv=3)
    search.set_params(estimator__learner="cox(alpha=1)", random_state=0)
    search.fit(rows, as_structured(target))
    assert task_of(search).name == "survival"
    assert 0.5 < search.best_score_ < 1
    assert search.score(rows, target) > 0.7


def test_models_are_saved_with_their_baseline(tmp_path: Path) -> None:
    rows, target, _ = study(60, 11)
    model = MKLSurvival(["linear", "rbf"], random_state=0).fit(rows, target)
    save_model(model, tmp_path / "model.mkl")
    loaded: Any = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(
        loaded.predict_survival_function(rows, [0.2]), model.predict_survival_function(rows, [0.2])
    )


@pytest.mark.process
def test_methods_are_compared_on_the_same_splits() -> None:
    rows, target, _ = two_sources(120, 12)
    result = mklkit.compare(
        rows,
        as_structured(target),
        task="survival",
        kernels=SOURCES,
        cv=2,
        progress=False,
    )
    table = result.table().set_index("method")
    assert {"uniform", "stack-hazards", "cox elastic net", "survival forest"} <= {*table.index}
    learned = table.drop(index=["noise", "best-single"])
    assert (learned["concordance"] > 0.6).all()
    assert table.loc["uniform", "integrated_brier"] < table.loc["noise", "integrated_brier"]


def test_a_model_without_a_signal_is_said_to_guess() -> None:
    from mklkit_survival import Survival

    _, target, _ = study(100, 13)
    task = Survival()
    guess = task.baseline().fit(np.zeros((100, 1)), target).predict(np.zeros((100, 1)))
    told = task.no_better_than_guessing(task.score(target, guess))
    assert "no better than always predicting the Kaplan-Meier curve" in told


def test_targets_of_another_length_are_refused() -> None:
    rows, target, _ = study(20, 14)
    with pytest.raises(DataError, match="10 for 20"):
        MKLSurvival("linear").fit(rows, target[:10])
