"""Base quantities against scipy's and numpy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from mklkit.numerics.pairwise import (
    inner_products,
    manhattan_distances,
    row_blocks,
    squared_distances,
)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_base_quantities_of_any_shape(n_rows, n_others, n_features, seed):
    generator = np.random.default_rng(seed)
    a = generator.normal(size=(n_rows, n_features))
    b = generator.normal(size=(n_others, n_features))
    np.testing.assert_allclose(inner_products(a, b), a @ b.T, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(squared_distances(a, b), cdist(a, b, "sqeuclidean"), atol=1e-13)
    np.testing.assert_allclose(manhattan_distances(a, b), cdist(a, b, "cityblock"), atol=1e-13)


@pytest.mark.parametrize("base", [squared_distances, manhattan_distances])
def test_columns_far_from_zero_keep_their_digits(rng, base):
    near_zero = np.round(rng.normal(size=(60, 3)), 5)
    far = near_zero + 1e9  # both hold the same differences to seven digits
    exact = base(far - 1e9, far - 1e9)
    np.testing.assert_allclose(base(far, far), exact, rtol=1e-9, atol=1e-12)


def test_squared_distances_are_never_negative(rng):
    rows = np.repeat(rng.normal(size=(20, 5)), 3, axis=0) * 1e3
    assert squared_distances(rows, rows).min() >= 0


@pytest.mark.parametrize("base", [inner_products, squared_distances, manhattan_distances])
def test_single_precision_stays_single(rng, base):
    rows = rng.normal(size=(7, 3)).astype(np.float32)
    assert base(rows, rows).dtype == np.float32


@pytest.mark.parametrize("base", [inner_products, squared_distances, manhattan_distances])
def test_no_rows_on_either_side(rng, base):
    rows = rng.normal(size=(4, 3))
    assert base(rows, rows[:0]).shape == (4, 0)
    assert base(rows[:0], rows).shape == (0, 4)


@given(st.integers(0, 2000), st.integers(1, 700))
def test_blocks_cover_the_rows_once_and_in_order(n_rows, size):
    covered = [row for block in row_blocks(n_rows, size) for row in range(n_rows)[block]]
    assert covered == list(range(n_rows))
    assert all(len(range(n_rows)[block]) <= size for block in row_blocks(n_rows, size))
