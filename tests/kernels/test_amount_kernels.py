"""Kernels on amounts, beside scikit-learn and plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_authors.testing.grams import check_gram
from sklearn.metrics.pairwise import additive_chi2_kernel, chi2_kernel

from mklkit import DataError
from mklkit.kernels.amounts import Chi2, Hellinger, MinMax

RNG = np.random.default_rng(11)
COUNTS = RNG.poisson(1.0, (25, 6)).astype(float)
COUNTS[3] = 0


def each_pair(function, rows):
    return np.array([[function(x, z) for z in rows] for x in rows])


def shares(rows):
    return np.array([row / row.sum() if row.sum() else row for row in rows])


def test_min_max_is_its_formula():
    def min_max(x, z):
        total = np.maximum(x, z).sum()
        return np.minimum(x, z).sum() / total if total else 1.0

    check_gram(MinMax(), COUNTS, each_pair(min_max, COUNTS))


def test_chi2_is_that_of_scikit_learn():
    for gamma in (0.3, 1.0):
        check_gram(Chi2(gamma=gamma), COUNTS, chi2_kernel(COUNTS, gamma=gamma))


def test_the_width_of_chi2_is_the_mean_distance():
    distances = -additive_chi2_kernel(COUNTS)
    mean = distances[np.triu_indices(len(COUNTS), 1)].mean()
    for rule, factor in (("mean", 1.0), ("0.25*mean", 0.25), (" 2e1 * mean", 20.0)):
        np.testing.assert_allclose(Chi2(gamma=rule).fit(COUNTS).gamma, factor / mean, rtol=1e-9)
    assert Chi2().fit(np.ones((4, 2))).gamma == 1.0
    assert Chi2().fit(np.ones((1, 2))).gamma == 1.0


def test_the_width_of_chi2_on_many_rows_is_that_of_evenly_spaced_ones():
    """In the order of their size, the first rows are nearer to each other than all are."""
    rows = np.sort(RNG.gamma(2.0, size=2500))[:, None] * [1.0, 0.3]
    distances = -additive_chi2_kernel(rows[[3 * place for place in range(834)]])
    mean = distances.sum() / (834 * 833)
    np.testing.assert_allclose(Chi2().fit(rows).gamma, 1 / mean, rtol=1e-9)


@pytest.mark.parametrize("gamma", ["median", "mean*2", "-1*mean", 0, -1.0, float("nan"), True, ""])
def test_other_widths_of_chi2_are_refused(gamma):
    with pytest.raises(ValueError, match="gamma must be"):
        Chi2(gamma=gamma)


def test_hellinger_is_its_formula():
    def roots(x, z):
        return np.sqrt(x * z).sum()

    check_gram(Hellinger(normalize=False), COUNTS, each_pair(roots, COUNTS))
    check_gram(Hellinger(), COUNTS, each_pair(roots, shares(COUNTS)))
    assert Hellinger().fit(COUNTS).diagonal(COUNTS)[3] == 0


@pytest.mark.parametrize("kernel", [MinMax(), Hellinger(), Chi2()])
def test_numbers_below_zero_are_refused(kernel):
    wrong = COUNTS.copy()
    wrong[2, 1] = -0.5
    message = f"^{kernel.name} compares amounts, .*zero or above; got -0.5: choose"
    with pytest.raises(DataError, match=message):
        kernel.fit(wrong)
    with pytest.raises(DataError, match=message):
        kernel.fit(COUNTS)(COUNTS, wrong)


def test_the_mean_distance_of_chi2_counts_rows_by_weight():
    rng = np.random.default_rng(3)
    rows, often = rng.poisson(3.0, (20, 4)).astype(float), rng.integers(1, 4, 20)
    weighted = Chi2().fit_weighted(rows, often.astype(float))
    repeated = Chi2().fit(rows.repeat(often, axis=0))
    np.testing.assert_allclose(weighted.gamma, repeated.gamma, rtol=1e-9)


@pytest.mark.parametrize("kernel", [Chi2(), Hellinger(), MinMax()])
def test_rows_of_a_memory_map_are_read(kernel):
    # joblib passes large arrays to processes so: they can't be written to.
    rows = COUNTS.copy()
    rows.flags.writeable = False
    expected = kernel.fit(COUNTS)(COUNTS, COUNTS)
    np.testing.assert_array_equal(kernel.fit(rows)(rows, rows), expected)
