"""Tables of a report and of a notebook: captions, heads and cells, which templates write."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from mklkit.display import html, numbers
from mklkit.errors import counted, cut

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

__all__ = ["KINDS", "Cell", "Head", "Table", "comparison_html", "methods_table", "number_cell"]

KINDS = {
    "method": "several kernels",
    "one kernel": "one kernel",
    "classifier": "other classifier",
    "baseline": "baseline",
}
"""What the kinds of methods are called in the page."""


@attrs.frozen
class Head:
    """The head of a column; ``first`` is the order of the first click, empty where none sorts."""

    text: str
    unit: str = ""
    first: str = ""
    is_sorted: bool = False


@attrs.frozen
class Cell:
    """More of a cell than its text: a smaller line below, what sorts it, whether it is the best."""

    text: object
    small: str = ""
    value: float | str | None = None
    best: bool = False
    style: str = ""


@attrs.frozen
class Table:
    """A table whose rows begin with a head; ``row_styles`` are empty where rows are alike."""

    caption: str
    heads: Sequence[Head | str]
    rows: Sequence[Sequence[object]]
    """Cells, or their text, number or HTML alone."""
    style: str = ""
    note: str = ""
    row_styles: Sequence[str] = ()


@attrs.frozen
class Column:
    """A column of numbers: its key in the table, its head, and how a number is written.

    ``best`` says which number comes first when sorted.
    """

    key: str
    head: str
    written: Callable[[float], str]
    best: str = "high"
    unit: str = ""

    def text(self, row: Mapping[Any, Any]) -> str:
        """Return the number of a method as it is written, of accuracy with its deviation."""
        deviation = row.get("deviation", math.nan) if self.key == "accuracy" else math.nan
        spread = "" if math.isnan(deviation) else f" ± {numbers.percent(deviation)}"
        return self.written(row[self.key]) + spread


_two_decimals = partial(numbers.number, digits=2)
_three_decimals = partial(numbers.number, digits=3)

SPLITS = (
    Column("accuracy", "Accuracy", numbers.percent, unit="%"),
    Column("balanced_accuracy", "Balanced accuracy", numbers.percent, unit="%"),
    Column("auc", "AUC", _three_decimals),
    Column("log_loss", "Log loss", _three_decimals, "low"),
    Column("difference", "To the best", numbers.points, unit="points"),
    Column("p_corrected", "p corrected", numbers.p_value, unit="Holm"),
    Column("p_paired", "p paired", numbers.p_value),
    Column("seconds", "Fit", numbers.seconds, "low", "s"),
    Column("memory", "Rise of memory", numbers.memory, "low", "MB, peak"),
)
DATASETS = (
    Column("rank", "Rank", _two_decimals, "low"),
    *SPLITS[:4],
    Column("p_worse", "Worse", _two_decimals, "low", "chance"),
    Column("p_equivalent", "Same", _two_decimals, unit="chance"),
    Column("p_better", "Better", _two_decimals, unit="chance"),
    SPLITS[-2],
)
MARKED = ("rank", "accuracy", "balanced_accuracy", "auc", "log_loss")
"""Columns whose best number is marked."""
IN_NOTEBOOK = (
    *("accuracy", "balanced_accuracy", "auc", "rank", "p_worse", "difference", "p_corrected"),
    "seconds",
)
ORDERS = {"high": "descending", "low": "ascending"}


def methods_table(methods: pd.DataFrame, caption: str, note: str) -> Table:
    """Return the table of methods, whose rows can be sorted.

    Parameters
    ----------
    methods : pandas.DataFrame
        As :meth:`mklkit.Comparison.table` returns it, of one data set or over several.
    caption, note : str
        The note is written smaller.
    """
    heads = [Head("Method", first="ascending"), Head("Kind", first="ascending")]
    records = methods.to_dict("records")
    rows: list[list[object]] = [
        [Cell(row["method"], _failure(row), row["method"], style="name"),
         Cell(KINDS[row["kind"]], style="kind")]
        for row in records
    ]  # fmt: skip
    columns = DATASETS if "rank" in methods else SPLITS
    for column in columns:
        heads.append(Head(column.head, column.unit, ORDERS[column.best], column is columns[0]))
        values = methods[column.key]
        best = None
        if column.key in MARKED and values.notna().any():
            # As it is written, so that equal ones are marked alike.
            best = column.written(float(values.max() if column.best == "high" else values.min()))
        for cells, row in zip(rows, records, strict=True):
            value, small = row[column.key], ""
            if column.key == "accuracy" and not math.isnan(row.get("low", math.nan)):
                small = f"{numbers.percent(row['low'])} to {numbers.percent(row['high'])}"
            is_best = column.written(value) == best
            cells.append(number_cell(value, column.text(row), is_best, small))
    styles = [record["kind"].replace(" ", "-") for record in records]
    if records and not math.isnan(records[0]["accuracy"]):
        styles[0] += " best"
    return Table(caption, heads, rows, "methods sortable", note, styles)


def number_cell(value: float, text: str, best: bool = False, small: str = "") -> Cell:
    """Return a cell that is sorted by its number."""
    known = None if math.isnan(value) else float(f"{value:.6g}")
    return Cell(text, small, known, best and known is not None)


def _failure(row: Mapping[Any, Any]) -> str:
    if not row["failures"]:
        return ""
    return f"failed on {row['failures']} of {counted(row['splits'], 'split')}: {row['reason']}"


def comparison_html(comparison: Comparison) -> str:
    """Return what a notebook shows: the line of the ``repr``, the main columns and the verdict."""
    if not comparison.cells:
        return html.shown(repr(comparison))
    table = comparison.table()
    records = table.to_dict("records")
    columns = [c for c in (DATASETS if "rank" in table else SPLITS) if c.key in IN_NOTEBOOK]
    rows = [
        [row["method"], KINDS[row["kind"]], *(column.text(row) for column in columns)]
        for row in records
    ]
    heads = ["Method", "Kind", *(f"{column.head} {column.unit}".rstrip() for column in columns)]
    best = next((place for place, row in enumerate(records) if row["failures"] == 0), None)
    return html.shown(
        repr(comparison),
        html.grid(heads, rows, words=2, best=best),
        comparison.verdict,
        *(f"{row['method']} {cut(_failure(row), 230)}" for row in records if row["failures"]),
        html.notes("Notes", comparison.notes),
    )
