"""The weighted degree kernel, beside a loop for each sign of its formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mklkit_authors.testing.grams import check_gram, cosines
from mklkit_kernels import WeightedDegree

from mklkit import DataError
from mklkit.registry.readings import text_codes

SHORT = st.lists(st.text("abcdé", max_size=9), min_size=2, max_size=7)
QUICK = settings(deadline=None, derandomize=True, max_examples=10, database=None)


def degrees(x, z, degree, shift):
    """Return the weighted degree kernel, a loop a sign of its formula."""
    total = 0.0
    for d in range(1, degree + 1):
        beta = 2 * (degree - d + 1) / (degree * (degree + 1))
        for i in range(max(len(x), len(z))):
            for s in range(shift + 1):
                moved = [(i + s, i), (i, i + s)]
                same = sum(
                    len(x[u : u + d]) == d and x[u : u + d] == z[v : v + d] for u, v in moved
                )
                total += beta * same / (2 * (s + 1))
    return total


@QUICK
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.lists(st.text("ab", min_size=n, max_size=n), min_size=2, max_size=6)
    ),
    st.integers(1, 4),
    st.integers(0, 3),
)
def test_weighted_degree_is_its_formula(texts, degree, shift):
    expected = np.array([[degrees(x, z, degree, shift) for z in texts] for x in texts])
    rows = text_codes(texts)
    check_gram(WeightedDegree(degree=degree, shift=shift, normalize=False), rows, expected)
    check_gram(WeightedDegree(degree=degree, shift=shift), rows, cosines(expected))


@QUICK
@given(SHORT, st.integers(0, 5))
def test_weighted_degree_of_texts_of_several_lengths_is_definite(texts, shift):
    check_gram(WeightedDegree(degree=3, shift=shift), text_codes(texts))


def test_widths_of_both_sides_may_differ():
    texts = ["abcabc", "ab", "cab"]
    rows = text_codes(texts)
    fitted = WeightedDegree(shift=1).fit(rows)
    narrow = fitted(text_codes(texts[1:]), rows)
    np.testing.assert_allclose(narrow, fitted(rows, rows)[1:], rtol=1e-12)


def test_numbers_that_are_no_code_points_are_refused():
    fitted = WeightedDegree().fit(text_codes(["abc"]))
    for wrong in (0.5, 2e6, np.nan):
        with pytest.raises(DataError, match="expects the code points of one column of text"):
            fitted(np.array([[97.0, wrong]]), np.array([[97.0]]))
