"""Kernels on fingerprints, histograms and times, beside plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
from mklkit_authors.testing.grams import check_gram
from mklkit_kernels import Intersection, Periodic, Tanimoto

from mklkit import DataError

RNG = np.random.default_rng(11)
COUNTS = RNG.poisson(1.0, (25, 6)).astype(float)
COUNTS[3] = 0
HOURS = RNG.uniform(-50, 50, (20, 2))


def each_pair(function, rows):
    return np.array([[function(x, z) for z in rows] for x in rows])


def test_tanimoto_of_counts():
    def tanimoto(x, z):
        total = x @ x + z @ z - x @ z
        return x @ z / total if total else 1.0

    check_gram(Tanimoto(), COUNTS, each_pair(tanimoto, COUNTS))


def test_intersection_is_its_formula():
    def minima(x, z):
        return np.minimum(x, z).sum()

    shares = np.array([row / row.sum() if row.sum() else row for row in COUNTS])
    check_gram(Intersection(normalize=False), COUNTS, each_pair(minima, COUNTS))
    check_gram(Intersection(), COUNTS, each_pair(minima, shares))


@pytest.mark.parametrize(("period", "length"), [(24.0, 1.0), (7.0, 0.3)])
def test_periodic_is_its_formula(period, length):
    def similar(x, z):
        sines = np.sin(np.pi * np.abs(x - z) / period) ** 2
        return np.exp(-2 * sines / length**2).prod()

    check_gram(Periodic(period=period, length=length), HOURS, each_pair(similar, HOURS))


def test_times_a_period_apart_are_the_same():
    late, early = np.array([[23.5]]), np.array([[0.5]])
    fitted = Periodic().fit(late)
    np.testing.assert_allclose(fitted(late, early), fitted(early, early + 1), rtol=1e-12)
    # Seconds since 1970, with the same digits left as in hours of a day.
    seconds = Periodic(period=86400, length=0.5).fit(late)
    here, there = np.array([[1.7e9]]), np.array([[1.7e9 + 86400 * 1000 + 3600]])
    near = np.array([[1.7e9 % 86400]]), np.array([[1.7e9 % 86400 + 3600]])
    np.testing.assert_allclose(seconds(here, there), seconds(*near), rtol=1e-9)


@pytest.mark.parametrize("kernel", [Tanimoto(), Intersection()])
def test_numbers_below_zero_are_refused(kernel):
    wrong = COUNTS.copy()
    wrong[2, 1] = -0.5
    with pytest.raises(DataError, match=f"^{kernel.name} compares amounts"):
        kernel.fit(wrong)
    with pytest.raises(DataError, match=f"^{kernel.name} compares amounts"):
        kernel.fit(COUNTS)(COUNTS, wrong)


@pytest.mark.parametrize("kernel", [Tanimoto(), Intersection()])
def test_rows_of_a_memory_map_are_read(kernel):
    # joblib passes large arrays to processes so: they can't be written to.
    rows = COUNTS.copy()
    rows.flags.writeable = False
    expected = kernel.fit(COUNTS)(COUNTS, COUNTS)
    np.testing.assert_array_equal(kernel.fit(rows)(rows, rows), expected)
