"""Base quantities and exponentials against SciPy's, NumPy's and those of higher precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from mklkit.numerics.pairwise import (
    TILE_COLUMNS,
    TILE_ROWS,
    ExponentialSum,
    distance_exponentials,
    inner_products,
    manhattan_distances,
    scaled_exp,
    squared_distances,
    upper_blocks,
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


def test_inner_products_that_overflow_have_the_sign_that_they_have(rng):
    rows = rng.normal(size=(40, 3))
    products = inner_products(rows * 1e300, rows * 1e250)
    np.testing.assert_array_equal(products, np.inf * (rows @ rows.T))
    others = np.array([np.zeros(3), [1e-320] * 3])
    np.testing.assert_array_equal(inner_products(np.vstack([rows * 1e300, others]), others)[-2:], 0)


@pytest.mark.parametrize("scale", [1.0, 1e8, 1e150])
def test_near_rows_among_far_ones_keep_their_distance(rng, scale):
    rows = rng.normal(size=(40, 6)) * scale
    rows[20:] = rows[:20] + scale * 1e-7 * rng.normal(size=(20, 6))
    distances = squared_distances(rows, rows)
    np.testing.assert_array_equal(np.diag(distances), 0)
    near = ((rows[:20] - rows[20:]) ** 2).sum(axis=1)
    np.testing.assert_allclose(np.diag(distances[:20, 20:]), near, rtol=1e-6)
    for row in (0, 7):
        np.testing.assert_allclose(
            squared_distances(rows[[row]], rows), distances[[row]], rtol=1e-6
        )


@pytest.mark.parametrize("base", [inner_products, squared_distances, manhattan_distances])
def test_no_rows_on_either_side(rng, base):
    rows = rng.normal(size=(4, 3))
    assert base(rows, rows[:0]).shape == (4, 0)
    assert base(rows[:0], rows).shape == (0, 4)


@given(st.integers(0, 3000))
def test_upper_blocks_cover_each_pair_once_and_mirroring_the_rest(n_rows):
    counts = np.zeros((n_rows, n_rows), dtype=np.int8)
    for block, across in upper_blocks(n_rows):
        counts[block, across] += 1
        if across == block:
            assert len(range(n_rows)[block]) <= TILE_ROWS
        else:
            counts[across, block] += 1
            assert across.start >= block.stop
            assert across.stop - across.start <= TILE_COLUMNS
    assert (counts == 1).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "far"), [(np.float64, 1e200), (np.float32, 1e30)])
def test_distances_whose_parts_overflow_are_right_or_infinite(kind, far):
    rows = np.array([[far, 0.0], [far, 3.0], [1.0, 0.0], [1.0, 4.0]], dtype=kind)
    inf = np.inf
    expected = [[0, 9, inf, inf], [9, 0, inf, inf], [inf, inf, 0, 16], [inf, inf, 16, 0]]
    np.testing.assert_array_equal(squared_distances(rows, rows), expected)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "rtol"), [(np.float64, 1e-12), (np.float32, 2e-5)])
@pytest.mark.parametrize("n_others", [0, 1, 300])
def test_exponentials_of_distances_computed_strip_by_strip(rng, kind, rtol, n_others):
    rows = rng.normal(size=(411, 3)).astype(kind)
    others = np.vstack([rows[:7], rng.normal(size=(293, 3)).astype(kind)])[:n_others]
    others[1:2] = 1e20  # so that its distance to all rows is too large for single precision
    factors = [-0.5, -2.0, -0.01]
    out = np.full((3, 411, n_others), np.nan, kind)
    assert distance_exponentials(rows, others, factors, out) is out
    exact = cdist(rows.astype(np.float64), others.astype(np.float64), "sqeuclidean")
    for values, factor in zip(out, factors, strict=True):
        np.testing.assert_allclose(values, np.exp(factor * exact), rtol=rtol, atol=1e-30)


@pytest.mark.parametrize(
    ("kind", "out_kind", "atol"),
    [
        (np.float64, np.float64, 1e-14),
        (np.float64, np.float32, 5e-7),
        (np.float32, np.float32, 5e-6),
    ],
)
@pytest.mark.parametrize("columns", [slice(0, 0), slice(0, 1100), slice(3, 1059)])
@pytest.mark.process
def test_weighted_sums_of_exponentials(rng, kind, out_kind, atol, columns):
    """Columns are in two tiles, rows in several strips; the first rows are among the others."""
    others = rng.normal(size=(1100, 3)).astype(kind)
    rows = np.vstack([others[:7], rng.normal(size=(30, 3)).astype(kind)])
    rows[20] = 1e18  # whose distances are near the largest number in single precision
    factors, weights = [-0.5, -88.0, -0.01], [0.5, 0.2, 0.3]
    out = np.full((37, columns.stop - columns.start), np.nan, out_kind)
    assert ExponentialSum.of(others, factors, weights)(rows, columns, out) is out
    exact = cdist(rows.astype(np.float64), others[columns].astype(np.float64), "sqeuclidean")
    expected = sum(w * np.exp(c * exact) for c, w in zip(factors, weights, strict=True))
    np.testing.assert_allclose(out, expected, rtol=0, atol=atol)


KINDS = [(np.float64, -745.0, 709.7), (np.float32, -103.0, 88.7)]


@pytest.mark.parametrize(("kind", "low", "high"), KINDS)
def test_values_are_right_to_the_last_place_or_the_next(rng, kind, low, high):
    values = np.concatenate([rng.uniform(low, high, 20_000), rng.normal(size=5000)]).astype(kind)
    exact = np.exp(values.astype(np.longdouble))
    powers = scaled_exp(values, 1.0, np.empty_like(values))
    assert powers.dtype == kind
    places = np.abs(powers - exact) / np.spacing(exact.astype(kind))
    assert places.max() < 1.5


@pytest.mark.parametrize(("kind", "low", "high"), KINDS)
@pytest.mark.filterwarnings("error")
def test_the_ends_of_the_range(kind, low, high):
    values = np.array([0, -0.0, -np.inf, np.inf, np.nan, low - 5, high + 5, -1e30, 1e30], kind)
    expected = [1, 1, 0, np.inf, np.nan, 0, np.inf, 0, np.inf]
    np.testing.assert_array_equal(scaled_exp(values, 1.0, np.empty_like(values)), expected)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.filterwarnings("error")
def test_a_product_that_overflows_leaves_nothing(kind):
    distances = np.array([[np.finfo(kind).max, 2.0], [np.inf, 0.0]], kind)
    powers = scaled_exp(distances, -10.0, out=distances)
    assert powers is distances
    np.testing.assert_allclose(powers, [[0, np.exp(-20)], [0, 1]], rtol=1e-6)


def test_columns_in_another_order_in_memory(rng):
    values = rng.normal(size=(6, 8)).T
    powers = scaled_exp(values, 0.5, np.empty((16, 6))[::2])
    np.testing.assert_allclose(powers, np.exp(0.5 * values), rtol=1e-15)
