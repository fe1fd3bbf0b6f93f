"""What a notebook shows of a comparison: the columns of its table that fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mklkit.comparison.report.methods_table import KINDS
from mklkit.display import numbers
from mklkit.display.markup import element, joined
from mklkit.display.notebook import grid, notes, shown
from mklkit.errors import counted, cut

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

__all__ = ["comparison_html"]


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML: the line of its ``repr``, the table and the verdict."""
    line = element("p", repr(comparison))
    if not comparison.cells:
        return shown(line)
    table = comparison.table()
    several = "rank" in table
    heads = ["method", "kind", "accuracy %", "balanced", "AUC"]
    heads += ["rank", "worse than the first"] if several else ["to the best", "p corrected"]
    records = table.to_dict("records")
    best = next((place for place, row in enumerate(records) if row["failures"] == 0), None)
    rows = [_row(row, several) for row in records]
    verdict = element("p", comparison.verdict)
    methods = grid([*heads, "fit s"], rows, words=2, best=best)
    return shown(line, methods, verdict, notes("Notes", comparison.notes))


def _row(row: Mapping[Any, Any], several: bool) -> list[object]:
    name: object = row["method"]
    if row["failures"]:
        on = f" failed on {row['failures']} of {counted(row['splits'], 'split')}: "
        name = joined(name, element("span", on, cut(str(row["reason"]), 200), class_="quiet"))
    if several:
        last = [numbers.number(row["rank"], 2), numbers.number(row["p_worse"], 2)]
    else:
        last = [numbers.points(row["difference"]), numbers.p_value(row["p_corrected"])]
    return [
        name,
        KINDS[row["kind"]],
        _accuracy(row),
        numbers.percent(row["balanced_accuracy"]),
        numbers.number(row["auc"], 3),
        *last,
        numbers.seconds(row["seconds"]),
    ]


def _accuracy(row: Mapping[Any, Any]) -> str:
    deviation = row.get("deviation", math.nan)
    mean = numbers.percent(row["accuracy"])
    return mean if math.isnan(deviation) else f"{mean} ± {numbers.percent(deviation)}"
