"""What ``compare`` prints: its planned tests, and the methods of one data set or over several."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli.console import plain
from mklkit.cli.tables import grid, result_columns
from mklkit.comparison.result_tables import DETAILS, methods_result, questions_result
from mklkit.errors import counted

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.display.table import Column, ResultTable
    from mklkit.evaluation.tasks import Task

STYLES = {"method": "bold", "one kernel": "", "classifier": "", "baseline": "dim"}
LEGEND = "{2}: difference from {0}; p: corrected t-test, Holm"
OVER_DATA_SETS = (
    "\nrank: mean rank over the data sets, 1 is best; worse: the probability that, on"
    " another data set, being worse than {1} by over two points (2 % of the baseline's error)"
    " is likelier than being the same or better"
)
LAST = {"rank": 1, "p_worse": 2, "seconds": 3}
PLANNED = "interval: at Holm's level, 95 % or more; p: corrected t-test, Holm, over {}"


def questions_grid(tests: pd.DataFrame, unit: str) -> Grid:
    """Return the planned tests of one data set, with differences in a score's unit."""
    result = questions_result(tests, unit)
    table = grid("planned question", unit, "interval", "p", padding=(0, 1, 0, 0))
    title = ""
    for question, method, reference, difference, low, high, p_value in result.cells():
        if question != title:
            title = question
            table.add_row(Text(plain(title), style="bold"))
        name = Text(f" {plain(method)} against {plain(reference)}")
        table.add_row(name, difference, f"{low} to {high}", p_value)
    table.caption = Text(PLANNED.format(counted(len(tests), "question")), style="dim")
    table.caption_justify = "left"
    return table


def comparison_grid(
    results: pd.DataFrame,
    task: Task,
    score: str,
    unit: str,
    reference: str | None,
    title: str | None = None,
) -> Grid:
    """Return the rows of the methods that have a score, of one data set or over several.

    If there are several tables, with titles, only the last, over all data sets, has a legend.
    """
    several = "rank" in results
    has_legend = title is None or several
    result = methods_result(results, task, score, unit, reference)
    columns = _for_terminal(result, task)
    table = result_columns(columns, padding=(0, 1, 0, 0), title_justify="left")
    table.title = None if title is None else Text(f"\n{plain(title)}", style="bold")
    table.show_edge = has_legend  # the empty lines above the head and below the rows
    for row in result.rows:
        if math.isnan(row["score"]):
            continue
        name, *cells = (plain(column.text(row)) for column in columns)
        table.add_row(Text(name, style=STYLES[row["kind"]]), *map(Text, cells))
    if has_legend:
        table.caption = Text(_legend(columns, unit, reference, several), style="dim")
        table.caption_justify = "left"
    return table


def _for_terminal(result: ResultTable, task: Task) -> list[Column]:
    """Return the columns in their order on a terminal, which lacks the space for all."""
    keys = [column.key for column in result.columns]
    left_out = {*DETAILS, *(score.key for score in task.measured if "incomplete_score" in keys)}
    columns = [column for column in result.columns if column.key not in left_out]
    # The score comes first.
    return sorted(columns, key=lambda column: LAST.get(column.key, 0))


def _legend(columns: list[Column], unit: str, reference: str | None, several: bool) -> str:
    names = (reference or "the best", reference or "the first")
    beside = unit if unit == "points" else "diff."
    text = (LEGEND + (OVER_DATA_SETS if several else "")).format(*map(plain, names), beside)
    shorts = {column.short for column in columns}
    if "bal." in shorts:
        text = f"bal.: balanced accuracy; {text}"
    if "incomplete_score" in {column.key for column in columns}:
        text = f"all, lack: of the rows that have all sources, and that lack one; {text}"
    return text
