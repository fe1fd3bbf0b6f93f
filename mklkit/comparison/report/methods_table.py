"""The table of methods, whose rows can be sorted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pandas as pd

from mklkit.display import numbers
from mklkit.display.markup import Html, breakable, element, joined, table
from mklkit.errors import counted

__all__ = ["KINDS", "methods_table"]

KINDS = {
    "method": "several kernels",
    "one kernel": "one kernel",
    "classifier": "other classifier",
    "baseline": "baseline",
}
"""What the kinds of methods are called in the page."""


@attrs.frozen
class Column:
    """A column of numbers: its key in the table, its head, and how a number is written.

    ``best`` says which number is marked and comes first when sorted.
    """

    key: str
    head: str
    written: Callable[[float], str]
    best: str = "high"
    unit: str | None = None


SPLITS = (
    Column("accuracy", "Accuracy", numbers.percent, unit="%"),
    Column("balanced_accuracy", "Balanced accuracy", numbers.percent, unit="%"),
    Column("auc", "AUC", lambda value: numbers.number(value, 3)),
    Column("log_loss", "Log loss", lambda value: numbers.number(value, 3), "low"),
    Column("difference", "To the best", numbers.points, unit="points"),
    Column("p_corrected", "p corrected", numbers.p_value, unit="Holm"),
    Column("p_paired", "p paired", numbers.p_value),
    Column("seconds", "Fit", numbers.seconds, "low", "s"),
    Column("memory", "Rise of memory", numbers.memory, "low", "MB, peak"),
)
DATASETS = (
    Column("rank", "Rank", lambda value: numbers.number(value, 2), "low"),
    *SPLITS[:4],
    Column("p_worse", "Worse", lambda value: numbers.number(value, 2), "low", "chance"),
    Column("p_equivalent", "Same", lambda value: numbers.number(value, 2), unit="chance"),
    Column("p_better", "Better", lambda value: numbers.number(value, 2), unit="chance"),
    SPLITS[-2],
)
MARKED = frozenset({"rank", "accuracy", "balanced_accuracy", "auc", "log_loss"})
"""Columns whose best number is marked."""


def methods_table(found: pd.DataFrame, caption: object) -> Html:
    """Return the table of methods as HTML.

    Parameters
    ----------
    found : pandas.DataFrame
        As :meth:`mklkit.Comparison.table` returns it, of one data set or over several.
    caption : str or Html
    """
    columns = DATASETS if "rank" in found else SPLITS
    marks = {column.key: _best(found[column.key], column) for column in columns}
    rows = [_row(place, row, columns, marks) for place, row in enumerate(found.to_dict("records"))]
    return table(caption, _head(columns), rows, class_="methods sortable")


def _head(columns: tuple[Column, ...]) -> Html:
    first = columns[0]
    cells = [
        element(
            "th",
            column.head,
            element("small", column.unit) if column.unit else None,
            scope="col",
            data_first="descending" if column.best == "high" else "ascending",
            aria_sort=("descending" if first.best == "high" else "ascending")
            if column is first
            else None,
        )
        for column in columns
    ]
    names = [
        element("th", head, scope="col", data_first="ascending", class_=class_)
        for head, class_ in (("Method", None), ("Kind", "kind"))
    ]
    return element("tr", *names, *cells)


def _best(values: pd.Series, column: Column) -> float:
    """Return the best number as it is written, so that equal ones are marked alike."""
    if column.key not in MARKED or values.notna().sum() == 0:
        return math.nan
    return float(values.max() if column.best == "high" else values.min())


def _row(
    place: int, row: Mapping[Any, Any], columns: tuple[Column, ...], best: dict[str, float]
) -> Html:
    failed = math.isnan(row["accuracy"])
    words = None
    if row["failures"]:
        on = "" if failed else f"on {row['failures']} of {counted(row['splits'], 'split')}"
        words = element("small", f"failed {on}: ".replace(" :", ":"), row["reason"], class_="fault")
    first = place == 0 and not failed
    name = element(
        "th",
        element("span", breakable(row["method"]), class_="name"),
        element("small", "best", class_="badge") if first else None,
        None if failed else words,
        scope="row",
        data_value=row["method"],
    )
    kind = element("td", KINDS[row["kind"]], class_="kind")
    if failed:
        cells = joined(element("td", words, colspan=len(columns), class_="failed"))
    else:
        cells = joined(*(_cell(row, column, best[column.key]) for column in columns))
    classes = f"{row['kind'].replace(' ', '-')}{' best' if first else ''}"
    return element("tr", name, kind, cells, class_=classes)


def _cell(row: Mapping[Any, Any], column: Column, best: float) -> Html:
    value = row[column.key]
    text: Any = column.written(value)
    if not math.isnan(best) and text == column.written(best):
        text = element("strong", text)
    below = None
    if column.key == "accuracy" and not math.isnan(row.get("deviation", math.nan)):
        text = joined(text, f" ± {numbers.percent(row['deviation'])}")
        below = f"{numbers.percent(row['low'])} to {numbers.percent(row['high'])}"
    small = element("small", below) if below and numbers.DASH not in below else None
    return element(
        "td", text, small, data_value=None if math.isnan(value) else float(f"{value:.6g}")
    )
