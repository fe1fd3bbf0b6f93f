"""Scores of survival models: concordance, time-dependent AUC and the integrated Brier score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.plugin import Answers, Array, Score
from mklkit_survival.concordance import concordance
from mklkit_survival.kaplan_meier import KaplanMeier

QUANTILES = np.linspace(0.1, 0.9, 17)
"""The quantiles of the times of training events at which AUC and Brier scores are computed."""


@attrs.frozen(eq=False)
class SurvivalAnswers(Answers):
    """What scores may see of a survival model: also its survival functions.

    Parameters
    ----------
    times : ndarray of shape (T,), optional
        The times of the ``probabilities`` (n, T); default: :func:`scored_times`.
    curves : callable, optional
        Returns the probabilities (n, T) of the scored samples to survive times (T,).
    """

    times: Array | None = None
    curves: Callable[[Array], Array | None] | None = None


def scored_times(truth: Array, training: Array | None) -> Array:
    """Return the times (T,) at which AUC and Brier scores are computed, none if there can't be two.

    They are quantiles of the times of training events, from 10 to 90 %, between the first and the
    last event of the scored samples and before the last training time.

    Parameters
    ----------
    truth : ndarray of shape (n, 2)
        Times and events of the scored samples.
    training : ndarray of shape (N, 2), optional
        Those of the training samples; default: the same.

    Returns
    -------
    ndarray of shape (T,)
        The times.
    """
    training = truth if training is None else training
    events = training[training[:, 1] > 0, 0]
    if len(events) == 0:
        return np.zeros(0)
    times = np.unique(np.quantile(events, QUANTILES))
    return times[_in_range(times, truth, training)]


def _in_range(times: Array, truth: Array, training: Array) -> NDArray[np.bool_]:
    """Return at which times samples can be scored, nowhere if at fewer than two."""
    scored = truth[truth[:, 1] > 0, 0]
    if len(scored) == 0:
        return np.zeros(len(times), bool)
    last = min(truth[:, 0].max(), training[:, 0].max())
    inside = (times >= scored.min()) & (times < last)
    return inside if inside.sum() > 1 else np.zeros(len(times), bool)


def _times_of(answers: Answers) -> tuple[Array, NDArray[np.bool_]]:
    """Return the times at which answers are scored, and which of those of the probabilities."""
    training = _training(answers)
    if not isinstance(answers, SurvivalAnswers) or answers.times is None:
        times = scored_times(answers.truth, training)
        return times, np.ones(len(times), bool)
    inside = _in_range(answers.times, answers.truth, training)
    return answers.times[inside], inside


def _training(answers: Answers) -> Array:
    """Return the training samples; without them, the scored samples."""
    return answers.truth if answers.training is None else answers.training


def harrell(answers: Answers) -> float:
    """Return Harrell's concordance."""
    return concordance(answers.truth, answers.predictions)


def uno(answers: Answers) -> float:
    """Return Uno's concordance up to the last of the scored times."""
    times, _ = _times_of(answers)
    if len(times) == 0:
        return float("nan")
    weights = np.where(answers.truth[:, 0] < times[-1], _event_weights(answers, times) ** 2, 0.0)
    return concordance(answers.truth, answers.predictions, weights)


def cumulative_auc(answers: Answers) -> float:
    """Return the time-dependent area under the ROC curve, averaged over the scored times.

    At a time, it compares samples with an earlier event, weighted by the inverse probability of
    being uncensored, with those that are still followed. Areas are averaged over the times by the
    fall of the Kaplan-Meier curve.
    """
    times, _ = _times_of(answers)
    if len(times) == 0:
        return float("nan")
    weights = _event_weights(answers, times)
    areas = [_area(answers, time, weights) for time in times]
    survival = KaplanMeier.of(answers.truth).at(times)
    falls = -np.diff(survival, prepend=1.0)
    return float(areas @ falls / falls.sum())


def _area(answers: Answers, time: float, weights: Array) -> float:
    """Return the area under the ROC curve at a time."""
    later = answers.truth[:, 0] > time
    cases = (answers.truth[:, 0] <= time) & (weights > 0)
    controls = np.sort(answers.predictions[later])
    risks = answers.predictions[cases]
    below, upto = (np.searchsorted(controls, risks, side) for side in ("left", "right"))
    shares = (below + upto) / (2 * len(controls))
    return float(np.average(shares, weights=weights[cases]))


def integrated_brier(answers: Answers) -> float:
    """Return the Brier score, integrated over the scored times and divided by their extent."""
    times, inside = _times_of(answers)
    if len(times) == 0 or answers.probabilities is None:
        return float("nan")
    survived = answers.truth[:, :1] > times
    of_events = _event_weights(answers, times)[:, None] * ~survived
    of_survivors = survived / KaplanMeier.of_censoring(_training(answers)).at(times)
    probabilities = answers.probabilities[:, inside]
    squares = of_events * probabilities**2 + of_survivors * (1 - probabilities) ** 2
    return float(np.trapezoid(squares.mean(axis=0), times) / np.ptp(times))


def _event_weights(answers: Answers, times: Array) -> Array:
    """Return the inverse probability of an event (n,) to be seen until the last time, else 0."""
    observed = (answers.truth[:, 1] > 0) & (answers.truth[:, 0] <= times[-1])
    weights = np.zeros(len(answers.truth))
    censoring = KaplanMeier.of_censoring(_training(answers))
    weights[observed] = 1 / censoring.at(answers.truth[observed, 0])
    return weights


AREA: dict[str, Any] = {"unit": "number", "counts": "", "low": 0.0, "high": 1.0}
SURVIVAL_SCORES = (
    Score("concordance", harrell, short="C", **AREA),
    Score("uno_concordance", uno, words="Uno's concordance", short="Uno's C", **AREA),
    Score("cumulative_auc", cumulative_auc, words="time-dependent AUC", short="AUC", **AREA),
    Score(
        "neg_integrated_brier",
        integrated_brier,
        words="integrated Brier score",
        needs="probabilities",
        unit="error",
        counts="",
        low=0,
        high=1,
        short="Brier",
    ),
    Score("baseline", lambda answers: answers.baseline, words="Kaplan-Meier", ranks=False, **AREA),
)
"""The scores of survival models, the one by which they are ranked first."""
