"""What a notebook shows of a comparison: the columns of its table that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklkit.comparison.report.tables import KINDS, columns_of
from mklkit.display.html import grid, notes, shown
from mklkit.errors import counted, cut

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison

__all__ = ["comparison_html"]

SHOWN = ("accuracy", "balanced_accuracy", "auc", "rank", "p_worse", "difference", "p_corrected",
         "seconds")  # fmt: skip


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML: the line of its ``repr``, the table and the verdict."""
    if not comparison.cells:
        return shown(repr(comparison))
    table = comparison.table()
    columns = [column for column in columns_of(table) if column.key in SHOWN]
    records = table.to_dict("records")
    rows = [
        [row["method"], KINDS[row["kind"]], *(column.text(row) for column in columns)]
        for row in records
    ]
    failures = [
        f"{row['method']} failed on {row['failures']} of {counted(row['splits'], 'split')}:"
        f" {cut(str(row['reason']), 200)}"
        for row in records
        if row["failures"]
    ]
    heads = ["Method", "Kind", *(f"{column.head} {column.unit}".rstrip() for column in columns)]
    best = next((place for place, row in enumerate(records) if row["failures"] == 0), None)
    return shown(
        repr(comparison),
        grid(heads, rows, words=2, best=best),
        comparison.verdict,
        *failures,
        notes("Notes", comparison.notes),
    )
