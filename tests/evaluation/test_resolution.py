"""The least difference that samples, classes and groups can exclude."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import balanced_accuracy_score as balanced
from sklearn.metrics import get_scorer, roc_auc_score

from mklkit.evaluation import Resolution, planned_tests, resolution_of
from mklkit.evaluation.class_scores import SAMPLES

LABELS = np.repeat(["a", "b", "c"], [10, 30, 60])


def test_units_change_the_scores_by_what_they_count() -> None:
    """One sample predicted otherwise, by scikit-learn's scores, changes a score by 1/n at most."""
    units = resolution_of("balanced_accuracy", LABELS)
    for place in (0, 10, 40):
        wrong = LABELS.copy()
        wrong[place] = "b" if LABELS[place] != "b" else "c"
        change = 1 - balanced(LABELS, wrong)
        limit = 1 / (units.count * units.n_means)
        assert change == pytest.approx(limit) if place == 0 else change < limit
        for score in ("accuracy", *SAMPLES):
            scorer = get_scorer(score)._score_func
            options = get_scorer(score)._kwargs
            n = resolution_of(score, LABELS).count
            assert 1 - scorer(LABELS, wrong, **options) == pytest.approx(1 / n)
    ill = LABELS == "a"
    last = ill.astype(float)
    last[0] = -1
    assert 1 - roc_auc_score(ill, last) == pytest.approx(1 / resolution_of("roc_auc", ill).count)


def test_groups_are_the_units() -> None:
    patients = np.repeat(np.arange(25), 4)  # of a: 0 to 2, of b: 2 to 9, of c: 10 to 24
    units = resolution_of("balanced_accuracy", LABELS, patients)
    assert (units.count, units.n_means) == (3, 3)
    assert resolution_of("accuracy", LABELS, patients).count == 25
    assert resolution_of("roc_auc", LABELS, patients).n_means == 1
    assert resolution_of("r2", np.arange(100.0), patients).count == 25
    assert resolution_of("neg_log_loss", LABELS) is None
    assert resolution_of("neg_mean_absolute_error", np.arange(9.0)) is None


def test_a_limit_is_seldom_exceeded_however_many_units_differ() -> None:
    """By simulation: of n units each differs with a probability; the limit holds 19 of 20 times."""
    random, n = np.random.default_rng(0), 40
    units = resolution_of("accuracy", np.arange(n) % 2)
    for share in (0.03, 0.08, 0.1, 0.15, 0.3):
        measured = random.binomial(n, share, 2000) / n
        limits = {mean: mean + units.floor(mean) for mean in np.unique(measured)}
        exceeded = np.mean([limits[mean] < share for mean in measured])
        assert exceeded < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


def test_the_limit_of_r2_is_seldom_exceeded_however_much_a_column_explains() -> None:
    """By simulation: what least squares gain by a column exceeds no limit 19 of 20 times."""
    random, n = np.random.default_rng(0), 60
    units = resolution_of("r2", np.arange(n))
    for effect in (0.0, 0.1, 0.2, 0.4):
        columns = random.normal(size=(1000, 2, n))
        targets = columns[:, 0] + effect * columns[:, 1] + random.normal(size=(1000, n))
        gain = effect**2 / (2 + effect**2)
        exceeded = 0
        for (first, second), target in zip(columns, targets, strict=True):
            total = np.square(target).sum()
            # Without an intercept, because all have mean 0.
            shares = [
                np.square(np.linalg.lstsq(rows, target, rcond=None)[0] @ rows.T).sum() / total
                for rows in (first[:, None], np.column_stack([first, second]))
            ]
            least = units.with_scores(*shares).floor(shares[1] - shares[0])
            exceeded += gain > shares[1] - shares[0] + least
        assert exceeded / 1000 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_ends_are_no_nearer_than_poisson_limits_and_exclude_zero_as_the_splits_do() -> None:
    units = Resolution(100, "samples")
    for sign in (1, -1):
        mean, exact = sign * 0.05, stats.poisson
        # Of 5 units, the limits of a Poisson mean: with them, 5 or more (or fewer) are improbable.
        least, most = (
            np.sort(np.abs(units.limits(mean, mean - 0.001, mean + 0.001))) * 100
        ).tolist()
        assert exact.sf(4, least) == pytest.approx(0.05)
        assert exact.cdf(5, most) == pytest.approx(0.05)
        low, high = units.limits(mean, mean - 0.04, mean + 0.04)
        assert min(abs(low), abs(high)) == pytest.approx(0.01)
        assert units.limits(mean, mean - 0.2, mean + 0.2) == pytest.approx((mean - 0.2, mean + 0.2))
        low, high = units.limits(mean, mean - 0.052, mean + 0.052)
        assert high - mean == pytest.approx(mean - low) == pytest.approx(units.floor(mean))
    assert np.isnan(units.limits(0.05, np.nan, np.nan)).all()


def test_equal_scores_leave_the_rule_of_three_of_the_rarest_class() -> None:
    scores = {"a": np.full(10, 0.9), "b": np.full(10, 0.9)}
    labels = np.repeat([0, 1], [180, 20])
    expected = {"accuracy": 200, "balanced_accuracy": 40, "roc_auc": 20}
    for score, n_units in expected.items():
        units = resolution_of(score, labels)
        tests = planned_tests(scores, [("Q", "a", "b")], 160, 40, resolution=units)
        limit = stats.beta.isf(0.05, 1, n_units)  # the exact binomial limit of none of n
        assert tests["high"].item() == -tests["low"].item() == pytest.approx(limit, rel=0.1)


def test_no_limit_is_beyond_what_is_possible() -> None:
    """Of one sample the rule of three would allow 300 points."""
    units = resolution_of("accuracy", ["a"])
    assert units is not None
    assert str(units) == "1 sample"
    assert units.limits(0.0, 0.0, 0.0) == (-1.0, 1.0)
