"""Scores of predicted classes, probabilities and numbers, and baselines without features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import log_loss, mean_absolute_error, roc_auc_score

from mklkit.evaluation.pooled_r2 import r2_of_split, target_variance
from mklkit.protocols import Array

CHANCE_ERRORS = 2
"""The standard errors above chance that guessing may reach by luck."""
CALIBRATION_BINS = 10
"""Bins of equal width in which probabilities are compared with frequencies."""


def score(
    labels: ArrayLike,
    predictions: ArrayLike,
    training_labels: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> dict[str, Any]:
    """Return scores of predicted classes as plain values.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The true classes, at least one.
    predictions : array-like of shape (n,)
        The predicted classes.
    training_labels : array-like of shape (n_training,), optional
        The labels that determine the most frequent class; by default ``labels``.
    counts : array-like of shape (n,), optional
        How many rows each pair of a label and a prediction stands for; one by default.

    Returns
    -------
    dict
        As returned by ``score_confusion``, for the classes in any of the three arguments.

    Examples
    --------
    >>> scores = score(["a", "a", "a", "b"], ["a", "a", "a", "a"])
    >>> scores["accuracy"], scores["balanced_accuracy"], scores["baseline"]
    (0.75, 0.5, 0.75)
    >>> scores["confusion"], scores["better_than_baseline"]
    ([[3, 0], [1, 0]], False)
    """
    truth, guesses = np.asarray(labels), np.asarray(predictions)
    training = truth[:0] if training_labels is None else np.asarray(training_labels)
    classes, codes = np.unique(np.concatenate([truth, guesses, training]), return_inverse=True)
    # scikit-learn's confusion_matrix warns if there is one class.
    confusion = np.zeros((len(classes), len(classes)), dtype=np.intp)
    pairs = codes[: len(truth)], codes[len(truth) : 2 * len(truth)]
    np.add.at(confusion, pairs, 1 if counts is None else np.asarray(counts))
    rows = confusion.sum(axis=1)
    trained = rows
    if training_labels is not None:
        trained = np.bincount(codes[2 * len(truth) :], minlength=len(classes))
    return score_confusion(confusion, classes, float(rows[trained.argmax()] / rows.sum()))


def score_confusion(
    confusion: NDArray[np.integer[Any]], classes: ArrayLike, baseline: float
) -> dict[str, Any]:
    """Return the scores of a confusion matrix, which may be a sum of several.

    Parameters
    ----------
    confusion : ndarray of shape (n_classes, n_classes)
        Counts of rows by true class and predicted class.
    classes : array-like of shape (n_classes,)
    baseline : float
        The accuracy of always predicting the most frequent class of the training rows.

    Returns
    -------
    dict
        ``rows``; ``accuracy``; ``balanced_accuracy``, the mean recall of the classes that have
        rows; ``baseline``; ``better_than_baseline``, whether the accuracy is above the baseline or
        the balanced accuracy above what guessing reaches by luck; ``classes``; ``recall``, one per
        class, NaN if a class has no rows; ``confusion``.
    """
    counts = confusion.sum(axis=1)
    present = counts > 0
    recall = np.full(len(confusion), np.nan)
    recall[present] = confusion.diagonal()[present] / counts[present]
    accuracy = float(confusion.trace() / counts.sum())
    balanced = float(recall[present].mean())
    return {
        "rows": int(counts.sum()),
        "accuracy": accuracy,
        "balanced_accuracy": balanced,
        "baseline": baseline,
        "better_than_baseline": accuracy == 1
        or accuracy > baseline
        or balanced > _lucky_guessing(counts[present]),
        "classes": np.asarray(classes).tolist(),
        "recall": recall.tolist(),
        "confusion": confusion.tolist(),
    }


def _lucky_guessing(counts: NDArray[np.integer[Any]]) -> float:
    """Return the balanced accuracy of random guessing, plus two standard errors.

    A uniform guess is right with probability 1/C in each class; the mean of the C recalls has the
    variance Σ (1/C)(1 - 1/C)/n_c over C².
    """
    share = 1 / len(counts)
    variance = share**3 * (1 - share) * float((1 / counts).sum())
    return share + CHANCE_ERRORS * variance**0.5


def response(model: Any, method: str, rows: Any) -> Array | None:
    """Return the result of a fitted model's method on rows; None if it has no such method.

    scikit-learn's classifiers show what they can do by the presence of a method, sometimes only
    with certain parameters, so the class alone does not tell.
    """
    call = getattr(model, method, None)
    return None if call is None else np.asarray(call(rows))


def area_under_curve(labels: NDArray[Any], classes: NDArray[Any], values: Array) -> float:
    """Return the area under the ROC curve; for several classes, the mean of one against the rest.

    Classes without test rows are left out of the mean; NaN if none is left.
    """
    columns = [(classes[1], values)] if values.ndim == 1 else zip(classes, values.T, strict=True)
    areas = [
        float(roc_auc_score(labels == label, column))
        for label, column in columns
        if 0 < np.count_nonzero(labels == label) < len(labels)
    ]
    return float(np.mean(areas)) if areas else float("nan")


def score_probabilities(
    labels: NDArray[Any], classes: NDArray[Any], probabilities: Array
) -> dict[str, Any]:
    """Return ``log_loss`` and ``calibration``: rows, their sum of probabilities and hits per bin.

    For two classes it is the probability of the second; for several, that of the likeliest.
    """
    codes = np.searchsorted(classes, labels)
    likely = np.ones(len(labels), int) if len(classes) == 2 else probabilities.argmax(axis=1)
    predicted, happened = probabilities[np.arange(len(labels)), likely], codes == likely
    last = CALIBRATION_BINS - 1
    bins = np.minimum((predicted * CALIBRATION_BINS).astype(int), last)
    return {
        "log_loss": float(log_loss(codes, probabilities, labels=range(len(classes)))),
        "calibration": {
            "rows": np.bincount(bins, minlength=CALIBRATION_BINS).tolist(),
            "probability": np.bincount(bins, predicted, CALIBRATION_BINS).tolist(),
            "hits": np.bincount(bins[happened], minlength=CALIBRATION_BINS).tolist(),
        },
    }


def score_numbers(
    truth: NDArray[Any],
    predictions: NDArray[Any],
    training: NDArray[Any] | None = None,
    counts: ArrayLike | None = None,
    variance: Array | None = None,
) -> dict[str, Any]:
    """Return R², the mean absolute error, and that of the median of the training rows.

    For several targets, scores are means over them. ``r2`` is None if all numbers of a target are
    the same; ``counts`` tells how many rows each pair stands for. One of several splits has the
    ``variance`` of :class:`mklkit.evaluation.pooled_r2.HeldOut` for its R².
    """
    if counts is not None:
        times = np.asarray(counts)
        truth, predictions = (np.repeat(numbers, times, axis=0) for numbers in (truth, predictions))
    if variance is None:
        variance = target_variance(np.asarray(truth, dtype=float))
    r2 = r2_of_split(truth, predictions, variance)
    error = float(mean_absolute_error(truth, predictions))
    median = np.median(truth if training is None else training, axis=0)
    baseline = float(np.abs(truth - median).mean())
    return {
        "rows": len(truth),
        "r2": None if np.isnan(r2) else r2,
        "mean_absolute_error": error,
        "baseline": baseline,
        "better_than_baseline": error < baseline,
    }
