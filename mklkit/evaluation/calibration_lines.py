"""The slope and intercept of a model's calibration on a cohort, with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import t
from sklearn.linear_model import LogisticRegression

from mklkit.evaluation.resampling import FEW_GROUPS, LEVEL
from mklkit.protocols import Array, Task
from mklkit.protocols.score import Answers

FEWEST_SAMPLES = 50
"""With fewer samples of a class, or of others, a slope of calibration is not told.

That of a calibrated model with an area of 0.79 is then between 0.65 and 1.5 in 95 % of cohorts, and
between 0.4 and 2.1 with 20 of each.
"""
LEAST, MOST = 1e-6, 1 - 1e-6
"""Probabilities outside of these have logits that one sample decides."""


def calibration_of(
    answers: Answers,
    task: Task,
    labels: NDArray[Any] | None = None,
    groups: NDArray[Any] | None = None,
) -> dict[str, dict[str, Any]]:
    """Return the slope and intercept of each class or target.

    A classifier is calibrated if a logistic regression of a class on the logit of its probability
    has slope 1, and intercept 0 when the slope is held at 1 [1]_; a regression is if the line of
    targets over predictions has. A slope below 1 means that predictions are too extreme. Fifty
    samples are enough to tell it, of a class and also of the others.

    Parameters
    ----------
    answers : Answers
        What the model predicts for n samples, and their targets.
    task : Task
    labels : ndarray of shape (C,), optional
        The classes, in the order of the probabilities.
    groups : ndarray of shape (n,), optional
        The group of each sample.

    Returns
    -------
    dict
        By class or target, ``samples`` of it, whether these are ``enough``, ``slope``,
        ``slope_interval``, ``intercept``, ``intercept_interval``; an interval is None if there are
        too few groups. Empty for classes without probabilities; a class that its probability tells
        without an error is omitted, since the likelihood has no maximum.

    Notes
    -----
    Intervals are those of Student's t with the variance of Huber and White, summed within groups
    [2]_: they do not assume that the line is the right model.

    References
    ----------
    .. [1] B. Van Calster, D. J. McLernon, M. van Smeden, L. Wynants and E. W. Steyerberg,
       "Calibration: the Achilles heel of predictive analytics", BMC Medicine 17 (2019), 230.
    .. [2] A. C. Cameron and D. L. Miller, "A practitioner's guide to cluster-robust inference",
       Journal of Human Resources 50 (2015), 317–372.
    """
    n = len(answers.truth)
    clusters = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    calibrations = {}
    for name, truth, predicted in _columns(answers, task, labels):
        lines = _logistic_lines(truth, predicted) if task.has_classes else _lines(truth, predicted)
        if lines is None:
            continue
        n_events = int(truth.sum()) if task.has_classes else n
        fewest = min(n_events, n - n_events) if task.has_classes else n
        slope, intercept = (line.last(clusters, groups is not None) for line in lines)
        calibrations[name] = {
            "samples": n_events,
            "enough": fewest >= FEWEST_SAMPLES,
            "slope": slope[0],
            "slope_interval": slope[1],
            "intercept": intercept[0],
            "intercept_interval": intercept[1],
        }
    return calibrations


def _columns(
    answers: Answers, task: Task, labels: NDArray[Any] | None
) -> Iterator[tuple[str, Array, Array]]:
    """Yield the name of each class or target, its truth (n,) and what is predicted of it (n,).

    Nothing if predictions are of another kind than targets, such as a risk for a time and an event.
    """
    if not task.has_classes:
        if np.shape(answers.truth) != np.shape(answers.predictions):
            return
        pairs = (np.reshape(part, (len(part), -1)) for part in (answers.truth, answers.predictions))
        truth, predictions = (np.asarray(part, float) for part in pairs)
        yield from zip(task.targets, truth.T, predictions.T, strict=True)
    elif answers.probabilities is not None and labels is not None:
        for code in [1] if len(labels) == 2 else range(len(labels)):
            happened = (answers.truth == code).astype(float)
            yield str(labels[code]), happened, answers.probabilities[:, code]


@attrs.frozen(eq=False)
class _Estimate:
    """Coefficients (k,) at which the scores of samples (n, k) add up to zero."""

    coefficients: Array
    scores: Array
    information: Array

    def last(
        self, clusters: NDArray[np.intp], in_groups: bool
    ) -> tuple[float, tuple[float, float] | None]:
        """Return the last coefficient and its interval, None if there are too few groups."""
        value = float(self.coefficients[-1])
        n_clusters = int(clusters.max()) + 1
        n, k = self.scores.shape
        if (in_groups and n_clusters < FEW_GROUPS) or n_clusters <= k:
            return value, None
        sums = np.zeros((n_clusters, k))
        np.add.at(sums, clusters, self.scores)
        factor = n_clusters / (n_clusters - 1) * (n - 1) / (n - k)
        at_last = np.linalg.solve(self.information, np.eye(k)[-1])
        error = np.sqrt(factor * np.square(sums @ at_last).sum())
        half = float(t.isf((1 - LEVEL) / 2, n_clusters - 1) * error)
        return value, (value - half, value + half)


def _logistic_lines(happened: Array, probabilities: Array) -> tuple[_Estimate, _Estimate] | None:
    """Return the slope of logits, and the intercept that makes their mean right at slope 1.

    None if logits separate the samples, because the likelihood then has no maximum.
    """
    if len(np.unique(happened)) < 2:
        return None
    logits = logit(np.clip(probabilities, LEAST, MOST))
    of_class, of_others = logits[happened == 1], logits[happened == 0]
    if of_class.min() >= of_others.max() or of_class.max() <= of_others.min():
        return None
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(logits[:, None], happened)
    both = np.array([model.intercept_[0], model.coef_[0, 0]])
    columns = np.column_stack([np.ones(len(logits)), logits])

    def gap(shift: float) -> float:
        return float(expit(logits + shift).mean() - happened.mean())

    shift = np.array([brentq(gap, -100, 100)])
    return (
        _logistic_estimate(happened, columns, columns @ both, both),
        _logistic_estimate(happened, columns[:, :1], logits + shift, shift),
    )


def _logistic_estimate(
    happened: Array, columns: Array, logits: Array, coefficients: Array
) -> _Estimate:
    """Return the estimate that a logistic likelihood has at its maximum."""
    fitted = expit(logits)
    information = (columns.T * (fitted * (1 - fitted))) @ columns
    return _Estimate(coefficients, columns * (happened - fitted)[:, None], information)


def _lines(truth: Array, predictions: Array) -> tuple[_Estimate, _Estimate] | None:
    """Return the slope of targets over predictions, and their mean difference.

    None if all predictions are the same.
    """
    if np.ptp(predictions) == 0:
        return None
    columns = np.column_stack([np.ones(len(truth)), predictions])
    coefficients = np.linalg.lstsq(columns, truth, rcond=None)[0]
    residuals, gaps = truth - columns @ coefficients, truth - predictions
    mean = np.array([gaps.mean()])
    return (
        _Estimate(coefficients, columns * residuals[:, None], columns.T @ columns),
        _Estimate(mean, (gaps - mean)[:, None], np.array([[float(len(gaps))]])),
    )
