"""The overlap of rare categories, beside loops over the columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mklkit_authors.testing.grams import check_gram
from mklkit_kernels import FrequencyOverlap

from mklkit.registry.readings import category_codes

VALUES = st.sampled_from(["red", "green", "blue", None])
TABLES = st.integers(1, 4).flatmap(
    lambda q: st.lists(st.lists(VALUES, min_size=q, max_size=q), min_size=2, max_size=9)
)


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
    expected = [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    np.testing.assert_allclose(FrequencyOverlap().fit(rows)(rows, rows), expected, rtol=1e-12)
