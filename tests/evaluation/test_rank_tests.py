"""Tests of several methods on several data sets, against Demšar (2006)."""

from __future__ import annotations

import math

import attrs
import numpy as np
import pytest
from scipy import stats

from mklkit.errors import DataError
from mklkit.evaluation import (
    average_ranks,
    bayesian_signed_rank,
    critical_difference,
    friedman_test,
    indistinguishable,
    nemenyi_p_values,
)

DIFFERENCES = np.array([0.03, -0.01, 0.012, 0.004, 0.02, -0.002])

# Table 6: AUC of C4.5, with tuned m, tuned cf and both. On "voting", the last but one, the third
# and fourth are printed as 0.975 but ranked 2 and 3, so that they differ in a further digit.
TUNED_TREES = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_the_worked_example():
    np.testing.assert_allclose(average_ranks(TUNED_TREES), [3.143, 2.0, 2.893, 1.964], atol=5e-4)
    test = friedman_test(TUNED_TREES)
    assert test.chi_square == pytest.approx(9.28, abs=0.005)
    assert test.f_statistic == pytest.approx(3.69, abs=0.005)
    # The critical value of F(3, 39) at 0.05, in the text, is 2.85.
    assert test.p_value == pytest.approx(stats.f.sf(3.69, 3, 39), abs=1e-3)
    assert test.p_value < 0.05
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, alpha=0.10) == pytest.approx(1.12, abs=0.005)


@pytest.mark.parametrize(
    ("alpha", "published"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_quantiles_of_table_5a(alpha, published):
    for k, quantile in enumerate(published, start=2):
        computed = critical_difference(k, 1, alpha) / math.sqrt(k * (k + 1) / 6)
        # The last digit of some published values is off by one.
        assert computed == pytest.approx(quantile, abs=1.1e-3)


def test_chi_square_without_ties_is_scipys():
    scores = np.random.default_rng(0).random((9, 5))
    expected = stats.friedmanchisquare(*scores.T)
    assert friedman_test(scores).chi_square == pytest.approx(expected.statistic)


def test_limits_of_friedman():
    agreed = friedman_test([[3, 2, 1]] * 7)
    assert (agreed.f_statistic, agreed.p_value) == (math.inf, 0)
    tied = friedman_test([[1, 1, 1]] * 7)
    assert (tied.chi_square, tied.f_statistic, tied.p_value) == (0, 0, 1)
    assert math.isnan(friedman_test([[3, 2, 1]]).p_value)


def test_means_in_another_order_are_ties():
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    ranks = average_ranks([[0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1], [0, 0]])
    np.testing.assert_array_equal(ranks, [1.5, 1.5])


def test_groups_are_the_maximal_cliques():
    stream = np.random.default_rng(2)
    for _ in range(50):
        ranks = stream.integers(2, 14, 7) / 2
        apart = np.abs(ranks[:, None] - ranks) >= 1.6
        subsets = [[i for i in range(7) if code >> i & 1] for code in range(1, 128)]
        cliques = [set(s) for s in subsets if len(s) > 1 and not apart[np.ix_(s, s)].any()]
        expected = [clique for clique in cliques if not any(clique < larger for larger in cliques)]
        groups = indistinguishable(ranks, 1.6)
        assert sorted(map(sorted, groups)) == sorted(map(sorted, expected))
        assert all(list(ranks[list(group)]) == sorted(ranks[list(group)]) for group in groups)


def test_nemenyi_p_values_of_published_ranks() -> None:
    # Table 6: critical difference 1.25 at 0.05, and 1.12 at 0.10 (q = 2.569 and 2.291).
    ranks = np.array([3.143, 2.000, 2.893, 1.964])
    p = nemenyi_p_values(ranks, 14)
    differences = np.abs(np.subtract.outer(ranks, ranks))
    assert (p == p.T).all()
    assert ((p < 0.05) == (differences > 1.25)).all()
    assert ((p < 0.10) == (differences > 1.12)).all()
    assert np.diag(p).tolist() == [1, 1, 1, 1]


def naive_signed_ranks(differences, rope, n_samples):
    """Benavoli et al. 2017, section 4.2, one sample and one pair at a time."""
    stream = np.random.default_rng(99)
    z = [0.0, *differences]
    wins = [0, 0, 0]
    for _ in range(n_samples):
        drawn = [stream.gamma(0.5), *(stream.gamma(1) for _ in differences)]
        w = [gamma / sum(drawn) for gamma in drawn]
        theta = [0.0, 0.0, 0.0]
        for i in range(len(z)):
            for j in range(len(z)):
                middle = (z[i] + z[j]) / 2
                part = 0 if middle < -rope else 2 if middle > rope else 1
                theta[part] += w[i] * w[j]
        wins[theta.index(max(theta))] += 1
    return np.array(wins) / n_samples


def signed_ranks(differences, **options):
    return np.array(attrs.astuple(bayesian_signed_rank(differences, **options)))


def test_signed_ranks_are_those_of_a_naive_transcription():
    shares = signed_ranks(DIFFERENCES, rope=0.0075)
    assert shares.sum() == pytest.approx(1)
    assert 0.1 < shares[2] < 0.9
    # Four standard errors of 4,000 samples.
    np.testing.assert_allclose(shares, naive_signed_ranks(DIFFERENCES, 0.0075, 4000), atol=0.032)


def test_signed_ranks_have_symmetry_and_a_scale():
    shares = signed_ranks(DIFFERENCES, n_samples=4000)
    assert (signed_ranks(-DIFFERENCES, n_samples=4000) == shares[::-1]).all()
    assert (signed_ranks(50 * DIFFERENCES, rope=1, n_samples=4000) == shares).all()


def test_signed_ranks_of_many_samples_are_those_of_a_naive_transcription():
    """They are drawn in blocks of a million ranks."""
    shares = signed_ranks(DIFFERENCES, rope=0.0075, n_samples=1_500_000 // len(DIFFERENCES))
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(shares, naive_signed_ranks(DIFFERENCES, 0.0075, 4000), atol=0.032)


def test_limits_of_signed_ranks():
    assert bayesian_signed_rank(np.full(30, 0.5)).better > 0.999
    assert bayesian_signed_rank([0, 0, 0], rope=0).equivalent == 1
    # 0.92 − 0.9 is above 0.02 in floating-point numbers, and not above the region.
    assert bayesian_signed_rank([0.92 - 0.9] * 5).equivalent == 1


MISTAKES = [
    *[(friedman_test, scores) for scores in ([1, 2], [[1], [2]], [], [[1, math.nan]])],
    *[(critical_difference, *n) for n in ((1, 5, 0.05), (3, 0, 0.05), (3, 5, 0), (3, 5, 1))],
    *[(bayesian_signed_rank, *n) for n in (([],), ([np.nan],), ([0.1], -1), ([0.1], 0.01, 0))],
]


@pytest.mark.parametrize(("test", "arguments"), [(test, rest) for test, *rest in MISTAKES])
def test_mistakes(test, arguments):
    with pytest.raises(DataError):
        test(*arguments)
