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
    truth, predictions : ndarray of shape (n,) or (n, T)
        Of several targets, scores are the means over them.
    training : ndarray of shape (N,) or (N, T), optional
        The targets of the training rows; those scored where not given.

    Returns
    -------
    dict
        ``rows``, ``r2`` (None where all numbers of a target are the same), ``mean_absolute_error``,
        ``baseline`` and ``better_than_baseline``.

    Examples
    --------
    >>> found = score_numbers(np.array([1.0, 2.0, 6.0]), np.array([1.0, 3.0, 5.0]))
    >>> round(found["r2"], 3), round(found["mean_absolute_error"], 3), round(found["baseline"], 3)
    (0.857, 0.667, 1.667)
    """
    total = np.square(truth - truth.mean(axis=0)).sum(axis=0)
    left = np.square(truth - predictions).sum(axis=0)
    error = float(np.abs(truth - predictions).mean())
    median = np.median(truth if training is None else training, axis=0)
    baseline = float(np.abs(truth - median).mean())
    return {
        "rows": len(truth),
        "r2": float(np.mean(1 - left / total)) if np.all(total > 0) else None,
        "mean_absolute_error": error,
        "baseline": baseline,
        "better_than_baseline": error < baseline,
    }
