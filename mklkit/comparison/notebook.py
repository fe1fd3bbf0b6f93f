"""What a notebook shows of a comparison: the columns of its table that fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mklkit.comparison.report.tables import KINDS
from mklkit.display import numbers
from mklkit.display.html import grid, notes, shown
from mklkit.errors import counted, cut

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

__all__ = ["comparison_html"]


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML: the line of its ``repr``, the table and the verdict."""
    if not comparison.cells:
        return shown(repr(comparison))
    table = comparison.table()
    several = "rank" in table
    heads = ["method", "kind", "accuracy %", "balanced", "AUC"]
    heads += ["rank", "worse than the first"] if several else ["to the best", "p corrected"]
    records = table.to_dict("records")
    best = next((place for place, row in enumerate(records) if row["failures"] == 0), None)
    rows = [_row(row, several) for row in records]
    failures = [
        f"{row['method']} failed on {row['failures']} of {counted(row['splits'], 'split')}:"
        f" {cut(str(row['reason']), 200)}"
        for row in records
        if row["failures"]
    ]
    return shown(
        repr(comparison),
        grid([*heads, "fit s"], rows, words=2, best=best),
        comparison.verdict,
        *failures,
        notes("Notes", comparison.notes),
    )


def _row(row: Mapping[Any, Any], several: bool) -> list[str]:
    if several:
        last = [numbers.number(row["rank"], 2), numbers.number(row["p_worse"], 2)]
    else:
        last = [numbers.points(row["difference"]), numbers.p_value(row["p_corrected"])]
    deviation = row.get("deviation", math.nan)
    spread = "" if math.isnan(deviation) else f" ± {numbers.percent(deviation)}"
    return [
        row["method"],
        KINDS[row["kind"]],
        numbers.percent(row["accuracy"]) + spread,
        numbers.percent(row["balanced_accuracy"]),
        numbers.number(row["auc"], 3),
        *last,
        numbers.seconds(row["seconds"]),
    ]
