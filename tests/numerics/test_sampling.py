"""Rows drawn by class: the same share of each, and no class is lost."""

from __future__ import annotations

import numpy as np

from mklkit.numerics.sampling import drawn_by_class


def test_each_class_gives_its_share_and_at_least_two_rows() -> None:
    codes = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3], [6000, 3000, 999, 1]))
    drawn = drawn_by_class(codes, 500)
    assert (np.diff(drawn) > 0).all()
    assert np.bincount(codes[drawn]).tolist() == [300, 150, 50, 1]
    rare = np.repeat([0, 1], [5000, 7])
    assert np.bincount(rare[drawn_by_class(rare, 100)]).tolist() == [100, 2]
    np.testing.assert_array_equal(drawn_by_class(codes, 10_000), np.arange(10_000))


def test_rows_of_a_class_are_drawn_from_all_of_them() -> None:
    drawn = drawn_by_class(np.zeros(20_000, int), 2000)
    counts = np.histogram(drawn, bins=10, range=(0, 20_000))[0]
    # Of 2,000 rows each tenth has 200, with a standard error below 14.
    assert np.abs(counts - 200).max() < 4 * 14
