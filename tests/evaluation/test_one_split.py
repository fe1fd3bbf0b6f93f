"""Two fitted models on the test samples of one split: McNemar, Tango's interval, the bootstrap."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, norm, t
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    explained_variance_score,
    f1_score,
    jaccard_score,
    log_loss,
    matthews_corrcoef,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
    root_mean_squared_error,
)

from mklkit.evaluation.counted_scores import of_counts
from mklkit.evaluation.one_split import OneSplit, Recorder, plain, read_responses
from mklkit.evaluation.paired_proportions import mcnemar_test, paired_interval, tango_interval
from mklkit.evaluation.resampling import Resampling
from mklkit.evaluation.verdict import planned_tests, verdict
from mklkit.tasks import Classification, Regression

RNG = np.random.default_rng(3)
TRUTH = np.array(["ill"] * 30 + ["well"] * 50)
CODES = (TRUTH == "well").astype(int)


@pytest.mark.parametrize(("n_first", "n_second", "n_samples"), [(9, 1, 50), (3, 8, 40), (6, 0, 30)])
def test_tangos_limits_have_the_score_statistic_of_the_constrained_likelihood(
    n_first: int, n_second: int, n_samples: int
) -> None:
    """The rate that maximises the likelihood is found on a grid, not by Tango's formula."""
    quantile = norm.ppf(0.975)
    for limit in tango_interval(n_first, n_second, n_samples):
        grid = np.linspace(max(0.0, -limit), (1 - limit) / 2, 200_001)[1:-1]
        rates = grid, grid + limit
        others = 1 - rates[0] - rates[1]
        terms = n_first * np.log(rates[1]) + n_second * np.log(rates[0])
        terms += (n_samples - n_first - n_second) * np.log(others)
        rate = grid[np.argmax(terms)]
        variance = n_samples * (2 * rate + limit - limit**2)
        statistic = (n_first - n_second - n_samples * limit) / np.sqrt(variance)
        assert abs(statistic) == pytest.approx(quantile, abs=1e-3)


def test_the_interval_excludes_0_if_and_only_if_the_exact_test_does() -> None:
    for n_first, n_second, level in product(range(0, 16, 3), range(16), (0.95, 0.9999)):
        low, high = paired_interval(n_first, n_second, 40, level)
        total = n_first + n_second
        p_value = binomtest(n_first, total).pvalue if total else 1.0
        assert mcnemar_test(n_first, n_second) == pytest.approx(p_value)
        assert (low > 0 or high < 0) == (p_value < 1 - level)
        assert -1 <= low <= (n_first - n_second) / 40 <= high <= 1


@pytest.mark.parametrize("rates", [(0.1, 0.1), (0.2, 0.05), (0.02, 0.02)])
def test_the_paired_interval_covers_the_difference(rates: tuple[float, float]) -> None:
    """Of 1,000 samples of 60, whose rates of being right in one model alone are given."""
    first, second = rates
    draws = np.random.default_rng(0).multinomial(60, [first, second, 1 - first - second], 1_000)
    pairs, times = np.unique(draws[:, :2], axis=0, return_counts=True)
    ends = np.array([paired_interval(*pair, 60) for pair in pairs.tolist()])
    covers = (ends[:, 0] <= first - second) & (first - second <= ends[:, 1])
    # A binomial share of 0.95 is below 0.93 in one of 500 such runs.
    assert (covers * times).sum() >= 930


def split_of(score: str, task: Any, truth: Any, models: dict[str, Any], **options: Any) -> OneSplit:
    """Return the test samples with models of predictions or of two probabilities."""
    classes = np.unique(truth) if isinstance(task, Classification) else None
    one_split = OneSplit(
        task, task.score_named(score), truth, task.scorer(score), classes, **options
    )
    return one_split.having(models)


def answering(share: float, seed: int) -> dict[str, Any]:
    """Return the answers of a model that ranks classes better for a larger share."""
    rng = np.random.default_rng(seed)
    odds = np.exp(share * (2 * CODES - 1) + rng.normal(size=len(CODES)).round(1))
    positive = odds / (1 + odds)
    return {
        "predict": (positive > 0.5).astype(int),
        "predict_proba": np.column_stack([1 - positive, positive]),
    }


GOOD, BAD = answering(1.5, 0), answering(0.3, 1)

CLASS_METRICS = {
    "balanced_accuracy": lambda y, a: balanced_accuracy_score(y, a["predict"]),
    "matthews_corrcoef": lambda y, a: matthews_corrcoef(y, a["predict"]),
    "f1_macro": lambda y, a: f1_score(y, a["predict"], average="macro"),
    "f1_weighted": lambda y, a: f1_score(y, a["predict"], average="weighted"),
    "precision_micro": lambda y, a: precision_score(y, a["predict"], average="micro"),
    "precision_macro": lambda y, a: precision_score(y, a["predict"], average="macro"),
    "recall_weighted": lambda y, a: recall_score(y, a["predict"], average="weighted"),
    "jaccard_macro": lambda y, a: jaccard_score(y, a["predict"], average="macro"),
    "jaccard": lambda y, a: jaccard_score(y, a["predict"]),
    "roc_auc": lambda y, a: roc_auc_score(y, a["predict_proba"][:, 1]),
    "neg_log_loss": lambda y, a: -log_loss(y, a["predict_proba"]),
    "neg_brier_score": lambda y, a: -brier_score_loss(y, a["predict_proba"][:, 1]),
}
NUMBER_METRICS = {
    "r2": r2_score,
    "explained_variance": explained_variance_score,
    "neg_mean_absolute_error": lambda *pair: -mean_absolute_error(*pair),
    "neg_mean_squared_error": lambda *pair: -mean_squared_error(*pair),
    "neg_root_mean_squared_error": lambda *pair: -root_mean_squared_error(*pair),
    "neg_mean_absolute_percentage_error": lambda *pair: -mean_absolute_percentage_error(*pair),
}


@pytest.mark.parametrize("name", CLASS_METRICS)
def test_scores_from_counts_are_scikit_learns_on_the_drawn_samples(name: str) -> None:
    scores_of = of_counts(name, CODES, BAD, np.array([0, 1]))
    assert scores_of is not None
    rows = RNG.integers(80, size=(5, 80))
    counts = np.array([np.bincount(drawn, minlength=80) for drawn in rows], float)
    taken = [{key: values[drawn] for key, values in BAD.items()} for drawn in rows]
    expected = [CLASS_METRICS[name](CODES[r], a) for r, a in zip(rows, taken, strict=True)]
    assert scores_of(counts) == pytest.approx(expected)


@pytest.mark.parametrize("name", NUMBER_METRICS)
@pytest.mark.parametrize("n_targets", [1, 3])
def test_scores_of_numbers_from_counts_are_scikit_learns(name: str, n_targets: int) -> None:
    truth = np.random.default_rng(0).normal(size=(40, n_targets)).squeeze()
    predictions = truth + np.random.default_rng(1).normal(size=truth.shape)
    scores_of = of_counts(name, truth, {"predict": predictions}, None)
    assert scores_of is not None
    rows = RNG.integers(40, size=(4, 40))
    counts = np.array([np.bincount(drawn, minlength=40) for drawn in rows], float)
    expected = [NUMBER_METRICS[name](truth[drawn], predictions[drawn]) for drawn in rows]
    assert scores_of(counts) == pytest.approx(expected)


def test_predictions_of_another_kind_than_targets_are_scored_one_draw_after_another() -> None:
    truth = np.column_stack([np.arange(1.0, 6), np.ones(5)])
    assert of_counts("concordance", truth, {"predict": np.arange(5.0)}, None) is None


def test_draws_have_as_many_samples_of_each_class_and_whole_groups() -> None:
    groups = np.arange(80) // 2
    for rows in Resampling.of(80, groups, 0, TRUTH).rows(20):
        assert (TRUTH[rows] == "ill").sum() == 30
        times = np.bincount(rows, minlength=80)
        assert (times[::2] == times[1::2]).all()
    assert list(Resampling.of(80, np.arange(80) % 9).rows(5)) == []  # fewer than ten groups


def test_the_interval_of_a_difference_in_mean_errors_is_students() -> None:
    """Quantiles of the bootstrap are widened to those of the t distribution."""
    truth = np.zeros(25)
    first, second = RNG.normal(size=25), 1.5 * RNG.normal(size=25)
    models = {"first": {"predict": first}, "second": {"predict": second}}
    one_split = split_of("neg_mean_absolute_error", Regression(), truth, models)
    differences = np.abs(second) - np.abs(first)
    error = differences.std(ddof=1) / 5
    half = t.ppf(0.975, 24) * error
    low, high = one_split.difference_interval("first", "second")
    # The quantiles of 9,999 draws vary by 2 %, and errors are not exactly normal.
    assert (low, high) == pytest.approx(
        (differences.mean() - half, differences.mean() + half), abs=0.1 * half
    )
    statistic = differences.mean() / error
    assert one_split.p_value("first", "second") == pytest.approx(
        2 * t.sf(abs(statistic), 24), abs=0.02
    )


@pytest.mark.process
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("score", ["balanced_accuracy", "roc_auc", "accuracy", "f1_macro"])
def test_intervals_agree_with_p_values(score: str, level: float) -> None:
    models = {f"{share}": answering(share, 9) for share in (0.2, 0.6, 0.9, 1.1)} | {"good": GOOD}
    one_split = split_of(score, Classification(), TRUTH, models)
    for name in models:
        low, high = one_split.difference_interval("good", name, level)
        assert (low > 0 or high < 0) == (one_split.p_value("good", name) < 1 - level)


def test_a_score_without_a_formula_is_computed_on_each_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The values of a model in another unit have the same average precision."""
    monkeypatch.setattr("mklkit.evaluation.one_split.FEWER_DRAWS", 199)
    truth = CODES
    values = {"decision_function": GOOD["predict_proba"][:, 1]}
    models = {"a": values, "b": {"decision_function": 3 * values["decision_function"] - 1}}
    models["c"] = {"decision_function": BAD["predict_proba"][:, 1]}
    one_split = split_of("average_precision", Classification(), truth, models)
    assert one_split.are_equal("a", "b")
    assert one_split.p_value("a", "b") == 1
    score = average_precision_score(truth, values["decision_function"])
    assert one_split.value(values) == pytest.approx(score)
    low, high = one_split.interval("a")
    assert low < score < high
    assert one_split.difference_interval("a", "c")[0] > 0


@pytest.mark.process
def test_samples_of_groups_are_drawn_together() -> None:
    """Each sample twice, as a group, has the interval of the samples once."""
    once = split_of("balanced_accuracy", Classification(), TRUTH, {"good": GOOD, "bad": BAD})
    twice = {
        name: {key: np.repeat(values, 2, axis=0) for key, values in answers.items()}
        for name, answers in {"good": GOOD, "bad": BAD}.items()
    }
    groups = np.repeat(np.arange(80), 2)
    grouped = split_of(
        "balanced_accuracy", Classification(), np.repeat(TRUTH, 2), twice, groups=groups
    )
    expected = once.difference_interval("good", "bad")
    assert grouped.difference_interval("good", "bad") == pytest.approx(expected)
    few = split_of("accuracy", Classification(), TRUTH, {"good": GOOD, "bad": BAD}, groups=CODES)
    assert np.isnan(few.p_value("good", "bad"))
    assert few.why_not("good", "bad") == "there are too few groups for test, fewer than 10"


def test_planned_tests_correct_for_questions_and_for_the_choice() -> None:
    models = {"good": GOOD, "bad": BAD, "worse": answering(0.0, 5)}
    one_split = split_of("accuracy", Classification(), TRUTH, models)
    right = {name: answers["predict"] == CODES for name, answers in models.items()}
    scores = {name: [values.mean()] for name, values in right.items()}
    questions = [("One", "good", "worse"), ("Best", "good", ["bad", "worse"])]
    tests = planned_tests(scores, questions, 100, 80, one_split=one_split)
    best = max(["bad", "worse"], key=lambda name: right[name].mean())
    assert tests["reference"].tolist() == ["worse", best]
    p_values = []
    for name, n_choices in (("worse", 1), (best, 2)):
        n_first = int((right["good"] & ~right[name]).sum())
        n_differ = int((right["good"] ^ right[name]).sum())
        p_values.append(min(1, n_choices * binomtest(n_first, n_differ).pvalue))
    assert tests["p_value"].tolist() == pytest.approx(p_values)
    low, high = sorted(p_values)
    assert sorted(tests["p_holm"]) == pytest.approx([2 * low, max(2 * low, high)])
    excludes = (tests["low"] > 0) | (tests["high"] < 0)
    assert excludes.tolist() == (tests["p_holm"] < 0.05).tolist()
    assert "good is better than worse" in verdict(tests)


def test_equal_predictions_and_unknown_ones_are_told() -> None:
    one_split = split_of("accuracy", Classification(), TRUTH, {"good": GOOD, "same": GOOD})
    scores = {name: [0.8] for name in ("good", "same", "other")}
    questions = [("Q", "good", "same"), ("R", "good", "other")]
    tests = planned_tests(scores, questions, 100, 80, one_split=one_split)
    same, unknown = verdict(tests).splitlines()
    assert same == "Q: good and same have the same score on each test sample."
    assert "the answers of other for the test samples are not known" in unknown


def test_only_the_answers_that_a_score_needs_are_kept() -> None:
    class Model:
        classes_ = np.unique(TRUTH)

        def predict(self, rows: Any) -> Any:
            return self.classes_[BAD["predict"]]

        def predict_proba(self, rows: Any) -> Any:
            return BAD["predict_proba"]

    task, rows = Classification(), np.zeros((80, 1))
    for score, kept in (("accuracy", ["predict"]), ("neg_log_loss", ["predict_proba"])):
        one_split = split_of(score, task, TRUTH, {})
        recorder = Recorder(Model(), rows)
        recorder.predict(rows), recorder.predict_proba(rows)
        answers = one_split.essential(recorder)
        assert list(answers) == kept
        again = read_responses(plain(answers), 80, 2)
        assert all(np.array_equal(again[name], answers[name]) for name in kept)


@pytest.mark.parametrize(
    "answers",
    [
        {"predict": [0, 1]},
        {"predict": [0, 1, 2]},
        {"predict": [0.5, 1, 1]},
        {"predict": ["a", "b", "c"]},
        {"decision_function": [1.0, 2.0, float("nan")]},
        {"decision_function": [[1.0], [2.0, 3.0], 1.0]},
        {"fit": [1, 1, 1]},
    ],
)
def test_impossible_answers_in_a_file_are_errors(answers: Any) -> None:
    with pytest.raises(ValueError, match=r"expected|inhomogeneous"):
        read_responses(answers, 3, 2)


@pytest.mark.slow
@pytest.mark.parametrize("score", ["balanced_accuracy", "roc_auc", "r2", "neg_mean_absolute_error"])
def test_bootstrap_intervals_cover_the_difference(score: str) -> None:
    """Two fixed models on 300 samples of 40; their scores on 100,000 samples are the truth."""
    rng = np.random.default_rng(0)
    is_class = score in ("balanced_accuracy", "roc_auc")
    task: Any = Classification() if is_class else Regression()

    def drawn(n: int) -> tuple[Any, dict[str, Any]]:
        truth = (rng.random(n) < 0.4).astype(int) if is_class else rng.normal(size=n)
        common = rng.normal(size=n)
        models = {}
        for name, strength, noise in (("a", 1.0, 0.8), ("b", 0.8, 1.0)):
            values = strength * truth + 0.5 * common + noise * rng.normal(size=n)
            models[name] = (
                {"predict": (values > 0.5).astype(int), "decision_function": values}
                if is_class
                else {"predict": values}
            )
        return truth, models

    truth, models = drawn(100_000)
    of_all = split_of(score, task, truth, models)
    difference = of_all.value(models["a"]) - of_all.value(models["b"])
    covered = 0
    for _ in range(300):
        low, high = split_of(score, task, *drawn(40)).difference_interval("a", "b")
        covered += low <= difference <= high
    # A binomial share of 0.95 is below 0.92 in one of a hundred such runs.
    assert covered >= 0.92 * 300


def test_too_few_samples_for_a_score_are_told() -> None:
    """Of two samples, half of the draws have one of them twice, and no variance."""
    truth = np.array([0.0, 1.0])
    models = {"a": {"predict": truth + 0.1}, "b": {"predict": truth - 0.3}}
    one_split = split_of("r2", Regression(), truth, models)
    scores = {"a": [0.96], "b": [0.64]}
    questions = [("Either", "a", "b")]
    tests = planned_tests(scores, questions, 10, 2, one_split=one_split)
    assert tests[["low", "high"]].isna().all(axis=None)
    assert "not defined" in tests.loc[0, "why_not"]
