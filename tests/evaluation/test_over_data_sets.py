"""Planned tests over data sets: Wilcoxon's signed ranks, Holm's correction, and the sentences."""

from __future__ import annotations

from itertools import product
from math import isnan

import numpy as np
import pytest
from scipy import stats

from mklkit.errors import DataError
from mklkit.evaluation import (
    planned_tests_of_datasets,
    signed_rank_p_value,
    verdict_of_datasets,
)
from mklkit.evaluation.number_scores import ABSOLUTE_ERROR
from mklkit.evaluation.over_data_sets import enough_data_sets, signed_rank_interval

RNG = np.random.default_rng(5)


def by_hand(differences: np.ndarray) -> float:
    """Return the share of all signs whose sums of ranks are as far apart, zeros being even."""
    ranks = stats.rankdata(np.abs(differences)) * (differences != 0)
    observed = abs(np.sum(np.sign(differences) * ranks))
    signs = np.array(list(product((-1, 1), repeat=len(ranks))))
    return float(np.mean(np.abs(signs @ ranks) >= observed - 1e-9))


@pytest.mark.parametrize("n_datasets", [6, 8, 11])
@pytest.mark.parametrize("digits", [1, 8])  # With few digits there are ties and zeros.
def test_p_is_the_share_of_all_signs(n_datasets: int, digits: int) -> None:
    for _ in range(5):
        differences = RNG.normal(0.3, 0.5, n_datasets).round(digits)
        assert signed_rank_p_value(differences) == pytest.approx(by_hand(differences))


def test_p_is_scipys_without_ties() -> None:
    for n_datasets in (6, 12, 13, 30, 50, 70):
        differences = RNG.normal(0.1, 1, n_datasets)
        expected = stats.wilcoxon(differences).pvalue
        assert signed_rank_p_value(differences) == pytest.approx(expected)


def test_few_data_sets_and_no_difference() -> None:
    assert isnan(signed_rank_p_value([0.1, 0.2, 0.3, 0.4, 0.5]))
    assert signed_rank_p_value([0.0] * 8) == 1.0
    assert signed_rank_p_value([0.3 - 0.1 - 0.2] * 8) == 1.0  # Up to rounding.
    smallest = signed_rank_p_value(np.arange(1.0, 7.0))
    assert smallest == stats.wilcoxon(np.arange(1.0, 7.0)).pvalue == 2 / 2**6


@pytest.mark.parametrize(
    ("n_datasets", "critical"), [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (20, 52)]
)
def test_the_interval_ends_at_the_walsh_averages_of_the_tabled_ranks(
    n_datasets: int, critical: int
) -> None:
    # Tables of the two-sided test at 5 % have the largest sum of ranks that rejects.
    differences = RNG.normal(0.5, 1, n_datasets)
    pairs = [(a + b) / 2 for i, a in enumerate(differences) for b in differences[i:]]
    averages = np.sort(pairs)
    estimate = signed_rank_interval(differences)
    assert estimate.median == pytest.approx(np.median(averages))
    ends = averages[critical], averages[-1 - critical]
    assert (estimate.low, estimate.high) == pytest.approx(ends)
    assert estimate.level == 0.95


@pytest.mark.parametrize("digits", [1, 8])
def test_an_interval_excludes_zero_if_the_test_rejects(digits: int) -> None:
    for _ in range(40):
        differences = RNG.normal(0.3, 0.4, 8).round(digits)
        for level in (0.9, 0.95, 0.98):
            estimate = signed_rank_interval(differences, level)
            assert estimate.low <= estimate.median <= estimate.high
            if by_hand(differences) > 1 - level:
                assert estimate.low <= 0 <= estimate.high
            else:
                assert estimate.low >= 0 or estimate.high <= 0
                assert digits == 1 or 0 not in (estimate.low, estimate.high)


def test_the_level_of_few_data_sets_is_the_highest() -> None:
    differences = np.array([0.3, -0.1, 0.2, 0.5, 0.15, 0.4])
    estimate = signed_rank_interval(differences, 0.99)
    assert estimate.level == 1 - 2 / 2**6
    assert (estimate.low, estimate.high) == (-0.1, 0.5)
    assert isnan(signed_rank_interval(differences[:5]).low)
    assert isnan(signed_rank_interval([0.1] * 8).low)


@pytest.mark.parametrize("n_questions", [1, 2, 3, 6, 10])
def test_the_fewest_data_sets_are_those_whose_least_p_is_small_enough(n_questions: int) -> None:
    enough = enough_data_sets(n_questions)
    assert n_questions * 2 / 2**enough < 0.05 <= n_questions * 2 / 2 ** (enough - 1)


def test_holm_and_the_best_of_several() -> None:
    table = {name: RNG.normal(shift, 0.4, 10) for name, shift in (("a", 1.2), ("b", 0), ("c", 0.2))}
    table["failed"] = np.append(table["b"][:9], np.nan)
    questions = [("Q", "a", "b"), ("R", "a", ["b", "failed", "c"])]
    tests = planned_tests_of_datasets(table, questions)
    ranks = stats.rankdata([-table["b"], -table["c"]], axis=0).mean(axis=1)
    best = "bc"[int(np.argmin(ranks))]
    assert tests["reference"].tolist() == ["b", best]
    raw = [by_hand(table["a"] - table["b"]), min(1, 2 * by_hand(table["a"] - table[best]))]
    assert tests["p_value"].tolist() == pytest.approx(raw)
    small, large = sorted(raw)
    assert sorted(tests["p_holm"]) == pytest.approx(
        [min(1, 2 * small), min(1, max(2 * small, large))]
    )
    first = tests.iloc[0]
    assert first["better"] == (table["a"] > table["b"]).sum()
    assert first["better"] + first["worse"] + first["equal"] == first["data_sets"] == 10


def test_sentences_over_data_sets() -> None:
    base = np.linspace(0.6, 0.9, 8)
    scores = {
        "a": base + np.linspace(0.01, 0.03, 8),
        "b": base,
        "c": base + 0.01 * (-1) ** np.arange(8),
    }
    questions = [("Q", "a", "b"), ("R", "b", "a"), ("S", "c", "b")]
    lines = verdict_of_datasets(planned_tests_of_datasets(scores, questions)).splitlines()
    assert lines == [
        "Q: a is better than b over 8 data sets: better on 8 and worse on 0, with a median"
        " difference of 2.0 points (98.3 % CI 1.1 to 2.9; p = 0.023).",
        "R: b is worse than a over 8 data sets: better on 0 and worse on 8, with a median"
        " difference of −2.0 points (97.5 % CI −2.7 to −1.3; p = 0.023).",
        "S: inconclusive over 8 data sets: c is better on 4 and worse on 4 than b, with a median"
        " difference of 0.0 points (95 % CI −1.0 to 1.0; p = 1.000).",
    ]
    errors = verdict_of_datasets(planned_tests_of_datasets(scores, questions), ABSOLUTE_ERROR)
    assert "median difference" not in errors  # The unit of an error may differ between data sets.
    few = {name: values[:5] for name, values in scores.items()}
    assert verdict_of_datasets(planned_tests_of_datasets(few, questions)).startswith(
        "No test over 5 data sets: with fewer than 6,"
    )
    failed = scores | {"b": np.append(base[:5], [np.nan] * 3)}
    lines = verdict_of_datasets(
        planned_tests_of_datasets(failed, [*questions[:1], ("T", "a", "c")])
    )
    assert "only 5 data sets have both scores" in lines.splitlines()[0]
    assert verdict_of_datasets(planned_tests_of_datasets({}, [])) == (
        "There are no two methods to compare."
    )
    with pytest.raises(DataError, match="their numbers differ"):
        planned_tests_of_datasets({"a": base, "b": base[:3]}, questions[:1])
