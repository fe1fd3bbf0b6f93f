"""Scores of predicted numbers, and the baseline without features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import mean_absolute_error

from mklkit.evaluation.pooled_r2 import r2_of_split, target_variance
from mklkit.protocols import Array
from mklkit.protocols.score import Answers, Score, of_labels, values_of


def determination(answers: Answers) -> float:
    """Return R², NaN if all numbers of a target are the same."""
    variance = answers.variance
    assert variance is not None
    return r2_of_split(answers.truth, answers.predictions, variance)


R2 = Score("r2", determination, words="R²", high=1, counts="")
ABSOLUTE_ERROR = Score(
    "neg_mean_absolute_error",
    of_labels(mean_absolute_error),
    unit="error",
    low=0,
    counts="",
    short="MAE",
)
BASELINE = Score(
    "baseline", lambda a: a.baseline, words="always the median", unit="error", ranks=False
)
NUMBER_SCORES = (
    R2,
    ABSOLUTE_ERROR,
    BASELINE,
    *(Score(name, counts="") for name in ("explained_variance", "d2_absolute_error_score")),
    *(
        Score(f"neg_{name}", unit="error", counts="")
        for name in (
            "median_absolute_error",
            "mean_squared_error",
            "root_mean_squared_error",
            "mean_absolute_percentage_error",
            "max_error",
        )
    ),
)
"""The scores of numbers; a new one is one entry here."""


def score_numbers(
    truth: NDArray[Any],
    predictions: NDArray[Any],
    training: NDArray[Any] | None = None,
    counts: ArrayLike | None = None,
    variance: Array | None = None,
) -> dict[str, Any]:
    """Return R², the mean absolute error, and that of the median of the training samples.

    For several targets, scores are means over them. ``r2`` is None if all numbers of a target are
    the same; ``counts`` tells how many samples each pair stands for. One of several splits has the
    ``variance`` of :class:`mklkit.evaluation.pooled_r2.HeldOut` for its R².
    """
    if counts is not None:
        times = np.asarray(counts)
        truth, predictions = (np.repeat(numbers, times, axis=0) for numbers in (truth, predictions))
    truth, predictions = np.asarray(truth), np.asarray(predictions)
    if variance is None:
        variance = target_variance(truth.astype(float))
    median = np.median(truth if training is None else training, axis=0)
    baseline = float(np.abs(truth - median).mean())
    answers = Answers(truth, predictions, training=training, baseline=baseline, variance=variance)
    known = values_of(answers, NUMBER_SCORES)
    values = {key: None if np.isnan(value) else value for key, value in known.items()}
    error = values[ABSOLUTE_ERROR.key]
    better = error is not None and error < baseline
    return {"rows": len(truth), **values, "better_than_baseline": better}
