"""Numbers as people read them, by hand."""

from __future__ import annotations

from math import nan

import pytest

from mklkit.display.numbers import (
    duration,
    memory,
    number,
    p_value,
    percent,
    percentage,
    short_p_value,
    signed,
    significant,
)


@pytest.mark.parametrize(
    ("difference", "shown"),
    [
        (0.0234, "2.3"),
        (-0.0234, "−2.3"),
        (-0.1, "−10.0"),
        (0.0, "0.0"),
        (-0.0004, "0.0"),
        (0.0006, "0.1"),
        (nan, "–"),
    ],
)
def test_only_a_difference_below_zero_has_a_sign(difference: float, shown: str) -> None:
    assert percent(difference) == shown


def test_decimals_and_signs() -> None:
    assert [number(value, 2) for value in (-1.005, 3, nan, -0.001)] == [
        "−1.00",
        "3.00",
        "–",
        "0.00",
    ]
    assert [percent(share) for share in (0.9999, 1, 0.0004)] == ["100.0", "100.0", "0.0"]


def test_signs_and_significant_digits() -> None:
    assert [signed(value, 1) for value in (0.04, 0.06, -0.04, -2, nan)] == [
        "0.0",
        "+0.1",
        "0.0",
        "−2.0",
        "–",
    ]
    values = (-1234.5, 0.000012345, -0.0, nan)
    assert [significant(value, 3) for value in values] == ["−1.23e+03", "1.23e-05", "0", "–"]


def test_shares_in_percent_and_p_values_of_four_characters() -> None:
    assert [percentage(share) for share in (0.9567, -0.0001, nan)] == ["95.7 %", "0.0 %", "–"]
    assert percentage(2 / 3, digits=0) == "67 %"
    assert [short_p_value(value) for value in (0.004, 0.05, 0.994, 0.996)] == [
        "<.01",
        ".05",
        ".99",
        "1",
    ]


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
    times = (0.0123, 0.9991, 0.9996, 9.87, 99.94, 99.96, nan)
    shown = ["12 ms", "999 ms", "1.0 s", "9.9 s", "99.9 s", "1.7 min", "–"]
    assert [duration(value) for value in times] == shown
    assert [memory(size) for size in (4.9e5, 5.1e5, 2.6e9)] == ["<1", "1", "2600"]
