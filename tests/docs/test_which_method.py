"""The figures of the page "Which method for my data?" are those of the benchmarks' tables."""

from __future__ import annotations

import re

import pytest
from helpers.documents import ROOT

GUIDES = ROOT / "docs" / "guides"
PAGE = "which-method.md"
METHODS = {
    "one kernel on all columns": "SVC, standardised columns, tuned",
    "gradient boosting": "gradient boosting",
    "late fusion": "late fusion: vote of one tuned SVC per source",
    "stacking": "stacking: one tuned SVC per source, logistic regression",
    "linear SVC": "linear SVC, rows of each source normalised, tuned",
    "MKL: `rbf`": "mklkit: standardised rbf per source, `uniform`",
    "MKL: `auto`": "mklkit: `auto`",
}
"""The beginning of each line of the page's table, and the line of the benchmark."""


def text_of(name: str) -> str:
    return (GUIDES / name).read_text(encoding="utf-8")


def rows_of(text: str) -> dict[str, list[str]]:
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {name.strip(): [cell.strip() for cell in cells] for name, *cells in lines}


ACCURACY, SECONDS = (rows_of(text_of(f"tables/sources{end}.md")) for end in ("", "-seconds"))
SHOWN = rows_of(text_of(PAGE).partition("<!-- which-method -->")[2].partition("<!-- end -->")[0])


@pytest.mark.parametrize("start", METHODS)
def test_a_line_is_that_of_the_benchmark(start: str) -> None:
    [line] = [cells for name, cells in SHOWN.items() if name.startswith(start)]
    *accuracies, mean, seconds = line
    assert [*accuracies, mean] == ACCURACY[METHODS[start]][:7]
    assert float(seconds.replace(",", "")) == round(sum(map(float, SECONDS[METHODS[start]])))


def test_the_table_has_these_lines_and_no_other() -> None:
    assert len(SHOWN) == len(METHODS) + 2  # the header, and the line below it


def test_the_figures_of_the_text_follow_from_the_table() -> None:
    accuracy = {start: [float(x) for x in ACCURACY[name][:7]] for start, name in METHODS.items()}
    text = " ".join(text_of(PAGE).split())
    leaves = ACCURACY["accuracy, %"].index("leaves100")
    for start in ("gradient boosting", "MKL: `auto`"):
        others = [x for place, x in enumerate(accuracy[start][:6]) if place != leaves]
        assert f"{sum(others) / 5:.1f} %" in text
    late, stacking, auto = (accuracy[s][6] for s in ("late fusion", "stacking", "MKL: `auto`"))
    assert f"{auto - late:.1f} and {auto - stacking:.1f} points below `auto`" in text


@pytest.mark.parametrize(
    ("figure", "page", "cells"),
    [
        ("3,475 MiB", "performance.md", "| samples = 16,000 | 7.5 s (7.3 to 10) | 3475 MiB"),
        ("5.4 seconds", "performance.md", "| `uniform` + `mhks` | 5.41 s |"),
        (
            "85.4 %, boosting 83.8 %",
            "tables/auto.md",
            "| mean | 85.4 | 83.9 | 84.4 | 84.3 | 83.8 |",
        ),
    ],
)
def test_a_figure_is_that_of_another_page(figure: str, page: str, cells: str) -> None:
    assert figure in text_of(PAGE)
    assert re.sub(r" +", " ", text_of(page)).count(cells) == 1
