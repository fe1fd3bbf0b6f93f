"""Scores of predicted classes and of their probabilities, and the baseline without features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, recall_score, roc_auc_score

from mklkit.protocols import Array
from mklkit.protocols.score import Answers, Score, of_labels

CHANCE_ERRORS = 2
"""The standard errors above chance that guessing may reach by luck."""
CALIBRATION_BINS = 10
LARGEST = 2**63
"""More than any count; integers in JSON have no bound."""
"""Bins of equal width in which probabilities are compared with frequencies."""


def score(
    labels: ArrayLike,
    predictions: ArrayLike,
    training_labels: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    scores: Sequence[Score] | None = None,
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
        How many samples each pair of a label and a prediction stands for; one by default.
    scores : sequence of Score, optional
        Those to compute, such as a task's; by default all of the library.

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
    baseline = float(rows[trained.argmax()] / rows.sum())
    return score_confusion(confusion, classes, baseline, scores)


def score_confusion(
    confusion: NDArray[np.integer[Any]],
    classes: ArrayLike,
    baseline: float,
    scores: Sequence[Score] | None = None,
) -> dict[str, Any]:
    """Return the scores of a confusion matrix, which may be a sum of several.

    Parameters
    ----------
    confusion : ndarray of shape (n_classes, n_classes)
        Counts of samples by true class and predicted class.
    classes : array-like of shape (n_classes,)
        The labels, in the order of the matrix.
    baseline : float
        The accuracy of always predicting the most frequent class of the training samples.
    scores : sequence of Score, optional
        Those to compute, such as a task's; by default all of the library.

    Returns
    -------
    dict
        ``rows``; the values of the scores of labels by their keys, such as ``accuracy``,
        ``balanced_accuracy`` (the mean recall of the classes that have samples) and ``baseline``;
        ``better_than_baseline``, whether the accuracy is above the baseline or the balanced
        accuracy above what guessing reaches by luck; ``classes``; ``recall``, one per class, NaN if
        a class has no samples; ``confusion``.

    Examples
    --------
    >>> scores = score_confusion(np.array([[8, 2], [1, 9]]), ["ill", "well"], baseline=0.5)
    >>> round(scores["accuracy"], 2), scores["recall"]
    (0.85, [0.8, 0.9])
    """
    counts = confusion.sum(axis=1)
    present = counts > 0
    recall = np.full(len(confusion), np.nan)
    recall[present] = confusion.diagonal()[present] / counts[present]
    accuracy = float(confusion.trace() / counts.sum())
    balanced = float(recall[present].mean())
    truth, predictions = np.nonzero(confusion)
    answers = Answers(truth, predictions, confusion[truth, predictions], baseline=baseline)
    return {
        "rows": int(counts.sum()),
        **{
            each.key: each.of(answers)
            for each in (CLASS_SCORES if scores is None else scores)
            if each.of and each.needs == "labels"
        },
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
    """Return the result of a fitted model's method on samples; None if it has no such method.

    scikit-learn's classifiers show what they can do by the presence of a method, sometimes only
    with certain parameters, so the class alone does not tell.
    """
    call = getattr(model, method, None)
    return None if call is None else np.asarray(call(rows))


def area_under_curve(answers: Answers) -> float:
    """Return the area under the ROC curve; for several classes, the mean of one against the rest.

    Classes without test samples do not count in the mean; NaN if none is left.
    """
    values = answers.values
    assert values is not None
    columns = [(1, values)] if values.ndim == 1 else enumerate(values.T)
    areas = [
        float(roc_auc_score(answers.truth == code, column))
        for code, column in columns
        if 0 < np.count_nonzero(answers.truth == code) < len(answers.truth)
    ]
    return float(np.mean(areas)) if areas else float("nan")


def loss_of_probabilities(answers: Answers) -> float:
    """Return the mean negative log-probability of the true class."""
    assert answers.probabilities is not None
    classes = range(answers.probabilities.shape[1])
    return float(log_loss(answers.truth, answers.probabilities, labels=classes))


def negative_brier_score(model: Any, rows: Any, labels: NDArray[Any]) -> float:
    """Return scikit-learn's ``neg_brier_score``, whose scorer takes no labels of text."""
    classes = np.asarray(model.classes_)
    probabilities = np.asarray(model.predict_proba(rows))
    codes = np.searchsorted(classes, labels)
    if len(classes) == 2:
        return -float(brier_score_loss(codes, probabilities[:, 1]))
    return -float(brier_score_loss(codes, probabilities, labels=range(len(classes))))


def mean_recall(answers: Answers) -> float:
    """Return the mean share of predicted samples of the classes that have samples."""
    truth = answers.truth
    present = np.unique(answers.truth)
    options = {"labels": present, "average": "macro", "sample_weight": answers.counts}
    return float(recall_score(truth, answers.predictions, **options))


def answers_of(
    model: Any, rows: Any, labels: NDArray[Any], predictions: NDArray[Any], classes: NDArray[Any]
) -> Answers:
    """Return what scores of classes see of a fitted model on some samples."""
    values = probabilities = response(model, "predict_proba", rows)
    if probabilities is None:
        values = response(model, "decision_function", rows)
    elif probabilities.shape[1] == 2:
        values = probabilities[:, 1]
    codes, guesses = (np.searchsorted(classes, part) for part in (labels, predictions))
    return Answers(codes, guesses, values=values, probabilities=probabilities)


SHARE: dict[str, Any] = {"unit": "share", "low": 0, "high": 1}
AVERAGED = ("f1", "precision", "recall", "jaccard")
"""Scores of one class, which also exist as means over classes."""
MEANS = [f"{name}_{mean}" for name in AVERAGED for mean in ("macro", "micro", "weighted")]
SAMPLES = ("recall_weighted", "f1_micro", "precision_micro", "recall_micro")
"""Scores of classes in which all samples count equally: other names of the accuracy."""
MICRO_JACCARD = "jaccard_micro"
"""A function of the accuracy, so that all samples count in it too."""

ACCURACY = Score(
    "accuracy", of_labels(accuracy_score), counts="samples", short="accuracy %", **SHARE
)
BALANCED = Score("balanced_accuracy", mean_recall, counts="classes", short="bal.", **SHARE)
AREA = Score(
    "roc_auc",
    area_under_curve,
    key="auc",
    words="roc auc",
    needs="values",
    head="AUC",
    short="AUC",
    decimal=True,
    **SHARE,
)
LOG_LOSS = Score("neg_log_loss", loss_of_probabilities, needs="probabilities", short=None)
BASELINE = Score("baseline", lambda a: a.baseline, words="majority class", ranks=False, **SHARE)
CLASS_SCORES = (
    ACCURACY,
    BALANCED,
    BASELINE,
    AREA,
    LOG_LOSS,
    Score("average_precision", **SHARE),
    *(Score(name, **SHARE) for name in ("roc_auc_ovr", "roc_auc_ovo")),
    Score("neg_brier_score", of_model=negative_brier_score),
    Score("matthews_corrcoef"),
    *(Score(name, **SHARE) for name in AVERAGED),
    *(
        Score(name, counts="samples" if name in (*SAMPLES, MICRO_JACCARD) else "rarest", **SHARE)
        for name in (
            f"{name}_{mean}" for name in AVERAGED for mean in ("macro", "micro", "weighted")
        )
        if name != "recall_macro"
    ),
    Score("recall_macro", counts="classes", **SHARE),
)
"""The scores of classes; a new one is one entry here."""
OUTLIER_SCORES = (AREA, attrs.evolve(ACCURACY, ranks=False), BALANCED, BASELINE)


def calibration(codes: NDArray[np.intp], probabilities: Array) -> dict[str, list[float]]:
    """Return per bin the ``rows``, their sum of probabilities, and ``hits``.

    For two classes it is the probability of the second; for several, that of the likeliest.
    """
    n_classes = probabilities.shape[1]
    likely = np.ones(len(codes), int) if n_classes == 2 else probabilities.argmax(axis=1)
    predicted = probabilities[np.arange(len(codes)), likely]
    happened = codes == likely
    last = CALIBRATION_BINS - 1
    bins = np.minimum((predicted * CALIBRATION_BINS).astype(int), last)
    return {
        "rows": np.bincount(bins, minlength=CALIBRATION_BINS).tolist(),
        "probability": np.bincount(bins, predicted, CALIBRATION_BINS).tolist(),
        "hits": np.bincount(bins[happened], minlength=CALIBRATION_BINS).tolist(),
    }


def check_confusion(counts: Any, n_classes: int) -> None:
    """Raise a ValueError unless values, read from a file, are counts (n_classes, n_classes)."""
    rows = [list(row) for row in counts]
    if [len(rows), *map(len, rows)] != [n_classes] * (n_classes + 1):
        raise ValueError(f"expected counts of {n_classes} classes")
    if not all(type(count) is int and 0 <= count < LARGEST for row in rows for count in row):
        raise ValueError("expected counts")


def check_calibration(bins: Any) -> None:
    """Raise a ValueError unless values, read from a file, are those of :func:`calibration`."""
    parts = np.array([bins["rows"], bins["probability"], bins["hits"]], dtype=float)
    if parts.shape != (len(bins), CALIBRATION_BINS):
        raise ValueError(f"expected {CALIBRATION_BINS} bins")
