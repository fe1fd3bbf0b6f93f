"""Scores of predicted labels, beside those of always answering the commonest class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.dummy import DummyClassifier

__all__ = ["score", "score_confusion"]

CHANCE_ERRORS = 2
"""Standard errors by which guessing is given the benefit of luck."""


def score(
    labels: ArrayLike, predictions: ArrayLike, training_labels: ArrayLike | None = None
) -> dict[str, Any]:
    """Return how good predictions are, as plain values.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The true classes, at least one.
    predictions : array-like of shape (n,)
        The classes that were answered.
    training_labels : array-like of shape (n_training,), optional
        What the commonest class is counted in; ``labels`` where not given.

    Returns
    -------
    dict
        As ``score_confusion`` returns it, for the classes in any of the three.

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
    """Return the scores that a confusion matrix holds, which may be a sum of several.

    Parameters
    ----------
    confusion : ndarray of shape (n_classes, n_classes)
        Rows counted by true class, then by the class that was answered.
    classes : array-like of shape (n_classes,)
    baseline : float
        The accuracy of always answering the commonest class of the training rows.

    Returns
    -------
    dict
        ``rows``; ``accuracy``; ``balanced_accuracy``, the mean recall of the classes that have
        rows; ``baseline``; ``better_than_baseline``, whether the accuracy is above the baseline or
        the balanced accuracy above what guessing reaches with luck; ``classes``; ``recall``, one a
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
    """Return the balanced accuracy of a guesser who is two standard errors lucky.

    One with an even choice has each class right with probability 1/C; the mean of the C shares
    varies by Σ (1/C)(1 - 1/C)/n_c over C².
    """
    share = 1 / len(counts)
    variance = share**3 * (1 - share) * float((1 / counts).sum())
    return share + CHANCE_ERRORS * variance**0.5
