"""The compiled exponential against one of higher precision."""

from __future__ import annotations

import numpy as np
import pytest

from mklkit.numerics.pairwise import scaled_exp

KINDS = [(np.float64, -745.0, 709.7), (np.float32, -103.0, 88.7)]


@pytest.mark.parametrize(("kind", "low", "high"), KINDS)
def test_values_are_right_to_the_last_place_or_the_next(rng, kind, low, high):
    values = np.concatenate([rng.uniform(low, high, 20_000), rng.normal(size=5000)]).astype(kind)
    exact = np.exp(values.astype(np.longdouble))
    found = scaled_exp(values, 1.0, np.empty_like(values))
    assert found.dtype == kind
    places = np.abs(found - exact) / np.spacing(exact.astype(kind))
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
    found = scaled_exp(distances, -10.0, out=distances)
    assert found is distances
    np.testing.assert_allclose(found, [[0, np.exp(-20)], [0, 1]], rtol=1e-6)


def test_columns_in_another_order_in_memory(rng):
    values = rng.normal(size=(6, 8)).T
    found = scaled_exp(values, 0.5, np.empty((16, 6))[::2])
    np.testing.assert_allclose(found, np.exp(0.5 * values), rtol=1e-15)
