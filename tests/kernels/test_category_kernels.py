"""Kernels on categories, beside loops over the columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mklkit_authors.testing.grams import check_gram

from mklkit.kernels.categories import FrequencyOverlap, Overlap
from mklkit.registry.readings import category_codes

VALUES = st.sampled_from(["red", "green", "blue", None])
TABLES = st.integers(1, 4).flatmap(
    lambda q: st.lists(st.lists(VALUES, min_size=q, max_size=q), min_size=2, max_size=9)
)


def overlap(x, z):
    same = sum(a == b and a is not None for a, b in zip(x, z, strict=True))
    present = [sum(a is not None for a in row) for row in (x, z)]
    return same / np.sqrt(present[0] * present[1]) if min(present) else 0.0


def rare_overlap(x, z, training, alpha):
    def rarity(column, value):
        known = [row[column] for row in training if row[column] is not None]
        share = known.count(value) / max(len(known), 1)
        return (1 - share**alpha) ** (1 / alpha)

    def common(x, z):
        pairs = enumerate(zip(x, z, strict=True))
        return sum(rarity(c, a) for c, (a, b) in pairs if a == b and a is not None)

    squares = common(x, x) * common(z, z)
    return common(x, z) / np.sqrt(squares) if squares > 0 else 0.0


@given(TABLES)
def test_overlap_is_the_share_of_equal_columns(table):
    expected = [[overlap(x, z) for z in table] for x in table]
    check_gram(Overlap(), category_codes(table), expected)


@given(TABLES, st.sampled_from([0.5, 1.0, 2.0]))
def test_frequency_overlap_is_its_formula(table, alpha):
    expected = [[rare_overlap(x, z, table, alpha) for z in table] for x in table]
    check_gram(FrequencyOverlap(alpha=alpha), category_codes(table), expected)


def test_categories_that_training_did_not_have_count_one():
    training = [["a", "x"], ["a", "y"], ["b", "x"], ["a", None]]
    new = [["c", "x"], ["c", "z"], ["a", "z"]]
    fitted = FrequencyOverlap().fit(category_codes(training))
    expected = [[rare_overlap(x, z, training, 1.0) for z in new] for x in new]
    rows = category_codes(new)
    np.testing.assert_allclose(fitted(rows, rows), expected, rtol=1e-12)
    assert 0 < expected[0][1] < 1


def test_a_column_of_gaps_only_is_left_out():
    rows = category_codes([[None, "a"], [None, "b"], [None, "a"]])
    for kernel in (Overlap(), FrequencyOverlap()):
        expected = [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
        np.testing.assert_allclose(kernel.fit(rows)(rows, rows), expected, rtol=1e-12)


def test_a_number_and_its_text_are_one_category():
    for same in (["1", 1, 1.0, True, np.int64(1), np.float32(1), np.True_], ["0", 0, -0.0, False]):
        assert len(set(category_codes(same))) == 1
    np.testing.assert_array_equal(category_codes(["0.5", "-3"]), category_codes([0.5, -3.0]))
    assert len(set(category_codes(["1.0", 1, "01", 2, 10**30, 1e300, np.inf, 1 + 1j]))) == 8
