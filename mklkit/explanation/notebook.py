"""What a notebook shows of an explanation: its kernels and columns, and the notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from mklkit.display.html import bar, grid, notes, shown
from mklkit.display.numbers import DASH, number
from mklkit.errors import cut

if TYPE_CHECKING:
    from markupsafe import Markup

    from mklkit.explanation.explanation import Explanation

__all__ = ["explanation_html"]

MOST_ROWS = 20
LONGEST = 60
"""Letters of a name."""


def explanation_html(explanation: Explanation) -> str:
    """Return an explanation as HTML: its ``repr``, what kernels and columns are worth, notes."""
    points = f"points of {explanation.task.score_name} lost"
    parts = [repr(explanation), _kernels(explanation.kernels, points)]
    if not explanation.columns.empty:
        parts.append(_columns(explanation.columns, points))
    about = explanation.notes[["about", "note"]].itertuples(index=False)
    return shown(*parts, notes("Notes", [f"{subject}: {note}" for subject, note in about]))


def _kernels(kernels: pd.DataFrame, points: str) -> Markup:
    largest = float(kernels["weight"].abs().max())
    heads = ["kernel", "weight", "", f"{points} if left out", "if shuffled"]
    heaviest = kernels
    if len(kernels) > MOST_ROWS:
        heaviest = kernels.sort_values("weight", key=abs, ascending=False, kind="stable")
    rows = [
        [
            cut(str(row["kernel"]), LONGEST),
            _spread(row, "weight", 1, 3),
            bar(row["weight"], largest),
            _spread(row, "left_out", 100, 1),
            _spread(row, "shuffled", 100, 1),
        ]
        for row in heaviest.head(MOST_ROWS).to_dict("records")
    ]
    return grid(heads, rows, rest=_rest(len(kernels), "with smaller weights"))


def _columns(columns: pd.DataFrame, points: str) -> Markup:
    largest = float(columns["shuffled"].abs().max())
    rows = [
        [
            cut(str(row["group"]), LONGEST),
            cut(", ".join(map(str, row["kernels"])), LONGEST),
            _spread(row, "shuffled", 100, 1),
            bar(max(row["shuffled"], 0.0), largest),
        ]
        for row in columns.head(MOST_ROWS).to_dict("records")
    ]
    heads = ["columns", "read by", f"{points} if shuffled", ""]
    return grid(heads, rows, words=2, rest=_rest(len(columns), "that matter less"))


def _rest(number_of_rows: int, which: str) -> str:
    more = number_of_rows - MOST_ROWS
    return f"and {more} more {which}" if more > 0 else ""


def _spread(row: Mapping[Any, Any], name: str, scale: int, digits: int) -> str:
    """Return a number with its deviation over folds, a dash where it is not known."""
    value = number(scale * row[name], digits)
    if value == DASH:
        return value
    return f"{value} ± {number(scale * row[f'{name}_std'], digits)}"
