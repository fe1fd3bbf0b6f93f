"""Explanation: the tables and sentences on what the kernels and columns of a model are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from mklkit.errors import counted
from mklkit.explanation.notebook import explanation_html
from mklkit.explanation.tasks import ScoredTask
from mklkit.persistence.facts import json_ready
from mklkit.plotting.worth import KernelWorthDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Explanation"]


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
    task : ScoredTask
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
    task: ScoredTask
    n_fits: int
    seconds: float

    def __repr__(self) -> str:
        """Return one line."""
        kernels, folds = counted(len(self.kernels), "kernel"), counted(len(self.scores), "fold")
        return f"Explanation({kernels}, {folds}: {self.task.in_short(self.scores)})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the line, the kernels, the columns, and the notes."""
        return explanation_html(self)

    def text(self) -> str:
        """Return the notes in whole sentences, one per line: ``left out: these 5 folds …``."""
        pairs = zip(self.notes["about"], self.notes["note"], strict=True)
        return "\n".join(f"{about}: {note}" for about, note in pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, text and numbers, ready for ``json.dumps``.

        Numbers that are not known become None.
        """
        frames = {
            name: getattr(self, name).to_dict("records")
            for name in ("kernels", "columns", "scores", "weights", "notes")
        }
        alignment = {
            "kernels": list(self.alignment.index),
            "values": self.alignment.to_numpy().tolist(),
        }
        plain: dict[str, Any] = json_ready(
            {
                "score": self.task.score_name,
                **frames,
                "alignment": alignment,
                "n_fits": self.n_fits,
                "seconds": self.seconds,
            }
        )
        return plain

    def plot(self, axes: tuple[Axes, Axes] | None = None) -> KernelWorthDisplay:
        """Draw weights with their spread beside what is lost when a kernel is left out."""
        return KernelWorthDisplay(self.kernels, self.task.score_name).plot(axes)
