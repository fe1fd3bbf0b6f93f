"""Tables of a report and of a notebook: captions, heads and cells for the templates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from mklkit.comparison.result_tables import DETAILS, methods_result, questions_result
from mklkit.comparison.stored import LEFT_OUT
from mklkit.display import html, numbers
from mklkit.errors import counted, cut
from mklkit.plotting.comparison import KINDS

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison


@attrs.frozen
class Head:
    """A column's head with its unit, and the order of the first sort by a click."""

    text: str
    unit: str = ""
    first: str = ""
    is_sorted: bool = False


@attrs.frozen
class Cell:
    """A cell with a smaller line below its text, its sort key, and whether it is the best."""

    text: object
    small: str = ""
    value: float | str | None = None
    best: bool = False
    style: str = ""


@attrs.frozen
class Table:
    """A table whose rows begin with a head; ``row_styles`` are empty if all rows look the same."""

    caption: str
    heads: Sequence[Head | str]
    rows: Sequence[Sequence[object]]
    """Cells, or just their text, number or HTML."""
    style: str = ""
    note: str = ""
    row_styles: Sequence[str] = ()


PLANNED = (
    "Corrected resampled t-test (Nadeau and Bengio 2003), Holm's correction over {}. Each"
    " interval has the level at which Holm's procedure tests its question, below it, and so"
    " excludes 0 exactly where p is below 0.05. The best of several is chosen by the same scores;"
    " its p is multiplied by their number."
)


def questions_table(comparison: Comparison, name: str) -> Table | None:
    """Return the planned tests on the data set of a name, if there are any."""
    tests = comparison.questions[comparison.questions["data"] == name]
    if tests.empty:
        return None
    result = questions_result(tests, comparison.unit)
    rows: list[list[object]] = []
    for test, cells in zip(result.rows, result.cells(), strict=True):
        question, method, reference, difference, low, high, p_value = cells
        choices = f"the best of {test['choices']}" if test["choices"] > 1 else ""
        interval = Cell(f"{low} to {high}", f"{numbers.percent(test['level'])} %")
        rows.append([question, method, Cell(reference, choices), difference, interval, p_value])
    *words, difference_column, _, _, p_column = result.columns
    heads: list[Head | str] = [
        *(column.head for column in words),
        Head(difference_column.head, difference_column.unit),
        "Interval",
        Head(p_column.head, p_column.unit),
    ]
    note = PLANNED.format(counted(len(rows), "question"))
    return Table(f"Planned tests on {name}.", heads, rows, "words", note)


def methods_table(comparison: Comparison, methods: pd.DataFrame, caption: str, note: str) -> Table:
    """Return the table of methods, on one data set or over several, whose rows can be sorted."""
    plan = comparison.plan
    result = methods_result(
        methods, comparison.task, plan["score"], comparison.unit, plan["reference"]
    )
    heads = [
        Head(c.head, c.unit, c.order, place == result.n_words)
        for place, c in enumerate(result.columns)
    ]
    rows: list[list[Cell]] = []
    styles: list[str] = []
    for row in result.rows:
        name = Cell(row["method"], shortfall(row), row["method"])
        words = (KINDS[row["kind"]], row["learner"])
        cells = [name, *(Cell(text, style="kind") for text in words)]
        for column in result.columns[result.n_words :]:
            small = ""
            if column.key == "score" and not math.isnan(row.get("low", math.nan)):
                small = f"{column.written(row['low'])} to {column.written(row['high'])}"
            is_best = result.is_best(column, row)
            cells.append(number_cell(row[column.key], column.text(row), is_best, small))
        rows.append(cells)
        is_first = not styles and not math.isnan(row["score"])
        styles.append(row["kind"].replace(" ", "-") + (" best" if is_first else ""))
    return Table(caption, heads, rows, "methods sortable", note, styles)


def number_cell(value: float, text: str, best: bool = False, small: str = "") -> Cell:
    """Return a cell that is sorted by its number."""
    known = None if math.isnan(value) else float(f"{value:.6g}")
    return Cell(text, small, known, best and known is not None)


def shortfall(row: Mapping[Any, Any]) -> str:
    """Return why a method of :meth:`Comparison.table` has no score on some splits, or nothing."""
    if not row["failures"] or row["reason"].startswith(LEFT_OUT):
        return row["reason"] if row["failures"] else ""
    return f"failed on {row['failures']} of {counted(row['splits'], 'split')}: {row['reason']}"


def comparison_html(comparison: Comparison) -> str:
    """Return the notebook display: the line of the ``repr``, the main columns and the verdict."""
    if not comparison.cells:
        return html.shown(repr(comparison))
    plan, table = comparison.plan, comparison.table()
    result = methods_result(
        table, comparison.task, plan["score"], comparison.unit, plan["reference"]
    )
    rows = result.rows
    best = next((place for place, row in enumerate(rows) if row["failures"] == 0), None)
    return html.shown(
        repr(comparison),
        html.result_grid(result.without(*DETAILS), best),
        *comparison.verdict.splitlines(),
        *(f"{row['method']} {cut(shortfall(row), 230)}" for row in rows if row["failures"]),
        html.notes("Notes", comparison.notes),
    )
