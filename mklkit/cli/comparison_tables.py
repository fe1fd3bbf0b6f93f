"""What ``compare`` prints: its planned tests, and the methods of one data set or over several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
from rich.table import Table as Grid

from mklkit.comparison.result_tables import (
    DETAILS,
    difference_column,
    methods_result,
    over_data_sets_result,
    questions_result,
)
from mklkit.display.terminal import terminal_table
from mklkit.errors import counted

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.display.table import Column, ResultTable
    from mklkit.protocols import Task
    from mklkit.protocols.score import Score

STYLES = {"method": "bold", "one kernel": "", "classifier": "", "baseline": "dim"}
LEGEND = "{2}: difference from {0}; p: {3}, Holm"
OVER_DATA_SETS = (
    "\nrank: mean rank over the data sets, 1 is best; worse: the probability that, on"
    " another data set, being worse than {1} by more than the margin is likelier than being the"
    " same or better"
)
LAST = {"rank": 1, "p_worse": 2, "seconds": 3}
PLANNED = "interval: at Holm's level, 95 % or more; p: {}, Holm, over {}"
OVER = (
    "better, worse, equal: the number of data sets{}; p: Wilcoxon's signed-rank test, Holm, over {}"
)


def questions_grid(tests: pd.DataFrame, score: Score, test: str) -> Grid:
    """Return the planned tests of one data set, with differences in a score."""
    caption = PLANNED.format(test, counted(len(tests), "question"))
    return terminal_table(questions_result(tests, score), caption=caption, dense=True)


def over_data_sets_grid(tests: pd.DataFrame, score: Score) -> Grid:
    """Return the planned tests over several data sets."""
    beside = difference_column(score, "").short
    median = "" if score.lower else f"; {beside}: Hodges–Lehmann median"
    caption = OVER.format(median, counted(len(tests), "question"))
    return terminal_table(over_data_sets_result(tests, score), caption=caption, dense=True)


def comparison_grid(
    results: pd.DataFrame,
    task: Task,
    score: str,
    reference: str | None,
    test: str,
    title: str | None = None,
) -> Grid:
    """Return the samples of the methods that have a score, of one data set or over several.

    If there are several tables, with titles, only the last, over all data sets, has a legend.
    """
    several = "rank" in results
    has_legend = title is None or several
    scored = results[results["score"].notna()]
    result = _for_terminal(methods_result(scored, task, score, reference), task)
    beside = difference_column(task.score_named(score), "").short
    legend = _legend(result.columns, reference, test, beside, several) if has_legend else ""
    heading = None if title is None else f"\n{title}"
    table = terminal_table(result, lambda row: STYLES[row["kind"]], legend, heading, dense=True)
    table.show_edge = has_legend  # the empty lines above the head and below the rows
    return table


def _for_terminal(result: ResultTable, task: Task) -> ResultTable:
    """Return the columns in their order on a terminal, which lacks the space for all."""
    keys = [column.key for column in result.columns]
    left_out = {*DETAILS, *(score.key for score in task.measured if "incomplete_score" in keys)}
    columns = [column for column in result.columns if column.key not in left_out]
    # The score comes first.
    ordered = sorted(columns, key=lambda column: LAST.get(column.key, 0))
    return attrs.evolve(result, columns=ordered)


def _legend(
    columns: Sequence[Column], reference: str | None, test: str, beside: str | None, several: bool
) -> str:
    names = (reference or "the best", reference or "the first")
    text = (LEGEND + (OVER_DATA_SETS if several else "")).format(*names, beside, test)
    shorts = {column.short for column in columns}
    if "bal." in shorts:
        text = f"bal.: balanced accuracy; {text}"
    if "incomplete_score" in {column.key for column in columns}:
        text = f"all, lack: of the samples that have all sources, and that lack one; {text}"
    return text
