"""Explanation: the tables and sentences on what the kernels and columns of a model are worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from mklkit.display.html import bar, grid, notes, shown
from mklkit.display.numbers import DASH, number
from mklkit.errors import counted, cut
from mklkit.evaluation.tasks import Task
from mklkit.persistence.facts import json_ready
from mklkit.plotting.worth import KernelWorthDisplay

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

MOST_ROWS = 20
"""Of a table in a notebook."""
LONGEST = 60
"""Letters of a name there."""


@attrs.frozen(eq=False)
class Explanation:
    """Which kernels and columns matter to a model, as :func:`mklkit.explain` finds.

    What is lost is a difference of accuracies or, of a model of numbers, of R²: 0.02 is two points.
    Endings of columns: ``_balanced`` is of balanced accuracy (classes only), ``_std`` the deviation
    over folds, ``_low`` and ``_high`` the interval.

    Attributes
    ----------
    kernels : DataFrame
        One row per kernel: ``kernel``; ``columns``, the user's columns that it reads; ``weight``
        with ``weight_std``, ``weight_min`` and ``weight_max`` over folds; ``row_spread``, the
        deviation over rows where each row has its own weights; ``size``, the mean of k(x, x), and
        ``sized_weight``, weight × size with sum 1 (NaN where weights are those of decision values);
        ``left_out``, what is lost in fits without the kernel, and ``why_not``, the reason where it
        can't be left out; ``shuffled``, what is lost when its columns are shuffled for all kernels.
    columns : DataFrame
        One row per column or group: ``group``, ``columns``, ``kernels`` that read them, and
        ``shuffled``.
    alignment : DataFrame of shape (M, M)
        The centred alignment of each pair of kernels.
    scores : DataFrame
        One row per fold: ``training_rows``, ``rows``, ``accuracy``, ``balanced_accuracy``, and
        ``baseline``, the accuracy of the most frequent class; of numbers ``r2``,
        ``mean_absolute_error``, and ``baseline``, the error of the training rows' median.
    weights : DataFrame
        Tidy: ``fold``, ``kernel``, ``weight``.
    notes : DataFrame
        ``about`` (``"rows"``, ``"weights"``, ``"left out"``, ``"shuffled"``, ``"alike"``) and
        ``note``, one sentence each: how it was done, and what a number does not say.
        :meth:`text` has them whole, as pandas cuts long cells.
    task : Task
        How rows were scored: ``task.score_name`` is ``"accuracy"`` or ``"R²"``.
    n_fits : int
        The number of fits.
    seconds : float
    """

    kernels: pd.DataFrame
    columns: pd.DataFrame
    alignment: pd.DataFrame
    scores: pd.DataFrame
    weights: pd.DataFrame
    notes: pd.DataFrame
    task: Task
    n_fits: int
    seconds: float

    def __repr__(self) -> str:
        """Return one line."""
        kernels, folds = counted(len(self.kernels), "kernel"), counted(len(self.scores), "fold")
        score = next(iter(self.task.scores))
        mean = self.task.shown(score, self.scores[score].mean())
        return f"Explanation({kernels}, {folds}: {self.task.score_name} {mean})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the line, the kernels, the columns, and the notes."""
        points = f"points of {self.task.score_name} lost"
        parts = [repr(self), _kernels(self.kernels, points)]
        if not self.columns.empty:
            parts.append(_columns(self.columns, points))
        return shown(*parts, notes("Notes", self.text().splitlines()))

    def summary(self) -> str:
        """Return the mean scores of the folds, and the unit of what is lost."""
        means = self.scores[list(self.task.scores)].mean()
        first, second, third = (self.task.shown(name, means[name]) for name in self.task.scores)
        _, error, guess = self.task.scores.values()
        # Of a score that is written in per cent it is clear.
        point = "" if first.endswith("%") else ": 1 point is 0.01"
        return (
            f"{first}, {error} {second}, {guess} {third}; what is lost is in points of"
            f" {self.task.score_name}{point}"
        )

    def text(self) -> str:
        """Return the notes in whole sentences, one per line: ``left out: these 5 folds …``."""
        pairs = zip(self.notes["about"], self.notes["note"], strict=True)
        return "\n".join(f"{about}: {note}" for about, note in pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, text and numbers, ready for ``json.dumps``.

        Numbers that are not known become None.
        """
        plain = attrs.asdict(self, recurse=False, filter=attrs.filters.exclude("task"))
        for name, table in plain.items():
            if isinstance(table, pd.DataFrame):
                plain[name] = table.to_dict("records")
        plain["alignment"] = {
            "kernels": list(self.alignment.index),
            "values": self.alignment.to_numpy().tolist(),
        }
        return dict(json_ready({"score": self.task.score_name, **plain}))

    def plot(self, axes: tuple[Axes, Axes] | None = None) -> KernelWorthDisplay:
        """Draw weights with their spread beside what is lost when a kernel is left out."""
        return KernelWorthDisplay(self.kernels, self.task.score_name).plot(axes)


def _kernels(kernels: pd.DataFrame, points: str) -> Markup:
    largest = float(kernels["weight"].abs().max())
    if len(kernels) > MOST_ROWS:
        kernels = kernels.sort_values("weight", key=abs, ascending=False, kind="stable")
    rows = [
        [
            cut(str(row["kernel"]), LONGEST),
            _spread(row, "weight", 1, 3),
            bar(row["weight"], largest),
            _spread(row, "left_out", 100, 1),
            _spread(row, "shuffled", 100, 1),
        ]
        for row in kernels.to_dict("records")
    ]
    heads = ["kernel", "weight", "", f"{points} if left out", "if shuffled"]
    return _cut_grid(heads, rows, "with smaller weights")


def _columns(columns: pd.DataFrame, points: str) -> Markup:
    largest = float(columns["shuffled"].abs().max())
    rows = [
        [
            cut(str(row["group"]), LONGEST),
            cut(", ".join(map(str, row["kernels"])), LONGEST),
            _spread(row, "shuffled", 100, 1),
            bar(max(row["shuffled"], 0.0), largest),
        ]
        for row in columns.to_dict("records")
    ]
    heads = ["columns", "read by", f"{points} if shuffled", ""]
    return _cut_grid(heads, rows, "that matter less", words=2)


def _cut_grid(heads: list[str], rows: list[list[str]], which: str, words: int = 1) -> Markup:
    more = len(rows) - MOST_ROWS
    rest = f"and {more} more {which}" if more > 0 else ""
    return grid(heads, rows[:MOST_ROWS], words=words, rest=rest)


def _spread(row: Mapping[Any, Any], name: str, scale: int, digits: int) -> str:
    """Return a number with its deviation over folds, a dash where it is not known."""
    value = number(scale * row[name], digits)
    if value == DASH:
        return value
    return f"{value} ± {number(scale * row[f'{name}_std'], digits)}"
