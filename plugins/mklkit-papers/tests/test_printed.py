"""Tables are read as they are printed."""

from __future__ import annotations

import math

import pytest
from mklkit_papers.lines import printed


def test_cells_of_all_kinds():
    table = printed("""
        set  | plain | spread     | p                  | t            | neither
        Iris | 97.5  | -1.5 ± 0.2 | 80.1 ± 1.0 p=2e-5 | 62.3 t=-4.44 |
        Wine |       | 3          | 1e-3 p=0.04        | +4.5±.5      | 7
    """)
    iris, wine = table["Iris"], table["Wine"]
    assert iris["plain"].value == 97.5
    assert math.isnan(iris["plain"].spread)
    assert iris["plain"].test == ""
    assert (iris["spread"].value, iris["spread"].spread) == (-1.5, 0.2)
    assert (iris["p"].spread, iris["p"].test) == (1.0, "p = 2e-5")
    assert iris["t"].test == "t = -4.44"
    assert list(iris) == ["plain", "spread", "p", "t"]
    assert list(wine) == ["spread", "p", "t", "neither"]
    assert (wine["p"].value, wine["t"].spread) == (0.001, 0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a | b\nx | word", "'word' is not a number"),
        ("a | b\nx | 1 2", "'1 2' is not a number"),
        ("a | b\nx | 1.2.3", "could not convert"),
        ("a | b\nx | 1 | 2", "zip"),
        ("a | b | c\nx | 1", "zip"),
        ("a | b\nx | 1\nx | 2", "same name: x, x"),
        ("a | b | b\nx | 1 | 2", "same name: b, b"),
    ],
)
def test_what_is_no_table(text, message):
    with pytest.raises(ValueError, match=message):
        printed(text)
