"""The parts of what notebooks are shown: escaped, complete, without anything from elsewhere."""

from __future__ import annotations

import math

import pytest
from panels import panels

from mklkit.display.notebook import bar, facts, grid, notes, shown


def test_text_is_escaped_everywhere() -> None:
    odd = '<script>alert("1")</script>&amp;'
    html = shown(facts([(odd, odd)]), grid([odd, odd], [[odd, odd]], rest=odd), notes(odd, [odd]))
    (panel,) = panels(html)
    assert "script" not in panel.tags
    assert panel.tables == [[[odd, odd], [odd, odd], [odd]]]
    assert panel.facts == {odd: odd}
    assert panel.notes == [odd]
    assert panel.addresses == []


def test_nothing_is_loaded_and_nothing_runs() -> None:
    (panel,) = panels(shown(grid(["a"], [["b"]])))
    assert "script" not in panel.tags
    style = shown().partition("<style>")[2]
    assert "url(" not in style
    assert "@import" not in style


def test_parts_without_content_are_left_out() -> None:
    (panel,) = panels(shown(facts([]), notes("Notes", [])))
    assert panel.tags == ["div", "style"]


@pytest.mark.parametrize(
    ("value", "ends", "lengths"),
    [
        (1.0, None, ["width:50.0%"]),
        (-2.0, None, ["width:100.0%"]),
        (9.0, None, ["width:100.0%"]),
        (1.0, (0.5, 1.5), ["width:50.0%", "left:25.0%;width:50.0%"]),
        (-1.0, (-1.5, -0.5), ["width:50.0%", "left:25.0%;width:50.0%"]),
        (0.0, (-1.0, 1.0), ["width:0.0%", "left:0.0%;width:50.0%"]),
        (1.0, (math.nan, 1.0), ["width:50.0%"]),
        (math.nan, None, []),
    ],
)
def test_a_bar_is_as_long_as_its_share(
    value: float, ends: tuple[float, float] | None, lengths: list[str]
) -> None:
    (panel,) = panels(shown(bar(value, 2.0, ends)))
    assert [style for style in panel.styles if style] == lengths


@pytest.mark.parametrize("largest", [0.0, math.nan, math.inf])
def test_there_is_no_bar_beside_nothing(largest: float) -> None:
    assert bar(1.0, largest) == ""
