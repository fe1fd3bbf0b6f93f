"""The tables of a comparison's results, which each renderer shows in its way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import attrs
import numpy as np

from mklkit.comparison.stored import LEFT_OUT
from mklkit.display import numbers
from mklkit.display.html import MARKED
from mklkit.display.measures import PARTS
from mklkit.display.table import Bar, Column, Range, ResultTable, Row, is_known
from mklkit.errors import counted
from mklkit.evaluation.claims import LEVEL
from mklkit.evaluation.sentences import interval
from mklkit.plotting.comparison import KINDS

if TYPE_CHECKING:
    import pandas as pd

    from mklkit.protocols import Array, Task
    from mklkit.protocols.score import Score

MOST_KERNELS = 25
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
DETAILS = ("kind_name", "log_loss", "p_equivalent", "p_better", "p_paired", "memory")
"""Columns for which only a page has the space."""


def shortfall(row: Row) -> str:
    """Return why a method of :meth:`Comparison.table` has no score on some splits, or nothing."""
    if not row["failures"] or row["reason"].startswith(LEFT_OUT):
        return row["reason"] if row["failures"] else ""
    return f"failed on {row['failures']} of {counted(row['splits'], 'split')}: {row['reason']}"


WORDS = (
    Column("method", "Method", short="method", order="ascending", detail=shortfall),
    Column("kind_name", "Kind", order="ascending"),
    Column("learner", "Learner", short="learner", order="ascending"),
)


def methods_result(
    methods: pd.DataFrame,
    task: Task,
    name: str,
    reference: str | None,
    caption: str = "",
    note: str = "",
) -> ResultTable:
    """Return the table of methods, on one data set or over several.

    Measures that no method has are dropped, and so is the difference of the reference to itself.
    """
    ranking = task.score_named(name)
    lead = score_column(ranking)
    share = lead.unit == "%"
    order = lead.order
    parts = [_score_column(key, *heads, share, order) for key, heads in PARTS.items()]
    stored = [score for score in task.measured if score.key in methods]
    others = [_measure_column(score) for score in stored if score is not ranking]
    measures = [column for column in [*parts, *others] if methods[column.key].notna().any()]
    rows = [{**row, "kind_name": KINDS[row["kind"]]} for row in _written(methods, ranking)]
    if "rank" in methods:
        return ResultTable([*WORDS, RANK, lead, *measures, *DATASETS], rows, caption, note)
    compared_to = reference or next(iter(methods.loc[methods["failures"] == 0, "method"]), None)
    rows = [
        {**row, "difference": math.nan} if row["method"] == compared_to else row for row in rows
    ]
    beside = difference_column(ranking, f"To {reference or 'the best'}")
    beside = attrs.evolve(beside, detail=partial(_difference_interval, beside))
    return ResultTable([*WORDS, lead, *measures, beside, *SPLITS], rows, caption, note)


def questions_result(
    tests: pd.DataFrame, score: Score, caption: str = "", note: str = ""
) -> ResultTable:
    """Return the table of planned tests."""
    difference = difference_column(score, "Difference")
    rows = _with_pairs(tests, score)
    columns = [
        Column("question", "Question"),
        Column("pair", "Methods", short="planned question", detail=_choices),
        difference,
        Range("interval", "Interval", difference.write, short="interval", detail=_level),
        Column("p_holm", "p corrected", numbers.p_value, "Holm", short="p", absent=""),
    ]
    return ResultTable(columns, rows, caption, note, section="question")


def over_data_sets_result(
    tests: pd.DataFrame, score: Score, caption: str = "", note: str = ""
) -> ResultTable:
    """Return the table of planned tests over several data sets."""
    rows = _with_pairs(tests, score)
    median = attrs.evolve(difference_column(score, "Median difference"), key="median")
    median = attrs.evolve(median, detail=partial(_median_interval, median))
    columns = [
        Column("question", "Question"),
        Column("pair", "Methods", short="planned question", detail=_choices),
        Column("better", "Better", numbers.whole, "data sets", short="better"),
        Column("worse", "Worse", numbers.whole, "data sets", short="worse"),
        Column("equal", "Equal", numbers.whole, "data sets", short="equal"),
        # The units of errors may differ between data sets.
        *([] if score.lower else [median]),
        Column("p_holm", "p corrected", numbers.p_value, "Holm", short="p", absent=""),
    ]
    return ResultTable(columns, rows, caption, note, section="question")


def _choices(test: Row) -> str:
    return f"the best of {test['choices']}" if test["choices"] > 1 else ""


def _level(test: Row) -> str:
    return numbers.percentage(test["level"])


def _median_interval(column: Column, test: Row) -> str:
    """Return the interval of a difference over data sets, empty if there is none."""
    if not is_known(test["low"]):
        return ""
    return interval(test["low"], test["high"], column.written, test["level"])


def _difference_interval(column: Column, row: Row) -> str:
    """Return the interval of a difference, empty if there is none."""
    if not is_known(row["difference"]) or not is_known(row["difference_low"]):
        return ""
    return f"{column.written(row['difference_low'])} to {column.written(row['difference_high'])}"


RANKED = ("score", "difference", *PARTS)
"""The keys of values in the score that ranks methods."""


def _with_pairs(tests: pd.DataFrame, score: Score) -> list[Row]:
    """Return rows of planned tests with the methods that each compares."""
    return [
        {**test, "pair": f"{test['method']} against {test['reference']}"}
        for test in _written(tests, score)
    ]


def _written(table: pd.DataFrame, score: Score) -> list[Row]:
    """Return rows with the values of the score that ranks methods, of an error without the sign."""
    if score.lower:
        ends = {
            f"{of}{end}": f"{of}{other}"
            for of in ("", "difference_")
            for end, other in (("low", "high"), ("high", "low"))
        }
        ends = {end: other for end, other in ends.items() if end in table}
        signed = [key for key in (*RANKED, *ends) if key in table]
        table = table.assign(**-table[signed].astype(float)).rename(columns=ends)
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def score_column(score: Score) -> Column:
    """Return the column of the score that ranks and tests methods."""
    is_short = score.of and score.short and not score.decimal
    short = str(score.short) if is_short else score.words + " %" * score.is_share
    order = "ascending" if score.lower else "descending"
    column = _score_column("score", score.head, short, score.is_share, order, marks_best=True)

    def interval(row: Row) -> str:
        if not is_known(row.get("low")):
            return ""
        return f"{column.written(row['low'])} to {column.written(row['high'])}"

    return attrs.evolve(column, deviation="deviation", detail=interval)


def difference_column(score: Score, head: str) -> Column:
    """Return a column of differences in a score."""
    if score.is_share:
        return Column("difference", head, numbers.percent, "points", short="points", absent="")
    return Column("difference", head, THREE_DECIMALS, score.words, short="diff.", absent="")


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


def weights_result(name: str, weights: pd.DataFrame, largest: float) -> ResultTable:
    """Return a method's weights over the splits, a column of the table each, the heaviest of many.

    Bars are as long as the share of the ``largest`` weight of all methods.
    """
    order = weights.mean().rank(ascending=False, method="first")
    heaviest = weights.loc[:, order <= MOST_KERNELS].agg(["mean", "min", "max", "std"]).T
    if len(weights) == 1:
        heaviest[["min", "max"]] = math.nan
    columns = [
        Column("kernel", "Kernel"),
        Column("mean", "Mean weight", TWO_DECIMALS, deviation="std"),
        Bar("mean", "", largest=largest, ends=("min", "max")),
        Range("range", "Lowest to highest", TWO_DECIMALS, absent="", ends=("min", "max")),
    ]
    n_kernels = weights.shape[1]
    is_cut = n_kernels > len(heaviest)
    note = f"The {len(heaviest)} heaviest of {n_kernels} kernels." if is_cut else ""
    rows = heaviest.rename_axis("kernel").reset_index().to_dict("records")
    return ResultTable(columns, rows, name, note)


def _bold_below_level(key: str, row: Row) -> str:
    return MARKED if row[key] < LEVEL else ""


def pairs_result(names: Sequence[str], p_values: Array) -> ResultTable:
    """Return the p values of Nemenyi's test, with columns numbered like the rows."""
    across = p_values.shape[1]
    columns = [
        Column(
            str(place),
            str(place + 1),
            numbers.short_p_value,
            style=partial(_bold_below_level, str(place)),
        )
        for place in range(across)
    ]
    values = p_values.astype(float)
    np.fill_diagonal(values, math.nan)
    rows = [
        {"method": f"{place + 1} {name}", **{str(j): value for j, value in enumerate(row)}}
        for place, (name, row) in enumerate(zip(names, values.tolist(), strict=True))
    ]
    limit = f" Columns: the best {across} of {len(names)}." if across < len(names) else ""
    caption = (
        f"p values of Nemenyi's test, corrected for the number of pairs; below 0.05 in bold.{limit}"
    )
    return ResultTable([Column("method", "Method"), *columns], rows, caption)


def scores_on_data_sets(means: pd.DataFrame, score: Score) -> ResultTable:
    """Return the mean scores of methods (rows) on data sets, the best on each data set marked."""
    column = score_column(score)
    of_data = [
        attrs.evolve(column, key=name, head=name, unit="", short="", deviation="", detail=None)
        for name in map(str, means.columns)
    ]
    share = " in percent" if column.unit else ""
    caption = f"Mean {column.head}{share}, the methods in the order of their ranks."
    rows = (
        (score.sign * means)
        .rename(columns=str)
        .rename_axis("method")
        .reset_index()
        .to_dict("records")
    )
    return ResultTable([Column("method", "Method", order=""), *of_data], rows, caption)


def methods_parts(methods: Sequence[Row]) -> ResultTable:
    """Return the methods of a comparison's plan with all their parts."""
    columns = [
        Column("name", "Method"),
        Column("kind_name", "Kind"),
        Column("spec", "Parts"),
        Column("version", "From"),
    ]
    rows = [{**method, "kind_name": KINDS[method["kind"]]} for method in methods]
    return ResultTable(columns, rows, "Methods with all their parts.")
