"""Tables of a report and of a notebook: captions, heads and cells for the templates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from mklkit.comparison.stored import LEFT_OUT
from mklkit.display import html, numbers
from mklkit.display.measures import PARTS
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


@attrs.frozen
class Column:
    """A column of numbers: its key in the table, its head, and the format of a number.

    The score is written with its deviation. ``order`` puts the best number first.
    """

    key: str
    head: str
    written: Callable[[float], str]
    order: str = "descending"
    unit: str = ""
    marked: bool = False
    """Whether the best number is marked."""

    def text(self, row: Mapping[Any, Any]) -> str:
        """Return the number of a method as text."""
        deviation = row.get("deviation", math.nan) if self.key == "score" else math.nan
        spread = "" if math.isnan(deviation) else f" ± {self.written(deviation)}"
        return self.written(row[self.key]) + spread

    def best(self, methods: pd.DataFrame) -> str | None:
        """Return the best number as it is written, so that all that look equal are marked."""
        values = methods[self.key].dropna()
        if not self.marked or values.empty:
            return None
        return self.written(float(values.max() if self.order == "descending" else values.min()))


_two_decimals = partial(numbers.number, digits=2)
_three_decimals = partial(numbers.number, digits=3)


def _score_column(key: str, head: str, share: bool, lower: bool = False) -> Column:
    order = "ascending" if lower else "descending"
    written = numbers.percent if share else _three_decimals
    return Column(key, head, written, order, "%" * share, marked=True)


SPLITS = (
    Column("p_corrected", "p corrected", numbers.p_value, unit="Holm"),
    Column("p_paired", "p paired", numbers.p_value),
    Column("seconds", "Fit", numbers.seconds, "ascending", "s"),
    Column("memory", "Rise of memory", numbers.memory, "ascending", "MB, peak"),
)
DATASETS = (
    Column("p_worse", "Worse", _two_decimals, "ascending", "chance"),
    Column("p_equivalent", "Same", _two_decimals, unit="chance"),
    Column("p_better", "Better", _two_decimals, unit="chance"),
    SPLITS[-2],
)
RANK = Column("rank", "Rank", _two_decimals, "ascending", marked=True)
PLANNED = (
    "Corrected resampled t-test (Nadeau and Bengio 2003), Holm's correction over {}. Each"
    " interval has the level at which Holm's procedure tests its question, below it, and so"
    " excludes 0 exactly where p is below 0.05. The best of several is chosen by the same scores;"
    " its p is multiplied by their number."
)
NOT_IN_NOTEBOOK = ("log_loss", "p_equivalent", "p_better", "p_paired", "memory")


def score_column(comparison: Comparison) -> Column:
    """Return the column of the score that ranks and tests methods."""
    return _score_column("score", comparison.score.ranked_head, comparison.unit == "points")


def difference_column(comparison: Comparison, head: str) -> Column:
    """Return a column of differences in the score."""
    written = numbers.points if comparison.unit == "points" else _three_decimals
    return Column("difference", head, written, unit=comparison.unit)


def _columns(comparison: Comparison, methods: pd.DataFrame) -> list[Column]:
    """Return the columns of a table of methods, without measures that none of them has."""
    name = comparison.plan["score"]
    parts = [
        attrs.evolve(_score_column(key, head, comparison.unit == "points"), marked=False)
        for key, (head, _) in PARTS.items()
    ]
    others = [
        _score_column(score.key, score.head, score.share, score.lower)
        for score in comparison.task.measured
        if score.name != name
    ]
    measures = [column for column in [*parts, *others] if methods[column.key].notna().any()]
    if "rank" in methods:
        return [RANK, score_column(comparison), *measures, *DATASETS]
    beside = difference_column(comparison, f"To {comparison.plan['reference'] or 'the best'}")
    return [score_column(comparison), *measures, beside, *SPLITS]


def questions_table(comparison: Comparison, name: str) -> Table | None:
    """Return the planned tests on the data set of a name, if there are any."""
    tests = comparison.questions[comparison.questions["data"] == name]
    column = difference_column(comparison, "Difference")
    rows: list[list[object]] = []
    for test in tests.to_dict("records"):
        low, high, difference = (column.written(test[key]) for key in ("low", "high", "difference"))
        choices = f"the best of {test['choices']}" if test["choices"] > 1 else ""
        beside = Cell(test["reference"], choices)
        interval = Cell(f"{low} to {high}", f"{numbers.number(100 * test['level'], 1)} %")
        p_value = numbers.p_value(test["p_holm"])
        rows.append([test["question"], test["method"], beside, difference, interval, p_value])
    if not rows:
        return None
    words = ("Question", "Method", "Against")
    ends = (Head("Difference", column.unit), "Interval", Head("p corrected", "Holm"))
    note = PLANNED.format(counted(len(rows), "question"))
    return Table(f"Planned tests on {name}.", [*words, *ends], rows, "words", note)


def methods_table(comparison: Comparison, methods: pd.DataFrame, caption: str, note: str) -> Table:
    """Return the table of methods, on one data set or over several, whose rows can be sorted."""
    columns = _columns(comparison, methods)
    heads = [Head(head, first="ascending") for head in ("Method", "Kind", "Learner")]
    heads += [Head(c.head, c.unit, c.order, c is columns[0]) for c in columns]
    best = {column: column.best(methods) for column in columns}
    rows: list[list[Cell]] = []
    styles: list[str] = []
    for row in methods.to_dict("records"):
        name = Cell(row["method"], shortfall(row), row["method"])
        words = (KINDS[row["kind"]], row["learner"])
        cells = [name, *(Cell(text, style="kind") for text in words)]
        for column in columns:
            value, small = row[column.key], ""
            if column.key == "score" and not math.isnan(row.get("low", math.nan)):
                small = f"{column.written(row['low'])} to {column.written(row['high'])}"
            is_best = column.written(value) == best[column]
            cells.append(number_cell(value, column.text(row), is_best, small))
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
    table = comparison.table()
    records = table.to_dict("records")
    columns = [c for c in _columns(comparison, table) if c.key not in NOT_IN_NOTEBOOK]
    rows = [
        [row["method"], row["learner"], *(column.text(row) for column in columns)]
        for row in records
    ]
    heads = ["Method", "Learner", *(f"{column.head} {column.unit}".rstrip() for column in columns)]
    best = next((place for place, row in enumerate(records) if row["failures"] == 0), None)
    return html.shown(
        repr(comparison),
        html.grid(heads, rows, words=2, best=best),
        *comparison.verdict.splitlines(),
        *(f"{row['method']} {cut(shortfall(row), 230)}" for row in records if row["failures"]),
        html.notes("Notes", comparison.notes),
    )
