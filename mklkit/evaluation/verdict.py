"""Sentences on the outcome of a comparison that claim no more than the scores show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mklkit.display import numbers
from mklkit.errors import DataError, counted
from mklkit.evaluation.class_scores import ACCURACY
from mklkit.evaluation.equivalence import MARGIN
from mklkit.evaluation.one_split import OneSplit
from mklkit.evaluation.paired_tests import corrected_t_test, holm_levels
from mklkit.evaluation.rank_tests import average_ranks, critical_difference, friedman_test
from mklkit.evaluation.resolution import Resolution, difference_interval
from mklkit.evaluation.sentences import (
    Unit,
    difference_excluded,
    difference_inconclusive,
    difference_shown,
    not_excluded,
    same_scores,
    too_few_splits,
)
from mklkit.protocols.score import Score

NAMES_SHOWN = 3
"""The most methods of a group to name; the others are counted."""
FEW_DATASETS = 5
"""With fewer data sets, ranks are not tested."""
NO_ANSWERS = "a single split does not show how much of a difference is chance"
"""Why scores of one split are not compared if the answers for its samples are unknown."""
DIGITS = 12
"""The decimals of differences of scores: equal means differ by rounding."""


def planned_tests(
    scores: Mapping[str, ArrayLike],
    questions: Iterable[tuple[str, str, str | Sequence[str]]],
    n_train: ArrayLike,
    n_test: ArrayLike,
    alpha: float = 0.05,
    resolution: Resolution | None = None,
    margin: float = MARGIN,
    one_split: OneSplit | None = None,
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
        Rows trained on and scored.
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

    Returns
    -------
    pandas.DataFrame
        One row per question: ``question`` (its title), ``method``, ``reference``, ``choices`` (the
        number of references to choose from), ``splits``, ``equal`` (the same score on each); mean
        ``difference``, ``low``, ``high``, the interval's ``level``, ``p_value``, ``p_holm``;
        ``floor``, half the least width of an interval that contains 0, and the units ``counted``
        that determine it, NaN and empty without a resolution; the ``margin``; ``why_not``, why a
        question about one split has no answer. Without a finite
        score in each split, or with one split and no answers, numbers are NaN.

    Raises
    ------
    KeyError
        If a method has no scores.
    DataError
        If numbers of splits or rows do not fit.

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
    limits = []
    for pair, difference, known in zip(pairs, differences, table["level"], strict=True):
        # Without a test there is no level, and no interval.
        level = 1 - alpha if math.isnan(known) else known
        means = [float(values[name].mean()) for name in pair]
        units = None if resolution is None else resolution.with_scores(*means)
        if one_split is None:
            low, high = difference_interval(difference, n_train, n_test, units, level)
        else:
            low, high = one_split.difference_interval(*pair, level)
            if units is not None and low <= 0 <= high:
                low, high = units.limits(float(difference.mean()), low, high, level)
        floor = math.nan if units is None else units.floor(float(difference.mean()), level)
        limits.append((low, high, floor))
    table[["low", "high", "floor"]] = np.reshape(limits, (-1, 3))
    table["counted"] = "" if resolution is None else str(resolution)
    table["margin"] = margin
    return table


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
    is_floor = math.isclose(high - low, 2 * test["floor"])
    far = max(abs(low), abs(high))
    if far <= test["margin"]:
        least = f", the least that {counts} can exclude" if is_floor else ""
        return difference_excluded(method, reference, far, unit) + least
    if unit.scale == 100 and far > 1 and test["splits"] > 1:
        return too_few_splits(method, reference, test["splits"])
    return difference_inconclusive(method, reference, *estimate, unit, counts if is_floor else "")


def verdict_of_datasets(scores: ArrayLike, names: Sequence[str], alpha: float = 0.05) -> str:
    """Return a sentence on which methods rank worse than the best on several data sets.

    Friedman's test with Iman and Davenport's statistic, and if it finds differences, Nemenyi's
    (Demšar 2006). They use only the ranks, not the size of differences in score. With fewer than
    five data sets no test is made.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, k)
        One mean score per data set and method; larger is better.
    names : sequence of k str
        The names of the methods.
    alpha : float, default=0.05
        The level of the tests.

    Returns
    -------
    str
        One sentence, without Markdown.

    Raises
    ------
    DataError
        If the scores are not such a table or not all finite, or the names do not match.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5], [3, 2, 1]]
    >>> verdict_of_datasets(scores, ["dimkl5", "uniform", "knn"])  # doctest: +NORMALIZE_WHITESPACE
    'The methods differ on 5 data sets (Friedman, p < 0.001); dimkl5 has the best average rank,
    1.00; uniform (rank 2.20) is not distinguishable from it, as the critical difference of ranks
    is 1.48; knn (rank 2.80) is worse.'
    """
    ranks = average_ranks(scores)
    n_datasets, k = np.shape(scores)
    if len(names) != k:
        raise DataError(f"{counted(k, 'method')} but {counted(len(names), 'name')} were given.")
    best, *rivals = np.argsort(ranks, kind="stable")
    lead = f"{names[best]} has the best average rank, {numbers.rank(ranks[best])}"
    if n_datasets < FEW_DATASETS:
        sets = counted(n_datasets, "data set")
        return _sentence([f"{lead}, but {sets} cannot tell how much of the differences is chance"])
    p_value = friedman_test(scores).p_value
    difference = critical_difference(k, n_datasets, alpha)
    if not p_value < alpha:
        return _sentence(
            [
                f"the {k} methods are not distinguishable on {n_datasets} data sets (Friedman,"
                f" {_p(p_value)}); {lead}, where ranks would have to differ by"
                f" {numbers.rank(difference)}"
            ]
        )
    near: list[str] = []
    worse: list[str] = []
    for rival in rivals:
        group = near if ranks[rival] - ranks[best] < difference else worse
        group.append(f"{names[rival]} (rank {numbers.rank(ranks[rival])})")
    clauses = [f"the methods differ on {n_datasets} data sets (Friedman, {_p(p_value)})", lead]
    limit = f", as the critical difference of ranks is {numbers.rank(difference)}"
    if near:
        clauses.append(f"{_are(near)} not distinguishable from it{limit}")
    if worse:
        clauses.append(f"{_are(worse)} worse{'' if near else limit}")
    return _sentence(clauses)


def _p(value: float) -> str:
    return f"p = {numbers.p_value(value)}".replace("= <", "< ")


def _joined(names: Sequence[str]) -> str:
    """Return ``"a"``, ``"a and b"`` or ``"a, b, c and 4 others"``."""
    *parts, last = names[:NAMES_SHOWN]
    if len(names) > NAMES_SHOWN:
        parts = [*parts, last]
        last = counted(len(names) - NAMES_SHOWN, "other")
    return f"{', '.join(parts)} and {last}" if parts else last


def _are(names: Sequence[str]) -> str:
    return f"{_joined(names)} {'is' if len(names) == 1 else 'are'}"


def _sentence(clauses: list[str]) -> str:
    """Return clauses as one sentence; a method's name at its start keeps its case."""
    text = "; ".join(clauses)
    start = "T" + text[1:] if text.startswith(("the ", "there ")) else text
    return f"{start}."
