"""Scores of predicted labels, compared with always predicting the most frequent class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.dummy import DummyClassifier

__all__ = ["score", "score_confusion"]

CHANCE_ERRORS = 2
"""Standard errors above chance that random guessing may reach by luck."""


def score(
    labels: ArrayLike, predictions: ArrayLike, training_labels: ArrayLike | None = None
) -> dict[str, Any]:
    """Return scores of predictions as plain values.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The true classes, at least one.
    predictions : array-like of shape (n,)
        The predicted classes.
    training_labels : array-like of shape (n_training,), optional
        The labels in which the most frequent class is counted; ``labels`` where not given.

    Returns
    -------
    dict
        As returned by ``score_confusion``, for the classes in any of the three arguments.

    Examples
    --------
    >>> found = score(["a", "a", "a", "b"], ["a", "a", "a", "a"])
    >>> found["accuracy"], found["balanced_accuracy"], found["baseline"]
    (0.75, 0.5, 0.75)
    >>> found["confusion"], found["better_than_baseline"]
    ([[3, 0], [1, 0]], False)
    """
    true, answered = np.asarray(labels), np.asarray(predictions)
    training = true if training_labels is None else np.asarray(training_labels)
    classes, codes = np.unique(np.concatenate([true, answered, training]), return_inverse=True)
    # scikit-learn's confusion_matrix warns where there is one class.
    confusion = np.zeros((len(classes), len(classes)), dtype=np.intp)
    np.add.at(confusion, (codes[: len(true)], codes[len(true) : 2 * len(true)]), 1)
    guesser = DummyClassifier(strategy="most_frequent").fit(np.zeros((len(training), 1)), training)
    return score_confusion(
        confusion,
        classes,
        float(guesser.score(np.zeros((len(true), 1)), true)),
    )


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
        class, NaN where a class has no rows; ``confusion``.
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
