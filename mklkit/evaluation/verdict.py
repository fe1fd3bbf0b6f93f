"""Sentences on the outcome of a comparison that claim no more than the scores show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mklkit.evaluation.class_scores import ACCURACY
from mklkit.evaluation.equivalence import MARGIN
from mklkit.evaluation.intervals import Interval, samples_needed
from mklkit.evaluation.one_split import OneSplit
from mklkit.evaluation.paired_tests import corrected_t_test, holm_levels
from mklkit.evaluation.rank_tests import DIGITS
from mklkit.evaluation.resolution import Resolution
from mklkit.evaluation.sentences import (
    INCONCLUSIVE,
    Unit,
    difference_excluded,
    difference_inconclusive,
    difference_shown,
    even_chance,
    not_excluded,
    same_scores,
    too_few_splits,
)
from mklkit.protocols.score import Score

UNDEFINED = "the score is not defined on one in twenty draws of so few test samples"
NO_ANSWERS = "a single split does not show how much of a difference is chance"
"""Why scores of one split are not compared if the answers for its samples are unknown."""
NO_DIFFERENCE = "no difference"


def planned_tests(
    scores: Mapping[str, ArrayLike],
    questions: Iterable[tuple[str, str, str | Sequence[str]]],
    n_train: ArrayLike,
    n_test: ArrayLike,
    alpha: float = 0.05,
    resolution: Resolution | None = None,
    margin: float = MARGIN,
    one_split: OneSplit | None = None,
    n_samples: int | None = None,
) -> pd.DataFrame:
    """Test the few questions about one data set that were planned before its scores were seen.

    Each compares a method with a reference by the corrected resampled t-test, with Holm's
    correction for the number of questions. Of several references, the one with the highest mean is
    taken; since the same scores choose it, its p value is multiplied by their number.

    An interval has the level at which Holm's procedure tests its question. So it excludes 0 if and
    only if ``p_holm`` is below ``alpha``, and its level is at least 1 − ``alpha``; the intervals
    are not simultaneous. With a ``resolution``, an interval that contains 0 is at least as wide as
    the units that the score counts allow (:meth:`Resolution.floor`): that none differs may be
    chance. So is the end that is farther from 0 of any other interval.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (J,)
        The scores of each method on the same splits; larger is better.
    questions : iterable of (title, method, reference or several)
        What is compared with what.
    n_train, n_test : int or array-like of shape (J,)
        Samples trained on and scored.
    alpha : float, default=0.05
        The level of the tests.
    resolution : Resolution, optional
        What the scores count, from :func:`mklkit.evaluation.resolution_of`; by default intervals
        have no least width.
    margin : float, default=0.02
        The largest difference that counts as none, from
        :func:`mklkit.evaluation.equivalence_margin`.
    one_split : OneSplit, optional
        If the scores are of one split, the answers of the fitted models for its test samples.
        Tests and intervals are then about these models on other samples: McNemar's exact test with
        Tango's interval for accuracies, else the paired bootstrap.
    n_samples : int, optional
        The number of samples, of one split those that are tested, for ``samples_needed``.

    Returns
    -------
    pandas.DataFrame
        One row per question: ``question`` (its title), ``method``, ``reference``, ``choices`` (the
        number of references to choose from), ``splits``, ``equal`` (the same score on each); mean
        ``difference``, ``low``, ``high``, the interval's ``level``, ``p_value``, ``p_holm``;
        the units ``counted``, and ``narrowest_with``, the same if they alone determine the
        interval, else empty; the ``margin``; ``why_not``, why a
        question about one split has no answer; ``samples_needed``, how many samples would have an
        even chance of another outcome, if it is inconclusive and ``n_samples`` is known. Without a
        finite score in each split, or with one split and no answers, numbers are NaN.

    Raises
    ------
    KeyError
        If a method has no scores.
    DataError
        If numbers of splits or samples do not fit.

    Examples
    --------
    >>> scores = {"dimkl5": [0.94, 0.96, 0.95, 0.95], "uniform": [0.94, 0.95, 0.96, 0.94]}
    >>> scores |= {"knn": [0.84, 0.86, 0.86, 0.84], "forest": [0.85, 0.84, 0.84, 0.84]}
    >>> questions = [("Weights", "dimkl5", "uniform"), ("Others", "dimkl5", ["knn", "forest"])]
    >>> tests = planned_tests(scores, questions, n_train=300, n_test=100)
    >>> tests[["reference", "difference", "low", "high", "p_holm"]].round(3).values.tolist()
    [['uniform', 0.002, -0.021, 0.026, 0.755], ['knn', 0.1, 0.066, 0.134, 0.002]]
    """
    values = {name: np.asarray(of_splits, dtype=float) for name, of_splits in scores.items()}
    tests, differences = [], []
    for title, method, references in questions:
        names = [references] if isinstance(references, str) else list(references)
        whole = [name for name in names if np.isfinite(values[name]).all()] or names[:1]
        best = max(whole, key=lambda name: round(float(values[name].mean()), DIGITS))
        difference = (values[method] - values[best]).round(DIGITS)
        p_value = corrected_t_test(difference, n_train, n_test).p_value
        if one_split is not None:
            p_value = one_split.p_value(method, best)
        p_value *= len(whole)
        tests.append((title, method, best, len(whole), len(difference), difference.mean(), p_value))
        differences.append(difference)
    columns = ["question", "method", "reference", "choices", "splits", "difference", "p_value"]
    table = pd.DataFrame(tests, columns=columns)
    table["p_value"] = table["p_value"].clip(upper=1)
    adjusted = holm_levels(table["p_value"], alpha, table["choices"])
    table["p_holm"], table["level"] = adjusted
    pairs = list(zip(table["method"], table["reference"], strict=True))
    table["equal"] = [not difference.any() for difference in differences]
    table["why_not"] = ""
    if one_split is not None:
        table["why_not"] = [one_split.why_not(*pair) for pair in pairs]
        table["equal"] = [one_split.are_equal(*pair) for pair in pairs]
    intervals = []
    for pair, difference, known in zip(pairs, differences, table["level"], strict=True):
        # Without a test there is no level, and no interval.
        level = 1 - alpha if math.isnan(known) else known
        means = [float(values[name].mean()) for name in pair]
        units = None if resolution is None else resolution.with_scores(*means)
        if one_split is None:
            interval = Interval.over_splits(difference, n_train, n_test, units, level)
        else:
            interval = one_split.difference(*pair, level, units)
        intervals.append(interval)
    table[["low", "high"]] = np.reshape([each.limits() for each in intervals], (-1, 2))
    table["counted"] = "" if resolution is None else str(resolution)
    table["narrowest_with"] = [each.narrowest_with for each in intervals]
    if one_split is not None:
        undefined = table["low"].isna() & (table["why_not"] == "")
        table.loc[undefined, "why_not"] = UNDEFINED
    table["margin"] = margin
    present = math.nan if n_samples is None else n_samples
    table["samples_needed"] = [
        samples_needed(present, interval, margin, both_ends=True)
        if outcome(test) == INCONCLUSIVE
        else math.nan
        for test, interval in zip(table.to_dict("records"), intervals, strict=True)
    ]
    return table


def outcome(test: Mapping[Any, Any]) -> str:
    """Return the outcome of a planned test in words, empty if there is none."""
    low, high = test["low"], test["high"]
    if math.isnan(low):
        return ""
    if low > 0 or high < 0:
        return "better" if low > 0 else "worse"
    is_little = max(abs(low), abs(high)) <= test["margin"]
    return NO_DIFFERENCE if is_little else INCONCLUSIVE


def verdict(tests: pd.DataFrame, score: Score = ACCURACY) -> str:
    """Return the results of :func:`planned_tests`, one sentence and line per question.

    Sentences follow from the intervals: "better" or "worse" if 0 is outside, "no difference
    larger than" if both ends are within the margin, else "inconclusive". If the number of samples
    or groups determines the interval, the sentence names it.

    Parameters
    ----------
    tests : pandas.DataFrame
        What :func:`planned_tests` returns.
    score : Score, default=that of accuracies
        The score that was tested. Differences of shares and of R² are written in points, those of
        errors in the unit of the error.

    Returns
    -------
    str
        A line for each question.

    Examples
    --------
    >>> scores = {"dimkl5": [0.94, 0.96, 0.95, 0.95], "uniform": [0.94, 0.95, 0.96, 0.94]}
    >>> tests = planned_tests(scores, [("Learned weights", "dimkl5", "uniform")], 300, 100)
    >>> print(verdict(tests))
    Learned weights: inconclusive: dimkl5 − uniform = 0.2 points (95 % CI −2.1 to 2.6).
    """
    if len(tests) == 0:
        return "There are no two methods to compare."
    written = Unit.of_differences(score)
    return "\n".join(
        f"{row['question']}: {_answer(row, written)}." for row in tests.to_dict("records")
    )


def _answer(test: Mapping[Any, Any], unit: Unit) -> str:
    method, reference = test["method"], test["reference"]
    if test["choices"] > 1:
        reference += f" (the best of {test['choices']})"
    low, high, counts = test["low"], test["high"], test["counted"]
    if math.isnan(low):
        why = test["why_not"] or NO_ANSWERS
        if math.isnan(test["difference"]) or test["splits"] > 1:
            why = "some of the scores are missing"
        return f"{method} and {reference} are not compared, because {why}"
    if test["equal"]:
        same = same_scores(method, reference, test["splits"])
        return f"{same}; {not_excluded(counts, 'a difference', high, unit)}" if counts else same
    estimate = test["difference"], low, high, test["level"]
    if low > 0 or high < 0:
        return difference_shown(method, reference, *estimate, unit)
    narrowest = test["narrowest_with"]
    far = max(abs(low), abs(high))
    if far <= test["margin"]:
        return difference_excluded(method, reference, far, test["margin"], unit, narrowest)
    if unit.scale == 100 and far > 1 and test["splits"] > 1:
        return too_few_splits(method, reference, test["splits"])
    enough = ""
    if not math.isnan(test["samples_needed"]):
        which = "samples" if test["splits"] > 1 else "test samples"
        enough = even_chance(test["samples_needed"], which)
    return difference_inconclusive(method, reference, *estimate, unit, narrowest, enough)
