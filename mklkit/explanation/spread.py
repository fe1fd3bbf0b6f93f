"""Numbers of several folds in one row: mean, deviation and interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklkit.protocols import Array

__all__ = ["BOUNDS", "SCORES", "interval", "losses"]

SCORES = {"": "accuracy", "_balanced": "balanced_accuracy"}
"""The ending of a column's name, and the score that it is of."""

BOUNDS = "one deviation over folds"
"""What :func:`interval` adds to a mean, in words."""


def interval(values: Array, n_train: float, n_test: float) -> tuple[float, float]:
    """Return mean minus and plus deviation of a number over folds (F,).

    Parameters
    ----------
    values : ndarray of shape (F,)
    n_train, n_test : float
        The mean number of rows that are trained on and scored, per fold.
    """
    mean = float(np.mean(values))
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return mean - deviation, mean + deviation


def losses(
    name: str, lost: Sequence[dict[str, float]] | None, sizes: tuple[float, float]
) -> dict[str, float]:
    """Return what was lost as cells of a row: of accuracy, then of balanced accuracy.

    Parameters
    ----------
    name : str
        The name of the first column; the others have an ending.
    lost : sequence of dict, or None
        Per fold the loss of ``accuracy`` and ``balanced_accuracy``; None where it is not known.
    sizes : (float, float)
        The mean number of rows trained on and scored.
    """
    cells: dict[str, float] = {}
    for ending, score in SCORES.items():
        values = np.array([np.nan] if not lost else [one[score] for one in lost])
        low, high = interval(values, *sizes)
        cells[f"{name}{ending}"] = float(values.mean())
        cells[f"{name}{ending}_std"] = (
            float(values.std(ddof=1)) if len(values) > 1 else float(values[0] * 0)
        )
        cells[f"{name}{ending}_low"], cells[f"{name}{ending}_high"] = low, high
    return cells
