"""Numbers of several folds in one row: mean, deviation and interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mklkit.evaluation.paired_tests import corrected_interval

__all__ = ["losses"]


def losses(
    name: str,
    lost: Sequence[dict[str, float]] | None,
    sizes: tuple[float, float],
    endings: Mapping[str, str],
) -> dict[str, float]:
    """Return what was lost as cells of a row, score by score.

    Parameters
    ----------
    name : str
        The name of the first column; the others have an ending.
    lost : sequence of dict, or None
        Per fold the loss of each score; None where it is not known.
    sizes : (float, float)
        The mean number of rows trained on and scored.
    endings : mapping of str to str
        The ending of a column's name, and the score that it is of.
    """
    cells: dict[str, float] = {}
    for ending, score in endings.items():
        values = np.array([np.nan] if not lost else [one[score] for one in lost])
        low, high = corrected_interval(values, *sizes)
        cells[f"{name}{ending}"] = float(values.mean())
        cells[f"{name}{ending}_std"] = (
            float(values.std(ddof=1)) if len(values) > 1 else float(values[0] * 0)
        )
        cells[f"{name}{ending}_low"], cells[f"{name}{ending}_high"] = low, high
    return cells
