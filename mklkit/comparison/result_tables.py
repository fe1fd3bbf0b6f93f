"""The tables of a comparison's results, which each renderer shows in its way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from mklkit.display import numbers
from mklkit.display.measures import PARTS
from mklkit.display.table import Column, ResultTable

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.protocols import Task
    from mklkit.protocols.score import Score

WORDS = (
    Column("method", "Method", short="method", order="ascending"),
    Column("kind", "Kind", order="ascending"),
    Column("learner", "Learner", short="learner", order="ascending"),
)
TWO_DECIMALS = partial(numbers.number, digits=2)
THREE_DECIMALS = partial(numbers.number, digits=3)
TIME = Column("seconds", "Fit", numbers.duration, short="time", order="ascending")
SPLITS = (
    Column("p_corrected", "p corrected", numbers.p_value, "Holm", short="p", absent=""),
    Column("p_paired", "p paired", numbers.p_value, absent=""),
    TIME,
    Column("memory", "Rise of memory", numbers.memory, "MB, peak", order="ascending"),
)
DATASETS = (
    Column("p_worse", "Worse", TWO_DECIMALS, "chance", short="worse", absent="", order="ascending"),
    Column("p_equivalent", "Same", TWO_DECIMALS, "chance", absent=""),
    Column("p_better", "Better", TWO_DECIMALS, "chance", absent=""),
    TIME,
)
RANK = Column("rank", "Rank", TWO_DECIMALS, short="rank", order="ascending", marks_best=True)
DETAILS = ("kind", "log_loss", "p_equivalent", "p_better", "p_paired", "memory")
"""Columns for which only a page has the space."""


def methods_result(
    methods: pd.DataFrame,
    task: Task,
    name: str,
    unit: str,
    reference: str | None,
    caption: str = "",
    note: str = "",
) -> ResultTable:
    """Return the table of methods, on one data set or over several.

    Measures that no method has are left out, and so is the difference of the reference to itself.
    """
    ranking = task.score_named(name)
    lead = score_column(ranking, unit)
    parts = [_score_column(key, *heads, unit == "points") for key, heads in PARTS.items()]
    others = [_measure_column(score) for score in task.measured if score is not ranking]
    measures = [column for column in [*parts, *others] if methods[column.key].notna().any()]
    rows: list[Mapping[Any, Any]] = list(methods.to_dict("records"))
    if "rank" in methods:
        return ResultTable([*WORDS, RANK, lead, *measures, *DATASETS], rows, caption, note)
    compared_to = reference or next(iter(methods.loc[methods["failures"] == 0, "method"]), None)
    rows = [
        {**row, "difference": math.nan} if row["method"] == compared_to else row for row in rows
    ]
    beside = difference_column(unit, f"To {reference or 'the best'}")
    return ResultTable([*WORDS, lead, *measures, beside, *SPLITS], rows, caption, note)


def questions_result(
    tests: pd.DataFrame, unit: str, caption: str = "", note: str = ""
) -> ResultTable:
    """Return the table of planned tests."""
    difference = difference_column(unit, "Difference")
    columns = [
        Column("question", "Question"),
        Column("method", "Method"),
        Column("reference", "Against"),
        difference,
        Column("low", "From", difference.write, unit),
        Column("high", "To", difference.write, unit),
        Column("p_holm", "p corrected", numbers.p_value, "Holm", absent=""),
    ]
    return ResultTable(columns, list(tests.to_dict("records")), caption, note)


def score_column(score: Score, unit: str) -> Column:
    """Return the column of the score that ranks and tests methods."""
    share = unit == "points"
    is_short = score.of and score.short and not score.lower and not score.decimal
    short = str(score.short) if is_short else score.name + " %" * share
    column = _score_column("score", score.ranked_head, short, share, marks_best=True)
    return attrs.evolve(column, deviation="deviation")


def difference_column(unit: str, head: str) -> Column:
    """Return a column of differences in the score."""
    write = numbers.percent if unit == "points" else THREE_DECIMALS
    short = unit if unit == "points" else "diff."
    return Column("difference", head, write, unit, short=short, absent="")


def _measure_column(score: Score) -> Column:
    order = "ascending" if score.lower else "descending"
    return _score_column(score.key, score.head, score.short or "", score.share, order, True)


def _score_column(
    key: str,
    head: str,
    short: str,
    share: bool,
    order: str = "descending",
    marks_best: bool = False,
) -> Column:
    write = numbers.percent if share else THREE_DECIMALS
    return Column(
        key,
        head,
        write,
        "%" * share,
        short,
        order=order,
        marks_best=marks_best,
    )
