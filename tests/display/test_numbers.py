"""Numbers as people read them, by hand."""

from __future__ import annotations

from math import nan

import pytest

from mklkit.display.numbers import memory, number, p_value, percent, points, seconds


@pytest.mark.parametrize(
    ("difference", "shown"),
    [
        (0.0234, "+2.3"),
        (-0.0234, "−2.3"),
        (-0.1, "−10.0"),
        (0.0, "0.0"),
        (-0.0004, "0.0"),
        (0.0006, "+0.1"),
        (nan, "–"),
    ],
)
def test_a_difference_in_points_has_its_sign_unless_it_is_zero(
    difference: float, shown: str
) -> None:
    assert points(difference) == shown


def test_decimals_and_signs() -> None:
    assert [number(value, 2) for value in (-1.005, 3, nan)] == ["−1.00", "3.00", "–"]
    assert [percent(share) for share in (0.9999, 1, 0.0004)] == ["100.0", "100.0", "0.0"]


def test_small_p_values_have_a_limit() -> None:
    values = (0.00099, 0.001, 0.0049, 0.0496, 1.0, nan)
    assert [p_value(value) for value in values] == [
        "<0.001",
        "0.001",
        "0.005",
        "0.050",
        "1.000",
        "–",
    ]


def test_times_and_memory() -> None:
    times = (0.0123, 0.123, 9.87, 12.34, 123.4)
    assert [seconds(value) for value in times] == ["0.012", "0.12", "9.87", "12.3", "123"]
    assert [memory(size) for size in (4.9e5, 5.1e5, 2.6e9)] == ["<1", "1", "2600"]
