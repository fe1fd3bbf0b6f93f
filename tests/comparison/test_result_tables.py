"""One table of results: its renderers show the same numbers."""

from __future__ import annotations

from math import nan
from pathlib import Path

import pytest
from helpers import reported
from reading_pages import Read
from rich.console import Console

from mklkit.cli.comparison_tables import comparison_grid, questions_grid
from mklkit.comparison.comparison import Comparison
from mklkit.comparison.report.tables import methods_html
from mklkit.comparison.result_tables import methods_result
from mklkit.display.html import html_table
from mklkit.display.latex import latex_result, latex_text
from mklkit.display.numbers import number, percent
from mklkit.display.table import Column, ResultTable


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return reported.comparison(n_methods=6)


def on_terminal(*content: object) -> str:
    console = Console(width=400)
    with console.capture() as captured:
        console.print(*content)
    return captured.get()


def signed(value: float) -> str:
    """A difference of shares in points, by hand."""
    tenths = round(1000 * value)
    sign = "−" if tenths < 0 else ""
    return f"{sign}{abs(tenths) // 10}.{abs(tenths) % 10}"


def test_a_method_has_the_same_numbers_in_all_renderers(
    compared: Comparison, tmp_path: Path
) -> None:
    methods = compared.table()
    row = methods[methods["method"] == "method 4"].to_dict("records")[0]
    score = f"{100 * row['score']:.1f} ± {100 * row['deviation']:.1f}"
    numbers = [score, signed(row["difference"]), f"{row['p_corrected']:.3f}"]
    terminal = on_terminal(
        comparison_grid(methods, compared.task, "accuracy", None, "corrected t-test")
    )
    page = Read(str(methods_html(compared, methods, "", "")))
    compared.report(tmp_path / "a.tex")
    latex = (tmp_path / "a.tex").read_text()
    line = next(line for line in terminal.splitlines() if line.startswith(" method 4"))
    notebook = Read(compared._repr_html_()).text()
    (source,) = [line for line in latex.splitlines() if line.startswith("method 4 ")]
    for shown in numbers:
        assert shown in line
        assert shown in page.text()
        assert shown in notebook
        assert f"& {latex_text(shown)} " in source


def test_planned_tests_have_the_same_numbers_in_all_renderers(
    compared: Comparison, tmp_path: Path
) -> None:
    (test,) = compared.questions.to_dict("records")
    numbers = [signed(test[key]) for key in ("difference", "low", "high")]
    for ending in ("tex", "html"):
        compared.report(tmp_path / f"a.{ending}")
    page, latex = Read((tmp_path / "a.html").read_text()).text(), (tmp_path / "a.tex").read_text()
    terminal = on_terminal(questions_grid(compared.questions, compared.score, "corrected t-test"))
    for shown in numbers:
        assert shown in terminal
        assert shown in page
        assert latex_text(shown) in latex


def test_a_score_that_was_not_stored_is_left_out(compared: Comparison) -> None:
    older = compared.table().drop(columns="balanced_accuracy")
    table = methods_result(older, compared.task, "accuracy", None)
    names = [column.key for column in table.columns]
    assert "balanced_accuracy" not in names
    whole = methods_result(compared.table(), compared.task, "accuracy", None)
    assert names == [column.key for column in whole.columns if column.key in names]
    assert {column.key for column in whole.columns} - {*names} == {"balanced_accuracy"}
    assert table.cells()


SCORES = ResultTable(
    [
        Column("name", "Name"),
        Column("score", "R²", lambda value: number(value, 1), deviation="std", marks_best=True),
        Column("loss", "Loss", percent, "points", absent="", order="ascending", marks_best=True),
    ],
    [
        {"name": "a_1", "score": 0.91, "std": 0.2, "loss": -0.0001},
        {"name": "b", "score": 0.92, "std": nan, "loss": nan},
        {"name": "c", "score": nan, "std": nan, "loss": 0.5},
    ],
)


def test_cells_and_what_is_missing() -> None:
    assert SCORES.cells() == [["a_1", "0.9 ± 0.2", "0.0"], ["b", "0.9", ""], ["c", "–", "50.0"]]
    assert SCORES.without("score").cells()[2] == ["c", "50.0"]
    page = Read(str(html_table(SCORES)))
    assert page.text("th").split("\n") == ["Name", "R²", "Loss ", "a_1", "b", "c"]
    assert page.text("small") == "points"
    assert page.text("strong").split("\n") == ["0.9 ± 0.2", "0.0", "0.9"]
    assert page.text("td").split("\n") == ["–", "50.0"]


def test_all_numbers_that_look_like_the_best_are_bold_in_latex() -> None:
    lines = [line for line in latex_result(SCORES).splitlines() if line[:2] in ("a\\", "b ", "c ")]
    assert lines == [
        r"a\_1 & \textbf{0.9 $\pm$ 0.2} & \textbf{0.0} \\",
        r"b & \textbf{0.9} &  \\",
        r"c & -- & 50.0 \\",
    ]
