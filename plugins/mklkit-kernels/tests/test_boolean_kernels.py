"""The boolean kernels, beside all formulas written out."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from mklkit_authors.testing.grams import check_gram, cosines
from mklkit_kernels import (
    Conjunctive,
    Disjunctive,
    MonotoneConjunctive,
    MonotoneDisjunctive,
)

from mklkit import DataError

ALL_ROWS = np.array(list(product((0.0, 1.0), repeat=5)))


def truths(rows, degree, join, negations):
    """Return which formulas are true for each row: all sets of columns, with all negations."""
    columns = []
    for members in combinations(range(rows.shape[1]), degree):
        for signs in product((0, 1), repeat=degree) if negations else [(1,) * degree]:
            columns.append(join(rows[:, members] == np.array(signs), axis=1))
    return np.array(columns, dtype=float).T


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("kernel", "join", "negations"),
    [
        (MonotoneConjunctive, np.all, False),
        (Conjunctive, np.all, True),
        (MonotoneDisjunctive, np.any, False),
        (Disjunctive, np.any, True),
    ],
)
def test_they_count_the_formulas_that_are_true_for_both(kernel, join, negations, degree):
    counts = truths(ALL_ROWS, degree, join, negations)
    expected = counts @ counts.T
    check_gram(kernel(degree=degree, normalize=False), ALL_ROWS, expected)
    check_gram(kernel(degree=degree), ALL_ROWS, cosines(expected))


@pytest.mark.parametrize(
    "kernel", [MonotoneConjunctive(), Conjunctive(), MonotoneDisjunctive(), Disjunctive()]
)
def test_rows_that_they_do_not_take_are_refused(kernel):
    with pytest.raises(DataError, match=f"{kernel.name} compares columns of 0 and 1; got 2: "):
        kernel.fit(ALL_ROWS)(ALL_ROWS, 2 * ALL_ROWS)
    with pytest.raises(DataError, match="got nan"):
        kernel.fit(np.array([[np.nan, 1.0]]))
    with pytest.raises(DataError, match="no formulas of 2 of 1 columns"):
        kernel.fit(ALL_ROWS[:, :1])
    many = kernel.with_params(degree=1000)
    with pytest.raises(DataError, match="formulas of 1000 of 2000 columns, or more than"):
        many.fit(np.zeros((2, 2000)))


def test_many_columns_keep_their_digits():
    rows = np.zeros((4, 1000))
    rows[0, :3], rows[1, 2:5], rows[2, 500:] = 1, 1, 1
    fitted = MonotoneDisjunctive(degree=3, normalize=False).fit(rows)
    sets = [set(np.flatnonzero(row)) for row in rows]

    def having_none(columns):
        left = 1000 - len(columns)
        return left * (left - 1) * (left - 2) // 6

    def both(x, z):
        return having_none(set()) - having_none(x) - having_none(z) + having_none(x | z)

    expected = [[both(x, z) for z in sets] for x in sets]
    np.testing.assert_allclose(fitted(rows, rows), expected, rtol=1e-12)
