"""A fitted model on samples that it has not learned from: scores with intervals, calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context

from mklkit.datasets.pipeline import lacking_a_source
from mklkit.errors import DataError, counted, listed, quoted
from mklkit.evaluation.calibration_lines import calibration_of
from mklkit.evaluation.class_scores import ACCURACY, AREA, BALANCED, BASELINE
from mklkit.evaluation.counted_scores import OfCounts, of_counts
from mklkit.evaluation.resampling import LEVEL, Resampling, wilson, wilson_of_mean
from mklkit.protocols import Task
from mklkit.protocols.score import Answers, Score

DRAWS = 1000
"""The number of samples drawn with replacement for an interval."""
ROUNDING = 1e-9
"""Scores that differ less are the same."""

Interval = tuple[float, float] | None


def score_cohort(
    model: Any,
    features: pd.DataFrame,
    truth: NDArray[Any],
    task: Task,
    groups: NDArray[Any] | None = None,
    seed: int = 0,
    n_draws: int = DRAWS,
) -> dict[str, Any]:
    """Score a fitted model on samples that it has not learned from; nothing is fitted again.

    Parameters
    ----------
    model : Pipeline
        The fitted model.
    features : DataFrame of shape (n, d)
        The samples.
    truth : ndarray of shape (n,) or (n, T)
        Their targets.
    task : Task
        The model's task.
    groups : ndarray of shape (n,), optional
        The group of each sample; intervals are then over groups.
    seed : int, default=0
        Of the samples that are drawn for intervals.
    n_draws : int, default=1000
        How many samples are drawn.

    Returns
    -------
    dict
        ``scores`` of all samples, and of those with all sources and those that lack one if there
        are such, None where a score is undefined; ``intervals``, for the same parts the lower and
        upper end by score, None where there are too few samples or groups; ``calibration``, the
        ``slope`` and ``intercept`` of each class or target, and whether there are ``enough``
        samples to tell it; and ``notes`` on what is undefined.

    Notes
    -----
    The interval of the accuracy of samples without groups is Wilson's [1]_, and that of the
    balanced accuracy joins Wilson's intervals of the recalls [4]_. All others are the quantiles of
    the score over 1,000 draws of the samples, or groups, that are drawn with replacement [2]_;
    there is none if all draws have the same score.

    The calibration is that of :func:`mklkit.evaluation.calibration_lines.calibration_of`.

    If all samples are of one class, the accuracy is its recall, and the balanced accuracy, the area
    under the ROC curve and the calibration are undefined.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
       Journal of the American Statistical Association 22 (1927), 209–212.
    .. [2] B. Efron and R. J. Tibshirani, "An introduction to the bootstrap", Chapman and Hall 1993.
    .. [3] B. Van Calster, D. J. McLernon, M. van Smeden, L. Wynants and E. W. Steyerberg,
       "Calibration: the Achilles heel of predictive analytics", BMC Medicine 17 (2019), 230.
    .. [4] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a
       general approach", Statistics in Medicine 27 (2008), 1693–1702.
    """
    if task.has_classes:
        _check_classes(truth, np.asarray(model.classes_))
    predictions = np.asarray(model.predict(features))
    answers = _with_variance(task.answers(model, features, truth, predictions), task)
    scores = [score for score in task.scores if score.of is not None and answers.has(score.needs)]
    scores = [score for score in scores if score.ranks]
    lacking = lacking_a_source(model, features)
    parts = {"all": np.ones(len(truth), bool)}
    if lacking.any():
        parts |= {"complete": ~lacking, "incomplete": lacking}
    results: dict[str, Any] = {"scores": {}, "intervals": {}}
    with config_context(skip_parameter_validation=True):  # which takes as long as a score
        for part, rows in parts.items():
            results["scores"][part] = results["intervals"][part] = None
            if rows.any():
                known = task.score(truth[rows], predictions[rows])
                of_part = _taken(answers, np.flatnonzero(rows), task)
                drawing = Resampling.of(len(of_part.truth), _of_rows(groups, rows), seed)
                results["intervals"][part] = _add_scores(
                    known, scores, of_part, task, partial(_interval, drawing, n_draws)
                )
                results["scores"][part] = known
    labels = np.asarray(model.classes_) if task.has_classes else None
    results["calibration"] = calibration_of(answers, task, labels, groups)
    return results | {"notes": _undefined(answers, task, model)}


def _of_rows(groups: NDArray[Any] | None, rows: NDArray[np.bool_]) -> NDArray[Any] | None:
    return None if groups is None else groups[rows]


def _add_scores(
    known: dict[str, Any],
    scores: Sequence[Score],
    answers: Answers,
    task: Task,
    interval_of: Callable[[Score, Answers, Task], Interval],
) -> dict[str, Interval]:
    """Add the scores that are not yet known, and return the intervals of all of them."""
    known |= {score.key: _of(score, answers) for score in scores if score.key not in known}
    if has_one_class(task, answers.truth):
        known |= dict.fromkeys([*OF_CLASSES, "better_than_baseline"])
    return {
        score.key: None if known[score.key] is None else interval_of(score, answers, task)
        for score in scores
    }


OF_CLASSES = (BALANCED.key, AREA.key, BASELINE.key)
"""The scores that compare classes, and are undefined for samples of one."""


def has_one_class(task: Task, truth: NDArray[Any]) -> bool:
    """Return whether all scored samples are of one class, so that classes can't be compared."""
    return task.has_classes and len(np.unique(truth)) == 1


def _undefined(answers: Answers, task: Task, model: Any) -> list[str]:
    """Return notes on scores that are not defined, or not of all classes, for these samples."""
    if not task.has_classes:
        return []
    classes = np.asarray(model.classes_).tolist()
    present = [classes[code] for code in np.unique(answers.truth)]
    if len(present) == 1:
        return [
            f"all samples are of the class {quoted(present[0])}: the accuracy is its recall, and"
            " the balanced accuracy, the area under the ROC curve and the calibration are not"
            " defined"
        ]
    absent = [label for label in classes if label not in present]
    if not absent:
        return []
    return [f"no sample is of {listed(absent)}: scores are those of the other classes"]


def _check_classes(truth: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise an error for samples of a class that the model does not know."""
    labels, counts = np.unique(truth, return_counts=True)
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise DataError(
            f"{counted(int(counts[unknown].sum()), 'sample')} are of a class that the model has not"
            f" learned: {listed(labels[unknown].tolist())}; it knows {listed(classes.tolist())}."
            " Write the classes as in the training data, or leave such samples out."
        )


def _with_variance(answers: Answers, task: Task) -> Answers:
    """Return answers with the variance of their own targets, if these are numbers."""
    if task.has_classes:
        return answers
    return attrs.evolve(answers, variance=np.atleast_1d(np.var(answers.truth, axis=0)))


def _taken(answers: Answers, rows: NDArray[np.intp], task: Task) -> Answers:
    """Return the answers on some samples."""
    parts: dict[str, Any] = {
        name: None if (values := getattr(answers, name)) is None else values[rows]
        for name in ("truth", "predictions", "values", "probabilities")
    }
    return _with_variance(attrs.evolve(answers, **parts), task)


def _of(score: Score, answers: Answers) -> float | None:
    """Return a score of some answers; None if it is undefined."""
    assert score.of is not None, "only scores that are computed here"
    value = float(score.of(answers))
    return None if np.isnan(value) else value


def _interval(
    drawing: Resampling, n_draws: int, score: Score, answers: Answers, task: Task
) -> Interval:
    """Return the ends of the interval of a score.

    None if it is undefined in more than one of twenty draws, or the same in all.
    """
    if score.name in (ACCURACY.name, BALANCED.name) and drawing.members is None:
        right = answers.truth == answers.predictions
        if score.name == ACCURACY.name:
            return wilson(right)
        return wilson_of_mean([right[answers.truth == code] for code in np.unique(answers.truth)])
    scores_of = _at_once(score, answers, task)
    if scores_of is not None:
        drawn = np.concatenate([np.empty(0), *map(scores_of, drawing.counts(n_draws))])
    else:
        samples = (_taken(answers, rows, task) for rows in drawing.rows(n_draws))
        drawn = np.array([_of(score, some) for some in samples], dtype=float)
    values = drawn[np.isfinite(drawn)]
    if len(values) < max(1, LEVEL * len(drawn)) or np.ptp(values) < ROUNDING:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _at_once(score: Score, answers: Answers, task: Task) -> OfCounts | None:
    """Return the function of a score of many draws; None if it is not that of the score."""
    parts = {
        "predict": answers.predictions,
        "predict_proba": answers.probabilities,
        "decision_function": answers.values,
    }
    responses = {name: part for name, part in parts.items() if part is not None}
    if "predict_proba" in responses and score.needs == "values":
        del responses["predict_proba"]
    classes = None
    if task.has_classes:
        columns = answers.values if answers.probabilities is None else answers.probabilities
        width = 2 if columns is None or columns.ndim == 1 else columns.shape[1]
        classes = np.arange(width)
    function = of_counts(score.name, answers.truth, responses, classes)
    value = _of(score, answers)
    if function is None or value is None:
        return None
    whole = float(function(np.ones((1, len(answers.truth))))[0])
    if not np.isclose(score.sign * whole, value, rtol=1e-9, atol=1e-12):
        return None
    return lambda counts: score.sign * function(counts)
