"""Scores of many draws at once, from how often each sample is in each draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.evaluation.class_scores import AVERAGED, SAMPLES
from mklkit.protocols import Array

OfCounts = Callable[[Array], Array]
"""Scores of draws (b,), larger is better, from the counts of samples in them (b, n)."""
Responses = Mapping[str, NDArray[Any]]
"""What a model answers for each sample, by the name of its method; of classes their numbers."""
EPS = np.finfo(np.float64).eps


def of_counts(
    name: str, truth: NDArray[Any], responses: Responses, classes: NDArray[Any] | None
) -> OfCounts | None:
    """Return a function that computes a score of draws; None if there is none for this score.

    ``truth`` (n,) are numbers of ``classes``, or of shape (n, T) numeric targets without any.
    """
    if classes is None:
        return _of_numbers(name, truth, responses) if "predict" in responses else None
    if name in ("roc_auc", "roc_auc_ovr"):
        return _mean_area(truth, responses)
    if name in ("neg_log_loss", "neg_brier_score"):
        return _loss(name, truth, np.asarray(responses["predict_proba"], float))
    return _of_labels(name, truth, responses, classes) if "predict" in responses else None


def _of_labels(
    name: str, truth: NDArray[Any], responses: Responses, classes: NDArray[Any]
) -> OfCounts | None:
    """Return the function of a score of predicted classes."""
    predictions = responses["predict"]
    if name == "accuracy" or name in SAMPLES:
        return _mean(predictions == truth)
    if name in ("balanced_accuracy", "recall_macro"):
        return _mean_recall(truth, predictions)
    if name == "matthews_corrcoef":
        return _matthews(truth, predictions, len(classes))
    measure, _, average = name.partition("_")
    if measure in AVERAGED:
        return _averaged(measure, average, truth, predictions, classes)
    return None


def _mean(values: NDArray[Any]) -> OfCounts:
    """Return the means of a value of each sample, (n,) or (n, T)."""
    of_samples = np.asarray(values, float)
    return lambda counts: _over(counts @ of_samples, counts.sum(axis=1))


def _over(sums: Array, totals: Array) -> Array:
    """Return quotients, NaN where the total is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((sums.T / totals.T).T)


def _of_numbers(name: str, truth: NDArray[Any], responses: Responses) -> OfCounts | None:
    """Return the function of a score of numeric targets, None for predictions of another kind."""
    if np.size(responses["predict"]) != np.size(truth):
        return None
    targets = np.reshape(truth, (len(truth), -1)).astype(float)
    errors = targets - np.reshape(responses["predict"], targets.shape).astype(float)
    sizes = np.abs(errors)
    losses = {
        "neg_mean_absolute_error": sizes,
        "neg_mean_squared_error": errors**2,
        "neg_mean_absolute_percentage_error": sizes / np.maximum(np.abs(targets), EPS),
    }
    if name in losses:
        return _mean(-losses[name].mean(axis=1))
    squares = _mean(errors**2)
    if name == "neg_root_mean_squared_error":
        return lambda counts: -np.sqrt(squares(counts)).mean(axis=1)
    if name not in ("r2", "explained_variance"):
        return None
    centred = targets - targets.mean(axis=0)
    of_targets, of_squares, of_errors = _mean(centred), _mean(centred**2), _mean(errors)

    def explained(counts: Array) -> Array:
        spread = of_squares(counts) - of_targets(counts) ** 2
        bias = of_errors(counts) ** 2 if name == "explained_variance" else 0.0
        return np.asarray((1 - _over(squares(counts) - bias, spread)).mean(axis=1))

    return explained


def _mean_recall(truth: NDArray[Any], predictions: NDArray[Any]) -> OfCounts:
    """Return the mean recalls of the classes that are in a draw."""
    of_class = np.equal.outer(truth, np.unique(truth)).astype(float)
    right = of_class * (truth == predictions)[:, None]
    return lambda counts: np.nanmean(_over(counts @ right, counts @ of_class), axis=1)


def _mean_area(truth: NDArray[Any], responses: Responses) -> OfCounts | None:
    """Return areas under the ROC curve, of several classes the mean of one against the rest."""
    methods = ("predict_proba", "decision_function")
    known = [responses[name] for name in methods if name in responses]
    if not known:
        return None
    values = known[0][:, 1] if known[0].shape[1:] == (2,) else known[0]
    columns = [(1, values)] if values.ndim == 1 else enumerate(values.T)
    areas = [_area(truth == code, column) for code, column in columns if (truth == code).any()]
    if not areas:
        return None

    def mean(counts: Array) -> Array:
        values = np.array([area(counts) for area in areas])
        known = ~np.isnan(values)
        # Draws of a single class have none.
        return _over(np.where(known, values, 0).sum(axis=0), known.sum(axis=0))

    return mean


def _area(positive: NDArray[np.bool_], values: NDArray[Any]) -> OfCounts:
    """Return the shares of pairs of a positive and a negative sample in their order, ties half."""
    order = np.argsort(values, kind="stable")
    is_first = np.diff(values[order], prepend=np.nan) != 0
    starts = np.flatnonzero(is_first)
    is_positive = positive[order].astype(float)

    def area(counts: Array) -> Array:
        ordered = counts[:, order]
        of_positive = np.add.reduceat(ordered * is_positive, starts, axis=1)
        of_negative = np.add.reduceat(ordered * (1 - is_positive), starts, axis=1)
        below = of_negative.cumsum(axis=1) - of_negative / 2
        pairs = of_positive.sum(axis=1) * of_negative.sum(axis=1)
        return _over((of_positive * below).sum(axis=1), pairs)

    return area


def _loss(name: str, truth: NDArray[Any], probabilities: Array) -> OfCounts:
    """Return negated losses of probabilities."""
    if name == "neg_log_loss":
        of_true = probabilities[np.arange(len(truth)), truth]
        return _mean(np.log(np.clip(of_true, EPS, 1 - EPS)))
    n_classes = probabilities.shape[1]
    happened = np.equal.outer(truth, np.arange(n_classes))
    squares = ((probabilities - happened) ** 2).sum(axis=1)
    return _mean(-squares / 2 if n_classes == 2 else -squares)


def _matthews(truth: NDArray[Any], predictions: NDArray[Any], n_classes: int) -> OfCounts:
    """Return Matthews correlation coefficients, 0 where all truths or predictions are equal."""
    codes = np.arange(n_classes)
    of_truth, of_prediction = (
        np.equal.outer(part, codes).astype(float) for part in (truth, predictions)
    )

    def coefficient(counts: Array) -> Array:
        total, right = counts.sum(axis=1), counts @ (truth == predictions).astype(float)
        true, predicted = counts @ of_truth, counts @ of_prediction
        joint = right * total - (true * predicted).sum(axis=1)
        spread = (total**2 - (true**2).sum(axis=1)) * (total**2 - (predicted**2).sum(axis=1))
        return np.nan_to_num(_over(joint, np.sqrt(spread)))

    return coefficient


def _averaged(
    measure: str,
    average: str,
    truth: NDArray[Any],
    predictions: NDArray[Any],
    classes: NDArray[Any],
) -> OfCounts | None:
    """Return F1, precision, recall or the Jaccard index, of class 1 or a mean over classes."""
    labels = np.union1d(truth, predictions)
    if not average:
        labels = np.flatnonzero(classes.astype(str) == "1")
    is_true, is_predicted = (np.equal.outer(part, labels) for part in (truth, predictions))
    parts = [is_true & is_predicted, ~is_true & is_predicted, is_true & ~is_predicted]

    def mean(counts: Array) -> Array:
        hits, extra, missed = (counts @ part.astype(float) for part in parts)
        of_class = hits + missed
        if average == "micro":
            hits, extra, missed = (
                part.sum(axis=1, keepdims=True) for part in (hits, extra, missed)
            )
        totals = {
            "f1": hits + (extra + missed) / 2,
            "precision": hits + extra,
            "recall": hits + missed,
            "jaccard": hits + extra + missed,
        }
        values = np.nan_to_num(_over(hits, totals[measure]))
        if average == "weighted":
            return _over((values * of_class).sum(axis=1), of_class.sum(axis=1))
        return np.asarray(values.mean(axis=1))

    return mean if len(labels) else None
