"""Kernels on categories, beside loops over the columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mklkit_authors.testing.grams import check_gram

from mklkit.kernels.categories import Overlap
from mklkit.registry.readings import category_codes

VALUES = st.sampled_from(["red", "green", "blue", None])
TABLES = st.integers(1, 4).flatmap(
    lambda q: st.lists(st.lists(VALUES, min_size=q, max_size=q), min_size=2, max_size=9)
)


def overlap(x, z):
    same = sum(a == b and a is not None for a, b in zip(x, z, strict=True))
    present = [sum(a is not None for a in row) for row in (x, z)]
    return same / np.sqrt(present[0] * present[1]) if min(present) else 0.0


@given(TABLES)
def test_overlap_is_the_share_of_equal_columns(table):
    expected = [[overlap(x, z) for z in table] for x in table]
    check_gram(Overlap(), category_codes(table), expected)


def test_a_column_of_gaps_only_is_left_out():
    rows = category_codes([[None, "a"], [None, "b"], [None, "a"]])
    expected = [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    np.testing.assert_allclose(Overlap().fit(rows)(rows, rows), expected, rtol=1e-12)


def test_a_number_and_its_text_are_one_category():
    for same in (
        ["1", 1, 1.0, np.int64(1), np.float32(1)],
        ["0", 0, -0.0],
        ["True", True, np.True_],
    ):
        assert len(set(category_codes(same))) == 1
    assert len(set(category_codes(["1", True]))) == 2
    np.testing.assert_array_equal(category_codes(["0.5", "-3"]), category_codes([0.5, -3.0]))
    assert len(set(category_codes(["1.0", 1, "01", 2, 10**30, 1e300, np.inf, 1 + 1j]))) == 8
