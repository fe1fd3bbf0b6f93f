"""Every table of results holds the same cells on a terminal, on a page and in LaTeX."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from math import nan
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers import reported
from helpers.panels import panels
from rich.console import Console
from sklearn.datasets import load_iris

import mklkit
from mklkit import MKLClassifier, explain
from mklkit.cli import describe, inspect_model
from mklkit.comparison import result_tables as of_comparison
from mklkit.comparison.comparison import Comparison
from mklkit.comparison.report import results as of_report
from mklkit.comparison.report import tables as of_page
from mklkit.display.html import html_table, printable, shown
from mklkit.display.latex import PAGE_ROWS, latex_result, latex_text
from mklkit.display.table import Bar, Column, ResultTable, is_known
from mklkit.display.terminal import terminal_list, terminal_table
from mklkit.estimators.weights_table import weights_result
from mklkit.evaluation import kernel_measures, score_confusion
from mklkit.evaluation import result_tables as of_evaluation
from mklkit.evaluation.alignment import alignment_matrix
from mklkit.explanation import Explanation
from mklkit.explanation import result_tables as of_explanation
from mklkit.tasks import Classification
from mklkit.tasks import class_sections as of_classes

WIDE = 2000
X, Y = load_iris(return_X_y=True)
KERNELS = ["rbf", "linear"]
TOGETHER = {"kernels": [["a & b", "c|_d"]], "left_out": [0.1], "left_out_std": [0.02]}
CONFUSION = np.array([[5, 2, 0], [0, 0, 0], [1, 1, 7]])
SCORE = {"name": "part", **score_confusion(CONFUSION, ["a & b", "c|_d", "e"], 0.5)}


@cache
def compared() -> Comparison:
    return reported.comparison(n_methods=5)


@cache
def over_data_sets() -> Comparison:
    return reported.comparison(n_datasets=5, n_methods=5)


@cache
def explained() -> Explanation:
    model = MKLClassifier(KERNELS).fit(X, Y)
    return explain(model, X, Y, cv=3, repeats=1)


def methods(comparison: Comparison) -> ResultTable:
    table, plan = comparison.table(), comparison.plan
    return of_comparison.methods_result(table, comparison.task, plan["score"], plan["reference"])


def scores() -> ResultTable:
    spread = {"accuracy": -0.00001, "accuracy_std": 0.01, "balanced_accuracy": None}
    parts = [SCORE, {**SCORE, "name": "mean", "seconds": 0.3, **spread}]
    return of_evaluation.scores_result(Classification(), parts, "balanced_accuracy")


def on_page() -> dict[str, Any]:
    return of_report.results_on(compared(), compared().data[0].name)


MANY = 9 * np.eye(30, dtype=int) + np.eye(30, k=2, dtype=int)
LABELS = [f"class_{place}" for place in range(30)]
P_VALUES = np.array([[1.0, 0.001, 0.04], [0.001, 1.0, 0.999], [0.04, 0.999, 1.0]])
COLUMNS = [
    {"name": f"{letter}_{place}", "kind": "number", "gaps": place}
    for letter in "ab"
    for place in range(25)
]
TABLES: dict[Any, Callable[[], ResultTable]] = {
    weights_result: lambda: weights_result(
        [{"kernel": "a_1"}, {"kernel": "b"}], [[-0.5, 0.1, -0.00001], [nan, nan, nan]], 3
    ),
    of_evaluation.scores_result: scores,
    of_evaluation.confusion_result: lambda: of_evaluation.confusion_result(SCORE, "held out"),
    of_evaluation.classes_result: lambda: of_evaluation.classes_result(SCORE, "held out"),
    of_evaluation.alignment_result: lambda: of_evaluation.alignment_result(
        alignment_matrix(KERNELS, X, centered=True)
    ),
    of_evaluation.measures_result: lambda: of_evaluation.measures_result(
        kernel_measures(KERNELS, X, Y)
    ),
    of_explanation.kernels_result: lambda: of_explanation.kernels_result(
        explained().kernels, explained().unit
    ),
    of_explanation.together_result: lambda: of_explanation.together_result(
        pd.DataFrame(TOGETHER), explained().unit
    ),
    of_explanation.groups_result: lambda: of_explanation.groups_result(
        explained().columns, explained().unit
    ),
    of_explanation.effects_result: lambda: of_explanation.effects_result(explained().effects),
    of_comparison.methods_result: lambda: methods(compared()),
    "methods over data sets": lambda: methods(over_data_sets()),
    of_comparison.questions_result: lambda: of_comparison.questions_result(
        compared().questions, compared().score
    ),
    of_comparison.over_data_sets_result: lambda: of_comparison.over_data_sets_result(
        over_data_sets().questions_over_data_sets, over_data_sets().score
    ),
    of_page.questions_table: lambda: on_page()["questions"],
    of_comparison.weights_result: lambda: on_page()["weights"][0],
    of_classes.confusion_table: lambda: on_page()["sections"][0].parts[0].table,
    of_evaluation.calibration_result: lambda: on_page()["sections"][1].parts[1],
    of_evaluation.confused_pairs_result: lambda: of_evaluation.confused_pairs_result(MANY, LABELS),
    of_comparison.pairs_result: lambda: of_comparison.pairs_result(["a", "b", "c"], P_VALUES),
    of_comparison.scores_on_data_sets: lambda: of_comparison.scores_on_data_sets(
        pd.DataFrame({"iris": [0.9, 0.91, nan], "wine": [0.5, nan, 0.4]}, index=["a", "b", "c"]),
        compared().score,
    ),
    of_comparison.methods_parts: lambda: of_comparison.methods_parts(compared().plan["methods"]),
    describe.listed: lambda: describe.listed(
        [
            {
                "name": "rbf",
                "distribution": "mklkit",
                "version": "1",
                "reads": "numbers",
                "help": "A kernel.",
            }
        ],
        "reads",
    ),
    inspect_model.columns_table: lambda: inspect_model.columns_table(COLUMNS),
}


def printed(content: object) -> list[str]:
    console = Console(width=WIDE)
    with console.capture() as captured:
        console.print(content)
    drawn = captured.get().translate({ord(block): " " for block in "█#"})
    return [in_order(line) for line in drawn.splitlines()]


def in_order(text: str) -> str:
    """Return the words of a line, without what can't be shown."""
    return " ".join(printable(text).split())


def functions_returning_tables() -> Iterator[Any]:
    """Yield the public functions of mklkit that return a table of results."""
    for module in walk_packages(mklkit.__path__, "mklkit."):
        if module.name.endswith("__main__"):
            continue
        for name, function in vars(import_module(module.name)).items():
            is_own = inspect.isfunction(function) and function.__module__ == module.name
            if is_own and not name.startswith("_"):
                returned = str(function.__annotations__.get("return", ""))
                if re.match(r"ResultTable\b", returned):
                    yield function


def test_no_table_is_left_out() -> None:
    assert {*functions_returning_tables()} <= {*TABLES}


@pytest.fixture(params=list(TABLES), ids=lambda key: getattr(key, "__qualname__", key))
def table(request: pytest.FixtureRequest) -> ResultTable:
    table = TABLES[request.param]()
    assert table.rows
    return table


def test_a_terminal_shows_the_cells(table: ResultTable) -> None:
    lines = printed(terminal_table(table))
    columns = [column for column in table.columns if column.key != table.section]
    for row in table.rows:
        assert in_order(" ".join(column.text(row) for column in columns)) in lines
        if table.section:
            assert in_order(row[table.section]) in lines


def test_a_page_shows_the_cells(table: ResultTable) -> None:
    (panel,) = panels(shown(html_table(table, details=False)))
    ((heads, *rows),) = panel.tables
    assert [in_order(head) for head in heads] == [in_order(c.full_head) for c in table.columns]
    cells = [[printable(text) for text in row] for row in table.cells()]
    assert rows[: len(cells)] == cells
    assert rows[len(cells) :] == [[table.rest]] * bool(table.rest)


def test_latex_shows_the_cells(table: ResultTable) -> None:
    assert len(table.rows) <= PAGE_ROWS
    body = latex_result(table).partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    lines = [line.removesuffix(r" \\") for line in body.splitlines()]
    shown_columns = [column for column in table.columns if not isinstance(column, Bar)]
    assert len(lines) == len(table.rows)
    for row, line in zip(table.rows, lines, strict=True):
        cells = [re.sub(r"^\\textbf\{(.*)\}$", r"\1", cell) for cell in line.split(" & ")]
        assert cells == [latex_text(column.text(row)) for column in shown_columns]


def test_a_frame_has_the_numbers_that_are_written(table: ResultTable) -> None:
    frame = table.frame()
    for column in table.columns:
        if type(column) is not Column:
            continue
        for value, row in zip(frame[column.key], table.rows, strict=True):
            text = column.text(row).partition(" ± ")[0]
            assert text == (column.written(value) if is_known(value) else column.written(None))


def test_zero_has_no_sign_anywhere() -> None:
    table = TABLES[weights_result]()
    small = scores()
    for content in (table, small):
        texts = [
            *printed(terminal_table(content)),
            str(html_table(content)),
            latex_result(content),
        ]
        assert not [text for text in texts if re.search(r"[-−]0\.0+\b(?!\d)", text)]


def test_a_table_on_its_side_has_the_same_cells() -> None:
    lines = printed(terminal_list(scores()))
    for place, column in enumerate(scores().columns[1:], 1):
        cells = [row[place] for row in scores().cells()]
        assert in_order(" ".join([column.head, *cells])) in lines
