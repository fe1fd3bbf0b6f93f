"""Scores of predicted numbers, beside always predicting the median."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NUMBER_SCORES", "score_numbers"]

NUMBER_SCORES = {
    "r2": "R²",
    "mean_absolute_error": "mean absolute error",
    "baseline": "always the median",
}
"""The scores and what they are called; the last is the error of the training rows' median."""


def score_numbers(
    truth: NDArray[Any], predictions: NDArray[Any], training: NDArray[Any] | None = None
) -> dict[str, Any]:
    """Return R², the mean absolute error, and that of the median of the training rows.

    Parameters
    ----------
    truth, predictions : ndarray of shape (n,)
    training : ndarray of shape (N,), optional
        The targets of the training rows; those scored where not given.

    Returns
    -------
    dict
        ``rows``, ``r2`` (None where all numbers are the same), ``mean_absolute_error``,
        ``baseline`` and ``better_than_baseline``.

    Examples
    --------
    >>> found = score_numbers(np.array([1.0, 2.0, 6.0]), np.array([1.0, 3.0, 5.0]))
    >>> round(found["r2"], 3), round(found["mean_absolute_error"], 3), round(found["baseline"], 3)
    (0.857, 0.667, 1.667)
    """
    total = float(np.square(truth - truth.mean()).sum())
    left = float(np.square(truth - predictions).sum())
    error = float(np.abs(truth - predictions).mean())
    median = float(np.median(truth if training is None else training))
    baseline = float(np.abs(truth - median).mean())
    return {
        "rows": len(truth),
        "r2": 1 - left / total if total > 0 else None,
        "mean_absolute_error": error,
        "baseline": baseline,
        "better_than_baseline": error < baseline,
    }
