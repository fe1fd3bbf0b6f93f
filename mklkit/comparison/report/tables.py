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
from mklkit.plotting.comparison import KINDS

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison


@attrs.frozen
class Head:
    """More of a column's head than its text: a unit, and the order in which a click sorts first."""

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

    ``order`` is that in which the best number comes first.
    """

    key: str
    head: str
    written: Callable[[float], str]
    order: str = "descending"
    unit: str = ""

    def text(self, row: Mapping[Any, Any]) -> str:
        """Return the number of a method as it is written, of accuracy with its deviation."""
        deviation = row.get("deviation", math.nan) if self.key == "accuracy" else math.nan
        spread = "" if math.isnan(deviation) else f" ± {numbers.percent(deviation)}"
        return self.written(row[self.key]) + spread

    def best(self, methods: pd.DataFrame) -> str | None:
        """Return the best number as it is written, so that equal ones are marked alike."""
        values = methods[self.key].dropna()
        if self.key not in MARKED or values.empty:
            return None
        return self.written(float(values.max() if self.order == "descending" else values.min()))


_two_decimals = partial(numbers.number, digits=2)
_three_decimals = partial(numbers.number, digits=3)

SPLITS = (
    Column("accuracy", "Accuracy", numbers.percent, unit="%"),
    Column("balanced_accuracy", "Balanced accuracy", numbers.percent, unit="%"),
    Column("auc", "AUC", _three_decimals),
    Column("log_loss", "Log loss", _three_decimals, "ascending"),
    Column("difference", "To the best", numbers.points, unit="points"),
    Column("p_corrected", "p corrected", numbers.p_value, unit="Holm"),
    Column("p_paired", "p paired", numbers.p_value),
    Column("seconds", "Fit", numbers.seconds, "ascending", "s"),
    Column("memory", "Rise of memory", numbers.memory, "ascending", "MB, peak"),
)
DATASETS = (
    Column("rank", "Rank", _two_decimals, "ascending"),
    *SPLITS[:4],
    Column("p_worse", "Worse", _two_decimals, "ascending", "chance"),
    Column("p_equivalent", "Same", _two_decimals, unit="chance"),
    Column("p_better", "Better", _two_decimals, unit="chance"),
    SPLITS[-2],
)
MARKED = ("rank", "accuracy", "balanced_accuracy", "auc", "log_loss")
"""Columns whose best number is marked."""
NOT_IN_NOTEBOOK = ("log_loss", "p_equivalent", "p_better", "p_paired", "memory")


def methods_table(methods: pd.DataFrame, caption: str, note: str) -> Table:
    """Return the table of methods, on one data set or over several, whose rows can be sorted."""
    columns = DATASETS if "rank" in methods else SPLITS
    heads = [Head("Method", first="ascending"), Head("Kind", first="ascending")]
    heads += [Head(c.head, c.unit, c.order, c is columns[0]) for c in columns]
    best = {column: column.best(methods) for column in columns}
    rows: list[list[Cell]] = []
    styles: list[str] = []
    for row in methods.to_dict("records"):
        name = Cell(row["method"], _failure(row), row["method"])
        cells = [name, Cell(KINDS[row["kind"]], style="kind")]
        for column in columns:
            value, small = row[column.key], ""
            if column.key == "accuracy" and not math.isnan(row.get("low", math.nan)):
                small = f"{numbers.percent(row['low'])} to {numbers.percent(row['high'])}"
            is_best = column.written(value) == best[column]
            cells.append(number_cell(value, column.text(row), is_best, small))
        rows.append(cells)
        is_first = not styles and not math.isnan(row["accuracy"])
        styles.append(row["kind"].replace(" ", "-") + (" best" if is_first else ""))
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
    columns = [c for c in (DATASETS if "rank" in table else SPLITS) if c.key not in NOT_IN_NOTEBOOK]
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
