"""Moments and order statistics over tiles, against rational arithmetic, sorting and NumPy."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from helpers.builders import tiles_of
from hypothesis import given
from hypothesis import strategies as st

from mklkit.numerics.gram_tiles import Moments
from mklkit.numerics.order_statistics import quantiles, select_ranks

FINITE = st.floats(allow_nan=False, allow_infinity=False)
AWKWARD = st.sampled_from(
    [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e-300, -1e-300, 1e300, -1e300, 1.7e308, -1.7e308, 1.0]
)
VALUES = st.lists(st.one_of(FINITE, AWKWARD), min_size=1, max_size=60)


def passes_over(tiles: list[np.ndarray], weights: list[int] | None = None):
    weights = weights or [1] * len(tiles)
    return lambda: zip(tiles, weights, strict=True)


@given(VALUES, st.lists(st.integers(0, 60), max_size=4), st.data())
def test_every_rank_of_weighted_tiles_is_the_sorted_value(values, cuts, data):
    array = np.array(values)
    tiles = tiles_of(array, [min(cut, len(array)) for cut in cuts])
    weights = [data.draw(st.integers(1, 3)) for _ in tiles]
    expected = np.sort(
        np.concatenate([np.repeat(t, w) for t, w in zip(tiles, weights, strict=True)])
    )
    selected = select_ranks(passes_over(tiles, weights), range(len(expected)))
    np.testing.assert_array_equal(list(selected.values()), expected)


@given(VALUES, st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_quantiles_are_those_of_numpy(values, fractions):
    array = np.array(values) / 4  # numpy's own interpolation overflows at the very end of the range
    selected = quantiles(passes_over([array[::2], array[1::2]]), len(array), fractions)
    expected = np.quantile(array, fractions)
    np.testing.assert_allclose(selected, expected, rtol=1e-14, atol=4e-16 * np.abs(array).max())


@pytest.mark.parametrize(
    "low_bits", [1, 1 << 12, 1 << 30], ids=["all equal", "last digit", "last two digits"]
)
def test_more_values_in_one_bin_than_are_gathered(rng, low_bits):
    # Above 2^20 values that share their leading bits: they must be counted digit by digit.
    bits = np.array([1.5]).view(np.uint64) + rng.integers(0, low_bits, 1_200_000).astype(np.uint64)
    values = bits.view(np.float64)
    ranks = [0, 299_999, 600_000, 1_199_999]
    selected = select_ranks(passes_over(tiles_of(values, [500_000, 500_001])), ranks)
    np.testing.assert_array_equal(list(selected.values()), np.sort(values)[ranks])


def test_negative_zero_ties_with_zero():
    selected = select_ranks(passes_over([np.array([-0.0, 0.0, -0.0, -1e-320])]), [0, 1, 3])
    assert selected == {0: -1e-320, 1: 0.0, 3: 0.0}
    assert not np.signbit([selected[1], selected[3]]).any()


def test_single_precision_tiles_and_strided_ones(rng):
    values = rng.normal(size=(40, 30)).astype(np.float32)
    selected = quantiles(passes_over([values[:, ::2], values[:, 1::2]]), values.size, [0.25, 0.75])
    np.testing.assert_allclose(
        selected, np.quantile(values.astype(float), [0.25, 0.75]), rtol=1e-15
    )


def test_a_rank_beyond_the_values_is_refused():
    with pytest.raises(IndexError, match=r"rank 3 .* 3"):
        select_ranks(passes_over([np.arange(3.0)]), [3])


@pytest.mark.parametrize("misleading", [False, True])
def test_a_sample_changes_nothing_but_the_passes(rng, misleading):
    values = rng.normal(size=40_000)
    sample = values[:500] + (5 if misleading else 0)
    passes = []

    def tiles():
        passes.append(1)
        # Tiles may be functions, which are called when they are needed.
        return [(values[:15_000], 1), (lambda: values[15_000:], 2)]

    expected = np.sort(np.concatenate([values, values[15_000:]]))
    ranks = [0, 16_250, 16_251, 48_750, 64_999]
    selected = select_ranks(tiles, ranks, sample, len(expected))
    assert list(selected.values()) == expected[ranks].tolist()
    assert len(passes) == (3 if misleading else 2)


def test_a_sample_of_equal_values(rng):
    values = np.r_[np.zeros(3000), rng.normal(size=10)]
    selected = select_ranks(lambda: [(values, 1)], [5, 1500, 3009], np.zeros(50), len(values))
    assert list(selected.values()) == np.sort(values)[[5, 1500, 3009]].tolist()


SCALES = [1.0, 1e-300, 1e300, 1e-150, 1e150]


def exact(values: np.ndarray) -> tuple[float, float]:
    """Return mean and deviation of floats, rounded only at the end."""
    fractions = [Fraction(float(value)) for value in values]
    mean = sum(fractions) / len(fractions)
    variance = sum((value - mean) ** 2 for value in fractions) / len(fractions)
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 60, -999_999, 999_999
        root = (Decimal(variance.numerator) / Decimal(variance.denominator)).sqrt()
        return float(mean), float(root)


def merged(tiles: list[np.ndarray]) -> Moments:
    moments = Moments()
    for tile in tiles:
        moments = moments.merge(Moments.of(tile))
    return moments


@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=40),
    st.lists(st.integers(0, 40), max_size=4),
    st.sampled_from(SCALES),
)
def test_tiles_merge_to_the_exact_moments(values, cuts, scale):
    array = np.array(values) * scale
    moments = merged(tiles_of(array, [min(cut, len(array)) for cut in cuts]))
    mean, deviation = exact(array)
    largest = float(np.abs(array).max())
    assert moments.count == len(array)
    assert abs(moments.mean - mean) <= 1e-14 * largest
    assert abs(moments.deviation - deviation) <= 1e-14 * largest


@pytest.mark.parametrize(
    ("values", "weight", "close"),
    [
        ([np.full(10, 1e-300), np.array([1e300])], 1, 1e-14),
        ([np.sin(np.arange(50)), np.cos(np.arange(30))], 2, 1e-13),
        (np.split(1e9 + np.arange(1000) / 1024, [300]), 1, 1e-7),
    ],
    ids=["magnitudes far apart", "counted twice", "small spread far from zero"],
)
def test_two_tiles_have_the_moments_of_both(values, weight, close):
    first, second = values
    moments = Moments.of(first).merge(Moments.of(second, weight))
    mean, deviation = exact(np.concatenate([first, *[second] * weight]))
    assert moments.mean == pytest.approx(mean, rel=1e-13)
    assert moments.deviation == pytest.approx(deviation, rel=close)


@pytest.mark.parametrize("value", [0.1, -0.3, 1 / 3, 1e-300, 1e300, 5e-324, 0.0])
def test_a_constant_has_no_deviation_at_all(value):
    # 0.1 is not a binary fraction: the mean of many, summed, is a little off.
    moments = merged(tiles_of(np.full(3001, value), [7, 1000]))
    assert moments.deviation == 0.0
    assert moments.mean == value


def test_infinite_values_have_no_finite_moments():
    assert not np.isfinite(Moments.of(np.array([1.0, np.inf])).deviation)
