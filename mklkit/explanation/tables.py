"""From the results of folds to the tables of an explanation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.evaluation.paired_tests import corrected_interval
from mklkit.evaluation.tasks import Task
from mklkit.explanation.columns import Places, ShufflePlan
from mklkit.explanation.measuring import FoldResult, Lost
from mklkit.protocols import Array

__all__ = ["FoldTables"]


@attrs.frozen(eq=False)
class FoldTables:
    """What was measured of the kernels and columns on folds, as tables.

    Attributes
    ----------
    labels : list of M str
        The names of the kernels.
    names : list of str
        The user's columns.
    task : Task
    plan : ShufflePlan
    folds : list of FoldResult
    """

    labels: list[str]
    names: list[str]
    task: Task
    plan: ShufflePlan
    folds: list[FoldResult]

    def kernels(self, sizes: Array, comparable: bool, reasons: dict[int, str]) -> pd.DataFrame:
        """Return one row per kernel.

        Parameters
        ----------
        sizes : ndarray of shape (M,)
            The mean of k(x, x) per kernel.
        comparable : bool
            Whether weight × size compares them.
        reasons : dict of int to str
            Why a kernel can't be left out.
        """
        weights = np.array([fold.weights for fold in self.folds])
        spread = np.array([fold.row_spread for fold in self.folds]).mean(axis=0)
        deviation = weights.std(axis=0, ddof=1) if len(weights) > 1 else np.zeros(len(spread))
        sized = weights.mean(axis=0) * sizes
        if not comparable or sized.sum() <= 0:
            sized = np.full(len(sized), np.nan)
        rows = []
        for kernel, name in enumerate(self.labels):
            columns = self.plan.by_kernel[kernel]
            rows.append(
                {
                    "kernel": name,
                    "columns": None if columns is None else [self.names[c] for c in columns],
                    "weight": weights[:, kernel].mean(),
                    "weight_std": deviation[kernel],
                    "weight_min": weights[:, kernel].min(),
                    "weight_max": weights[:, kernel].max(),
                    "row_spread": spread[kernel],
                    "size": sizes[kernel],
                    "sized_weight": sized[kernel] / sized.sum(),
                    **self._left_out(kernel, kernel not in reasons),
                    "why_not": reasons.get(kernel, ""),
                    **self._shuffled(self.plan.of_kernel(kernel)),
                }
            )
        return pd.DataFrame(rows)

    def columns(self) -> pd.DataFrame:
        """Return one row per group of columns, the dearest first."""
        rows = [
            {
                "group": group.name,
                "columns": [self.names[place] for place in group.columns],
                "kernels": list(group.kernels),
                **self._shuffled(group.columns),
            }
            for group in self.plan.groups
        ]
        heads = ["group", "columns", "kernels", *self._shuffled(None)]
        frame = pd.DataFrame(rows, columns=heads)
        return frame.sort_values("shuffled", ascending=False, kind="stable", ignore_index=True)

    def scores(self) -> pd.DataFrame:
        """Return one row per fold."""
        shown = ("rows", *self.task.scores)
        return pd.DataFrame(
            {"fold": number, "training_rows": fold.training_rows}
            | {name: fold.score[name] for name in shown}
            for number, fold in enumerate(self.folds)
        )

    def weights(self) -> pd.DataFrame:
        """Return the weight of each kernel in each fold."""
        weights = pd.DataFrame([fold.weights for fold in self.folds], columns=self.labels)
        tidy = weights.rename_axis("fold").reset_index()
        tidy = tidy.melt("fold", var_name="kernel", value_name="weight")
        return tidy.sort_values("fold", kind="stable", ignore_index=True)

    def _left_out(self, kernel: int, is_known: bool) -> dict[str, float]:
        return self._losses("left_out", is_known, lambda fold: fold.left_out[kernel])

    def _shuffled(self, places: Places | None) -> dict[str, float]:
        return self._losses(
            "shuffled", places is not None, lambda fold: fold.shuffled[places or ()]
        )

    def _losses(
        self, name: str, is_known: bool, lost: Callable[[FoldResult], Lost]
    ) -> dict[str, float]:
        """Return mean, deviation and interval over folds of what is lost of each score."""
        trained = float(np.mean([fold.training_rows for fold in self.folds]))
        scored = float(np.mean([fold.score["rows"] for fold in self.folds]))
        cells: dict[str, Any] = {}
        for ending, score in self.task.losses.items():
            values = np.array([lost(fold)[score] for fold in self.folds] if is_known else [np.nan])
            low, high = corrected_interval(values, trained, scored)
            alone = 0.0 if is_known else np.nan
            spread = {
                "": values.mean(),
                "_std": values.std(ddof=1) if len(values) > 1 else alone,
                "_low": low,
                "_high": high,
            }
            cells |= {f"{name}{ending}{part}": float(value) for part, value in spread.items()}
        return cells
