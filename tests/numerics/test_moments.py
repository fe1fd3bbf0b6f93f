"""Mean and deviation over tiles against exact rational arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from builders import tiles_of
from hypothesis import given
from hypothesis import strategies as st

from mklkit.numerics.gram_tiles import Moments

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
