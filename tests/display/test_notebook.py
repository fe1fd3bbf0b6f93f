"""The parts of what notebooks are shown: escaped, complete, without anything from elsewhere."""

from __future__ import annotations

import math

import pytest
from helpers.panels import panels

from mklkit.display.html import bar, facts, html_table, notes, shown
from mklkit.display.table import Column, ResultTable


def test_text_is_escaped_everywhere() -> None:
    odd = '<script>alert("1")</script>&amp;'
    columns = [Column("name", odd), Column("value", odd, str)]
    table = ResultTable(columns, [{"name": odd, "value": odd}], rest=odd)
    html = shown(facts([(odd, odd)]), html_table(table), notes(odd, [odd]))
    (panel,) = panels(html)
    assert "script" not in panel.tags
    assert panel.tables == [[[odd, odd], [odd, odd], [odd]]]
    assert panel.facts == {odd: odd}
    assert panel.notes == [odd]
    assert panel.addresses == []


def test_nothing_is_loaded_and_nothing_runs() -> None:
    (panel,) = panels(shown(html_table(ResultTable([Column("a", "a")], [{"a": "b"}]))))
    assert "script" not in panel.tags
    style = shown().partition("<style>")[2]
    assert "url(" not in style
    assert "@import" not in style


def test_parts_without_content_are_left_out() -> None:
    (panel,) = panels(shown(facts([]), notes("Notes", [])))
    assert panel.tags == ["div", "style"]


def test_what_cannot_be_shown_is_replaced() -> None:
    (panel,) = panels(shown("bell \x07, half \udcff, ümlaut"))
    assert panel.paragraphs == ["bell \ufffd, half \ufffd, ümlaut"]


@pytest.mark.parametrize(
    ("value", "ends", "lengths"),
    [
        (1.0, None, ["50"]),
        (-2.0, None, ["100"]),
        (9.0, None, ["100"]),
        (1.0, (0.5, 1.5), ["50", "25 to 75"]),
        (-1.0, (-1.5, -0.5), ["50", "25 to 75"]),
        (0.0, (-1.0, 1.0), ["0", "0 to 50"]),
        (1.0, (math.nan, 1.0), ["50"]),
        (math.nan, None, []),
    ],
)
def test_a_bar_is_as_long_as_its_share(
    value: float, ends: tuple[float, float] | None, lengths: list[str]
) -> None:
    (panel,) = panels(shown(bar(value, 2.0, ends)))
    assert panel.bars == lengths


@pytest.mark.parametrize("largest", [0.0, math.nan, math.inf])
def test_there_is_no_bar_beside_nothing(largest: float) -> None:
    assert bar(1.0, largest) == ""
