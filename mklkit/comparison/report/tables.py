"""Tables of a report: captions, heads and cells, which the page's template writes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import pandas as pd

from mklkit.display import numbers
from mklkit.errors import counted

__all__ = ["KINDS", "Cell", "Head", "Table", "columns_of", "methods_table", "number_cell"]

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
    order: str | None = None


@attrs.frozen
class Cell:
    """A cell: its text or HTML, a smaller line below, what sorts it, and classes of its style."""

    text: object
    small: str = ""
    value: float | str | None = None
    best: bool = False
    style: str = ""
    across: int = 1


@attrs.frozen
class Table:
    """A table whose rows begin with a head; ``styles`` of rows are empty where they are alike."""

    caption: str
    heads: Sequence[Head]
    rows: Sequence[Sequence[Cell]]
    style: str = ""
    note: str = ""
    row_styles: Sequence[str] = ()

    @classmethod
    def of_words(cls, caption: str, heads: Sequence[str], rows: Any, style: str = "words") -> Table:
        """Return a table of texts."""
        cells = [[Cell(text) for text in row] for row in rows]
        return cls(caption, [Head(text) for text in heads], cells, style)


@attrs.frozen
class Column:
    """A column of numbers: its key in the table, its head, and how a number is written.

    ``best`` says which number is marked and comes first when sorted.
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


def _two_decimals(value: float) -> str:
    return numbers.number(value, 2)


def _three_decimals(value: float) -> str:
    return numbers.number(value, 3)


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
MARKED = frozenset({"rank", "accuracy", "balanced_accuracy", "auc", "log_loss"})
"""Columns whose best number is marked."""
ORDERS = {"high": "descending", "low": "ascending"}


def columns_of(methods: pd.DataFrame) -> tuple[Column, ...]:
    """Return the columns of a table of methods, on one data set or over several."""
    return DATASETS if "rank" in methods else SPLITS


def methods_table(methods: pd.DataFrame, caption: str, note: str) -> Table:
    """Return the table of methods, whose rows can be sorted.

    Parameters
    ----------
    methods : pandas.DataFrame
        As :meth:`mklkit.Comparison.table` returns it, of one data set or over several.
    caption, note : str
        The note is written smaller.
    """
    columns = columns_of(methods)
    heads = [Head("Method", first="ascending"), Head("Kind", first="ascending")]
    for column in columns:
        order = ORDERS[column.best]
        heads.append(Head(column.head, column.unit, order, order if column is columns[0] else None))
    best = {column.key: _best(methods[column.key], column) for column in columns}
    records = methods.to_dict("records")
    rows = [_row(record, columns, best) for record in records]
    styles = [record["kind"].replace(" ", "-") for record in records]
    if records and not math.isnan(records[0]["accuracy"]):
        styles[0] += " best"
    return Table(caption, heads, rows, "methods sortable", note, styles)


def number_cell(value: float, text: str, best: str | None = None, small: str = "") -> Cell:
    """Return a cell that is sorted by its number, and marked where its text is the best one."""
    known = None if math.isnan(value) else float(f"{value:.6g}")
    return Cell(text, small, known, known is not None and text == best)


def _best(values: pd.Series, column: Column) -> str | None:
    """Return the best number as it is written, so that equal ones are marked alike."""
    if column.key not in MARKED or not values.notna().any():
        return None
    return column.written(float(values.max() if column.best == "high" else values.min()))


def _row(
    row: Mapping[Any, Any], columns: Sequence[Column], best: Mapping[str, str | None]
) -> list[Cell]:
    failed = math.isnan(row["accuracy"])
    on = "" if failed else f" on {row['failures']} of {counted(row['splits'], 'split')}"
    reason = f"failed{on}: {row['reason']}" if row["failures"] else ""
    name = Cell(row["method"], "" if failed else reason, row["method"], style="name")
    kind = Cell(KINDS[row["kind"]], style="kind", value=KINDS[row["kind"]])
    if failed:
        return [name, kind, Cell(reason, style="failed fault", across=len(columns))]
    cells = []
    for column in columns:
        small = ""
        if column.key == "accuracy" and not math.isnan(row.get("low", math.nan)):
            small = f"{numbers.percent(row['low'])} to {numbers.percent(row['high'])}"
        cell = number_cell(row[column.key], column.text(row), small=small)
        marked = column.written(row[column.key]) == best[column.key]
        cells.append(attrs.evolve(cell, best=marked))
    return [name, kind, *cells]
