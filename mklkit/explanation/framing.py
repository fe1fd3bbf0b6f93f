"""From the results of folds to the tables of an explanation."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.explanation.meaning import joins_decisions
from mklkit.explanation.measuring import FoldResult, Lost
from mklkit.explanation.shuffling import ShufflePlan
from mklkit.explanation.spread import losses
from mklkit.explanation.tasks import ScoredTask
from mklkit.protocols import Array

__all__ = ["Measured"]


@attrs.frozen(eq=False)
class Measured:
    """What was measured, and on what.

    Attributes
    ----------
    model : KernelModel
        The fitted one that is explained.
    task : ScoredTask
    names : list of str
        The user's columns.
    plan : ShufflePlan
    folds : list of FoldResult
    sizes : ndarray of shape (M,)
        The mean of k(x, x) per kernel.
    reasons : dict of int to str
        Why a kernel can't be left out.
    """

    model: Any
    task: ScoredTask
    names: list[str]
    plan: ShufflePlan
    folds: list[FoldResult]
    sizes: Array
    reasons: dict[int, str]

    @property
    def labels(self) -> list[str]:
        """The kernels' names."""
        return list(self.model.kernel_names_)

    def kernels(self) -> pd.DataFrame:
        """Return one row per kernel."""
        weights = np.array([fold.weights for fold in self.folds])
        spread = np.array([fold.row_spread for fold in self.folds]).mean(axis=0)
        deviation = weights.std(axis=0, ddof=1) if len(weights) > 1 else np.zeros(len(spread))
        sized = weights.mean(axis=0) * self.sizes
        if joins_decisions(self.model) or sized.sum() <= 0:
            sized = np.full(len(sized), np.nan)
        rows = []
        for place, name in enumerate(self.labels):
            read = self.plan.by_kernel[place]
            key = self.plan.of_kernels[place]
            rows.append(
                {
                    "kernel": name,
                    "columns": None if read is None else [self.names[one] for one in read],
                    "weight": weights[:, place].mean(),
                    "weight_std": deviation[place],
                    "weight_min": weights[:, place].min(),
                    "weight_max": weights[:, place].max(),
                    "row_spread": spread[place],
                    "size": self.sizes[place],
                    "sized_weight": sized[place] / sized.sum(),
                    **self._losses("left_out", self._left_out(place)),
                    "why_not": self.reasons.get(place, ""),
                    **self._losses("shuffled", self._shuffled(key)),
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
                **self._losses("shuffled", self._shuffled(group.columns)),
            }
            for group in self.plan.groups
        ]
        empty = ["group", "columns", "kernels", *self._losses("shuffled", None)]
        frame = pd.DataFrame(rows, columns=None if rows else empty)
        return frame.sort_values("shuffled", ascending=False, kind="stable", ignore_index=True)

    def scores(self) -> pd.DataFrame:
        """Return one row per fold."""
        rows = [
            {"fold": number, "training_rows": fold.training_rows}
            | {name: fold.score[name] for name in ("rows", *self.task.scores)}
            for number, fold in enumerate(self.folds)
        ]
        return pd.DataFrame(rows)

    def weights(self) -> pd.DataFrame:
        """Return the weight of each kernel in each fold."""
        rows = [
            (number, name, weight)
            for number, fold in enumerate(self.folds)
            for name, weight in zip(self.labels, fold.weights, strict=True)
        ]
        return pd.DataFrame(rows, columns=["fold", "kernel", "weight"])

    def _losses(self, name: str, lost: list[Lost] | None) -> dict[str, float]:
        train = float(np.mean([fold.training_rows for fold in self.folds]))
        scored = float(np.mean([fold.score["rows"] for fold in self.folds]))
        return losses(name, lost, (train, scored), self.task.endings)

    def _left_out(self, place: int) -> list[Lost] | None:
        known = place not in self.reasons
        return [fold.left_out[place] for fold in self.folds] if known else None

    def _shuffled(self, key: tuple[int, ...] | None) -> list[Lost] | None:
        return None if key is None else [fold.shuffled[key] for fold in self.folds]
