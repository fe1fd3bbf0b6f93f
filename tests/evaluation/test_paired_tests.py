"""Tests of two methods on the splits of one data set."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mklkit.errors import DataError
from mklkit.evaluation import (
    corrected_interval,
    corrected_t_test,
    holm,
    least_difference,
    paired_t_test,
)
from mklkit.evaluation.paired_tests import holm_levels, interval_p_value

DIFFERENCES = np.random.default_rng(5).normal(0.01, 0.02, 10)


def test_the_ordinary_test_is_scipys():
    test, expected = paired_t_test(DIFFERENCES), stats.ttest_1samp(DIFFERENCES, 0)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue)


def test_the_correction_divides_the_statistic_as_nadeau_and_bengio_do():
    # sqrt((1/10) / (1/10 + 1/9)) for ten folds.
    ordinary, corrected = paired_t_test(DIFFERENCES), corrected_t_test(DIFFERENCES, 90, 10)
    assert corrected.statistic == pytest.approx(ordinary.statistic * math.sqrt(9 / 19))
    assert corrected.p_value == pytest.approx(2 * stats.t.sf(abs(corrected.statistic), 9))
    by_split = corrected_t_test(DIFFERENCES, np.repeat([80, 100], 5), np.repeat([8, 12], 5))
    assert by_split.statistic == pytest.approx(
        DIFFERENCES.mean() / math.sqrt((0.1 + 0.11) * DIFFERENCES.var(ddof=1))
    )


@pytest.mark.parametrize(
    ("differences", "statistic", "p_value"),
    [
        ([0, 0, 0], 0, 1),
        ([0.1], math.nan, math.nan),
        ([0.1, math.nan], math.nan, math.nan),
        ([0.1, math.inf], math.nan, math.nan),
    ],
)
def test_limits(differences, statistic, p_value):
    for outcome in (paired_t_test(differences), corrected_t_test(differences, 90, 10)):
        np.testing.assert_equal((outcome.statistic, outcome.p_value), (statistic, p_value))


def test_equal_differences_are_known_to_the_rounding_of_scores():
    differences = [-0.1, 0.2 - 0.3, -0.1]
    plain = paired_t_test(differences)
    assert (plain.statistic, plain.p_value) == (-math.inf, 0)
    test = corrected_t_test(differences, 90, 10)
    # Scores of ten rows are multiples of a tenth: a uniform error has the variance 0.1²/12.
    expected = -0.1 / math.sqrt((1 / 3 + 1 / 9) * 0.1**2 / 12)
    assert test.statistic == pytest.approx(expected)
    assert test.p_value == pytest.approx(2 * stats.t.sf(-expected, 2))


def test_interval_ends_where_the_test_of_its_end_finds_no_difference():
    low, high = corrected_interval(DIFFERENCES, 90, 10, level=0.9)
    for end in (low, high):
        assert corrected_t_test(DIFFERENCES - end, 90, 10).p_value == pytest.approx(0.1)
    assert np.isnan(corrected_interval([0.9], 90, 10)).all()


def test_least_difference_is_just_found():
    centered = DIFFERENCES - DIFFERENCES.mean()
    least = least_difference(DIFFERENCES, 90, 10, alpha=0.01)
    assert corrected_t_test(centered + least, 90, 10).p_value == pytest.approx(0.01)


def test_an_interval_of_holms_level_excludes_zero_where_holm_finds_a_difference():
    """With the textbook's interval and p value of a mean, by scipy."""
    random = np.random.default_rng(0)
    for _ in range(50):
        samples = random.normal(random.choice([0, 0.5, 1], 4)[:, None], 1, (4, 20))
        tests = [stats.ttest_1samp(values, 0) for values in samples]
        p_values = [test.pvalue for test in tests]
        adjusted, levels = holm_levels(p_values)
        np.testing.assert_array_equal(adjusted, holm(p_values))
        for test, level, p_value in zip(tests, levels, adjusted, strict=True):
            low, high = test.confidence_interval(level)
            assert (low > 0 or high < 0) == (p_value < 0.05)


def test_holm_by_hand():
    # 4 · 0.005, 3 · 0.01, 2 · 0.03, and 1 · 0.04, which is raised to the one before.
    adjusted = holm([0.04, 0.01, math.nan, 0.03, 0.005])
    np.testing.assert_allclose(adjusted, [0.06, 0.03, math.nan, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.6, 0.7]), [1, 1])
    assert np.isnan(holm([math.nan])).all()
    assert len(holm([])) == 0


@pytest.mark.parametrize(
    ("differences", "n_train", "n_test"),
    [([], 9, 1), ([[0.1]], 9, 1), ([0.1, 0.2], 0, 1), ([0.1, 0.2], [9, 9, 9], 1)],
)
def test_mistakes(differences, n_train, n_test):
    with pytest.raises(DataError):
        corrected_t_test(differences, n_train, n_test)


def test_the_levels_of_intervals_are_those_of_holms_steps() -> None:
    """Written out: sorted, each compared with α/(m − i), until one is not below it."""
    random = np.random.default_rng(0)
    for n_tests in (1, 2, 5, 9):
        p_values = random.uniform(0, 0.06, n_tests)
        levels, step, stopped = np.empty(n_tests), n_tests, False
        for place, test in enumerate(np.argsort(p_values)):
            step = step if stopped else n_tests - place
            stopped |= not p_values[test] < 0.05 / step
            levels[test] = 1 - 0.05 / step
        adjusted, of_function = holm_levels(p_values)
        np.testing.assert_allclose(of_function, levels)
        np.testing.assert_allclose(adjusted, holm(p_values))
    assert np.isnan(holm_levels([np.nan, 0.01])[1]).tolist() == [True, False]


def test_the_p_value_of_an_interval_is_that_of_the_test_it_inverts() -> None:
    random = np.random.default_rng(1)
    for shift in (0.0, 0.3, 1.0):
        values = random.normal(shift, 1, 10)
        inverted = interval_p_value(lambda level, v=values: corrected_interval(v, 90, 10, level))
        assert inverted == pytest.approx(corrected_t_test(values, 90, 10).p_value, rel=1e-6)
    assert np.isnan(interval_p_value(lambda _: (np.nan, np.nan)))
    assert interval_p_value(lambda _: (0.0, 0.0)) == 1
    assert interval_p_value(lambda _: (0.1, 0.2)) < 1e-11
