"""A fitted model on samples that it has not learned from: scores with intervals, calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import binomtest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression

from mklkit.datasets.pipeline import lacking_a_source
from mklkit.errors import DataError, counted, listed, quoted
from mklkit.evaluation.class_scores import ACCURACY, AREA, BALANCED, BASELINE
from mklkit.protocols import Array, Task
from mklkit.protocols.score import Answers, Score

LEVEL = 0.95
"""The share of samples of the population for which an interval should hold the score."""
DRAWS = 1000
"""The number of samples drawn with replacement for an interval."""
FEW_GROUPS = 10
"""With fewer groups, the spread of draws says too little, and there is no interval."""
CALIBRATION_STEP = 5
"""Of so many draws one is used for the interval of a calibration, which takes longer."""
FEWEST_SAMPLES = 50
"""With fewer samples of a class, or of others, a slope of calibration is not told.

That of a calibrated model with an area of 0.79 is then between 0.65 and 1.5 in 95 % of cohorts, and
between 0.4 and 2.1 with 20 of each.
"""
ROUNDING = 1e-9
"""Scores that differ less are the same."""
LEAST, MOST = 1e-6, 1 - 1e-6
"""Probabilities outside of these have logits that one sample decides."""

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
    the score over 1,000 samples of the rows, or groups, that are drawn with replacement [2]_; there
    is none if all draws have the same score.

    A classifier is calibrated if a logistic regression of a class on the logit of its probability
    has slope 1, and intercept 0 when the slope is held at 1 [3]_; a regression is if the line of
    targets over predictions has. A slope below 1 means that predictions are too extreme. Fifty
    samples are enough to tell it, of a class and also of the others.

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
                draws = _draws(len(of_part.truth), _of_rows(groups, rows), seed, n_draws)
                results["intervals"][part] = _add_scores(
                    known, scores, of_part, task, draws, groups is None
                )
                results["scores"][part] = known
        draws = _draws(len(truth), groups, seed, n_draws)
        results["calibration"] = _calibration(answers, task, model, draws)
    return results | {"notes": _undefined(answers, task, model)}


def _of_rows(groups: NDArray[Any] | None, rows: NDArray[np.bool_]) -> NDArray[Any] | None:
    return None if groups is None else groups[rows]


def _add_scores(
    known: dict[str, Any],
    scores: Sequence[Score],
    answers: Answers,
    task: Task,
    draws: Sequence[NDArray[np.intp]],
    independent: bool,
) -> dict[str, Interval]:
    """Add the scores that are not yet known, and return the intervals of all of them."""
    known |= {score.key: _of(score, answers) for score in scores if score.key not in known}
    if _has_one_class(answers, task):
        known |= dict.fromkeys([*OF_CLASSES, "better_than_baseline"])
    return {
        score.key: None
        if known[score.key] is None
        else _interval(score, answers, task, draws, independent)
        for score in scores
    }


OF_CLASSES = (BALANCED.key, AREA.key, BASELINE.key)
"""The scores that compare classes, and are undefined for samples of one."""


def _has_one_class(answers: Answers, task: Task) -> bool:
    return task.has_classes and len(np.unique(answers.truth)) == 1


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


def _draws(
    n_rows: int, groups: NDArray[Any] | None, seed: int, n_draws: int
) -> list[NDArray[np.intp]]:
    """Return rows drawn with replacement, or those of groups; none of too few groups."""
    rng = np.random.default_rng(seed)
    if groups is None:
        return [rng.integers(n_rows, size=n_rows) for _ in range(n_draws)]
    codes, labels = pd.factorize(pd.Series(groups))
    if len(labels) < FEW_GROUPS:
        return []
    members = [np.flatnonzero(codes == code) for code in range(len(labels))]
    picks = rng.integers(len(labels), size=(n_draws, len(labels)))
    return [np.concatenate([members[group] for group in pick]) for pick in picks]


def _with_variance(answers: Answers, task: Task) -> Answers:
    """Return answers with the variance of their own targets, if these are numbers."""
    if task.has_classes:
        return answers
    return attrs.evolve(answers, variance=np.atleast_1d(np.var(answers.truth, axis=0)))


def _taken(answers: Answers, rows: NDArray[np.intp], task: Task) -> Answers:
    """Return the answers on some rows."""
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
    score: Score,
    answers: Answers,
    task: Task,
    draws: Sequence[NDArray[np.intp]],
    independent: bool,
) -> Interval:
    """Return the ends of the interval of a score."""
    right = answers.truth == answers.predictions
    if score.name == ACCURACY.name and independent:
        return _wilson(right)
    if score.name == BALANCED.name and independent:
        return _of_mean([right[answers.truth == code] for code in np.unique(answers.truth)])
    return _quantiles(draws, lambda rows: _of(score, _taken(answers, rows, task)))


def _wilson(right: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the ends of Wilson's interval of the share of samples that are right."""
    ends = binomtest(int(right.sum()), len(right)).proportion_ci(LEVEL, "wilson")
    return float(ends.low), float(ends.high)


def _of_mean(right: Sequence[NDArray[np.bool_]]) -> tuple[float, float]:
    """Return the ends of the interval of the mean of several independent shares."""
    shares = np.array([part.mean() for part in right])
    low, high = np.array([_wilson(part) for part in right]).T
    gaps = np.array([shares - low, high - shares])
    below, above = np.sqrt((gaps**2).sum(axis=1)) / len(right)
    return float(shares.mean() - below), float(shares.mean() + above)


def _quantiles(
    draws: Sequence[NDArray[np.intp]], value_of: Callable[[NDArray[np.intp]], float | None]
) -> Interval:
    """Return the quantiles of a value over draws.

    None if it is undefined in more than one of twenty, or the same in all.
    """
    values = [value for rows in draws if (value := value_of(rows)) is not None]
    if len(values) < max(1, LEVEL * len(draws)) or np.ptp(values) < ROUNDING:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _calibration(
    answers: Answers, task: Task, model: Any, draws: Sequence[NDArray[np.intp]]
) -> dict[str, dict[str, Any]]:
    """Return slope and intercept with intervals, by class or target.

    Empty for classes without probabilities.
    """
    columns: Mapping[str, tuple[Array, Array]]
    line: Callable[[Array, Array], tuple[float, float]]
    if task.has_classes:
        if answers.probabilities is None:
            return {}
        classes = range(answers.probabilities.shape[1])
        shown = [1] if len(classes) == 2 else classes
        columns = {
            str(model.classes_[code]): (happened, answers.probabilities[:, code])
            for code in shown
            for happened in [(answers.truth == code).astype(float)]
        }
        line = _logistic_line
    else:
        pairs = (np.reshape(part, (len(part), -1)) for part in (answers.truth, answers.predictions))
        truth, predictions = (np.asarray(part, float) for part in pairs)
        columns = {
            name: (truth[:, place], predictions[:, place])
            for place, name in enumerate(task.targets)
        }
        line = _line
    calibrations = {}
    for name, (truth, predicted) in columns.items():
        slope, intercept = line(truth, predicted)
        if np.isnan(slope):
            continue
        lines = np.array([line(truth[rows], predicted[rows]) for rows in draws[::CALIBRATION_STEP]])
        ends = [None, None]
        if len(lines) and not np.isnan(lines).any(axis=1).mean() > 1 - LEVEL:
            ends = np.nanquantile(lines, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0).T.tolist()
        n_events = int(truth.sum()) if task.has_classes else len(truth)
        fewest = min(n_events, len(truth) - n_events) if task.has_classes else len(truth)
        calibrations[name] = {
            "samples": n_events,
            "enough": fewest >= FEWEST_SAMPLES,
            "slope": slope,
            "slope_interval": ends[0],
            "intercept": intercept,
            "intercept_interval": ends[1],
        }
    return calibrations


def _logistic_line(happened: Array, probabilities: Array) -> tuple[float, float]:
    """Return the slope of logits, and the intercept that makes their mean right at slope 1.

    NaN if logits separate the samples, because the likelihood then has no maximum.
    """
    if len(np.unique(happened)) < 2:
        return float("nan"), float("nan")
    logits = logit(np.clip(probabilities, LEAST, MOST))
    of_class, of_others = logits[happened == 1], logits[happened == 0]
    if of_class.min() >= of_others.max() or of_class.max() <= of_others.min():
        return float("nan"), float("nan")
    model = LogisticRegression(C=np.inf, max_iter=1000).fit(logits[:, None], happened)
    share = happened.mean()

    def gap(shift: float) -> float:
        return float(expit(logits + shift).mean() - share)

    return float(model.coef_[0, 0]), float(brentq(gap, -100, 100))


def _line(truth: Array, predictions: Array) -> tuple[float, float]:
    """Return the slope of targets over predictions, and their mean difference."""
    if np.ptp(predictions) == 0:
        return float("nan"), float("nan")
    slope = np.polyfit(predictions, truth, 1)[0]
    return float(slope), float((truth - predictions).mean())
