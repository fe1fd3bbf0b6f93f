"""Planned tests of methods over several data sets, and the sentences that follow from them.

J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
Learning Research 7 (2006), sections 3.1.3 and 3.2.2.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from mklkit.display import numbers
from mklkit.errors import DataError, counted
from mklkit.evaluation.class_scores import ACCURACY
from mklkit.evaluation.paired_tests import holm_levels
from mklkit.evaluation.rank_tests import DIGITS, average_ranks
from mklkit.evaluation.sentences import INCONCLUSIVE, Unit, interval
from mklkit.protocols import Array
from mklkit.protocols.score import Score

FEW_DATASETS = 6
"""With fewer data sets, no exact p value is below 0.05, even if all of them agree."""
COUNTED = 50
"""Up to so many data sets, all assignments of signs are counted, also with ties."""


def signed_rank_p_value(differences: ArrayLike) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test.

    Differences of 0 count half for either side, as Demšar (2006) does, and equal ones have their
    mean rank. Up to 50 data sets, p is the share of all assignments of signs whose sums of ranks
    are as far apart; of more data sets it is SciPy's, by the normal approximation.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        The score of one method minus that of the other, per data set.

    Returns
    -------
    float
        NaN with fewer than six data sets, 1 if there is no difference.

    See Also
    --------
    planned_tests_of_datasets : Several of them, with Holm's correction.

    Examples
    --------
    >>> round(signed_rank_p_value([0.01, 0.02, 0.03, 0.04, 0.05, 0.06]), 5)
    0.03125
    """
    values = np.asarray(differences, dtype=float).round(DIGITS)
    if len(values) < FEW_DATASETS or not np.isfinite(values).all():
        return float("nan")
    if not values.any():
        return 1.0
    if len(values) > COUNTED:
        return float(stats.wilcoxon(values, zero_method="zsplit", method="asymptotic").pvalue)
    # Mean ranks are halves, so twice the ranks are whole numbers.
    ranks = (2 * stats.rankdata(np.abs(values))).astype(int)[values != 0]
    total = ranks.sum()
    shares = np.zeros(total + 1)  # of the assignments, by the sum of the ranks above 0
    shares[0] = 1.0
    for rank in ranks:
        shares[rank:], shares[:rank] = (shares[rank:] + shares[:-rank]) / 2, shares[:rank] / 2
    apart = np.abs(2 * np.arange(total + 1) - total)
    observed = abs(2 * ranks[values[values != 0] > 0].sum() - total)
    return float(min(1.0, shares[apart >= observed].sum()))


@attrs.frozen
class MedianDifference:
    """The Hodges–Lehmann estimate of a difference over data sets, and its interval.

    Attributes
    ----------
    median : float
        The median of the Walsh averages, which are the means of all pairs of differences and the
        differences themselves.
    low, high : float
        The ends of the interval, NaN if there is none.
    level : float
        The confidence, lower than requested if the data sets are too few for that.
    """

    median: float
    low: float
    high: float
    level: float


def signed_rank_interval(differences: ArrayLike, level: float = 0.95) -> MedianDifference:
    """Return the median of the Walsh averages, and the interval of the signed-rank test.

    The interval holds the shifts that :func:`signed_rank_p_value` does not reject, and so ends at
    Walsh averages. As the smallest p value of n data sets is 2/2ⁿ, no interval has a level above
    1 − 2/2ⁿ.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        The score of one method minus that of the other, per data set.
    level : float, default=0.95
        The confidence of the interval.

    Returns
    -------
    MedianDifference
        Without an interval with fewer than six data sets, or if all differences are equal.

    References
    ----------
    .. [1] J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests", Annals of
       Mathematical Statistics 34 (1963), 598–611.

    Examples
    --------
    >>> signed_rank_interval([0.01, 0.02, 0.03, 0.04, 0.05, 0.06])
    MedianDifference(median=0.035, low=0.01, high=0.06, level=0.95)
    """
    values = np.asarray(differences, dtype=float).round(DIGITS)
    first, second = np.triu_indices(len(values))
    averages = ((values[first] + values[second]) / 2).round(DIGITS)
    median = float(np.median(averages).round(DIGITS)) if len(values) else math.nan
    if len(values) < FEW_DATASETS or not np.ptp(values) > 0:
        return MedianDifference(median, math.nan, math.nan, level)
    level = min(level, 1 - 2.0 ** (1 - len(values)))
    ends = np.unique(averages)
    between = (ends[:-1] + ends[1:]) / 2

    def rejects(place: int) -> bool:
        return signed_rank_p_value(values - between[place]) <= 1 - level

    below, above = (int(np.searchsorted(between, median, side)) for side in ("left", "right"))
    low = bisect_left(range(below), True, key=lambda place: not rejects(place))
    high = above + bisect_left(range(above, len(between)), True, key=rejects)
    return MedianDifference(median, float(ends[low]), float(ends[high]), level)


def planned_tests_of_datasets(
    scores: Mapping[str, ArrayLike],
    questions: Iterable[tuple[str, str, str | Sequence[str]]],
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Test the few questions over several data sets that were planned before scores were seen.

    Each compares a method with a reference by Wilcoxon's signed-rank test, with Holm's correction
    for the number of questions. Of several references, the one with the best average rank is taken;
    since the same scores choose it, its p value is multiplied by their number.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_datasets,)
        The mean score of each method on the same data sets, NaN where it has none; larger is
        better.
    questions : iterable of (title, method, reference or several)
        What is compared with what.
    alpha : float, default=0.05
        The level of the tests.

    Returns
    -------
    pandas.DataFrame
        One row per question: ``question`` (its title), ``method``, ``reference``, ``choices`` (the
        number of references to choose from), the number of ``data_sets`` on which both have a
        score, and of those on which the method is ``better``, ``worse`` and ``equal``; mean
        ``difference``; ``sign``, 1 if the ranks of the differences favor the method, −1 if the
        reference; ``p_value`` and ``p_holm``, NaN with fewer than six data sets; ``median``, the
        Hodges–Lehmann estimate of the difference, with ``low`` and ``high``, the ends of the
        interval of the test. Its ``level`` is that at which Holm's procedure tests the question,
        or 1 − 2/2ⁿ if n data sets allow no higher one.

    Raises
    ------
    KeyError
        If a method has no scores.
    DataError
        If numbers of data sets differ.

    See Also
    --------
    verdict_of_datasets : The sentences.
    planned_tests : The tests on one data set.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7 (2006), 1–30.

    Examples
    --------
    >>> scores = {"dimkl5": [0.9, 0.8, 0.7, 0.95, 0.6, 0.85, 0.75], "knn": [0.8] * 7}
    >>> tests = planned_tests_of_datasets(scores, [("Others", "dimkl5", "knn")])
    >>> tests[["data_sets", "better", "worse", "equal", "p_holm"]].values.tolist()
    [[7.0, 3.0, 3.0, 1.0, 1.0]]
    """
    values = {name: np.asarray(of_sets, dtype=float) for name, of_sets in scores.items()}
    if len({of_sets.shape for of_sets in values.values()}) > 1:
        raise DataError("Expected a score of each method on each data set; their numbers differ.")
    tests, differences_of = [], list[Array]()
    for title, method, references in questions:
        names = [references] if isinstance(references, str) else list(references)
        whole = [name for name in names if np.isfinite(values[name]).all()] or names[:1]
        best = _best_ranked(whole, values)
        differences = (values[method] - values[best]).round(DIGITS)
        differences = differences[np.isfinite(differences)]
        p_value = float(np.minimum(1, len(whole) * signed_rank_p_value(differences)))
        signs = [int((np.sign(differences) == sign).sum()) for sign in (1, -1, 0)]
        mean = float(differences.mean()) if len(differences) else math.nan
        shape = title, method, best, len(whole), len(differences)
        tests.append((*shape, *signs, mean, _favored(differences), p_value))
        differences_of.append(differences)
    columns = ["question", "method", "reference", "choices", "data_sets", "better", "worse"]
    columns += ["equal", "difference", "sign", "p_value"]
    table = pd.DataFrame(tests, columns=columns)
    table["p_holm"], levels = holm_levels(table["p_value"], alpha, table["choices"])
    estimates = map(signed_rank_interval, differences_of, np.nan_to_num(levels, nan=1 - alpha))
    parts = [attrs.astuple(estimate) for estimate in estimates]
    table[["median", "low", "high", "level"]] = np.reshape(parts, (-1, 4))
    return table


def _best_ranked(names: Sequence[str], values: Mapping[str, Array]) -> str:
    """Return the method with the best average rank among those of these names."""
    table = np.column_stack([values[name] for name in names])
    if len(names) == 1 or not np.isfinite(table).all():
        return names[0]
    return names[int(np.argmin(average_ranks(table)))]


def _favored(differences: Array) -> int:
    """Return the sign of the sum of signed ranks."""
    ranks = stats.rankdata(np.abs(differences))
    return int(np.sign(np.round(np.sum(np.sign(differences) * ranks), DIGITS)))


def enough_data_sets(n_questions: int, alpha: float = 0.05) -> int:
    """Return the fewest data sets with which a question can have a corrected p below ``alpha``.

    The smallest p value of n data sets is 2/2ⁿ, and Holm's correction multiplies the smallest one
    by the number of questions.

    Examples
    --------
    >>> enough_data_sets(1), enough_data_sets(6)
    (6, 8)
    """
    return int(np.floor(np.log2(2 * max(1, n_questions) / alpha))) + 1


def verdict_of_datasets(tests: pd.DataFrame, score: Score = ACCURACY, alpha: float = 0.05) -> str:
    """Return the results of :func:`planned_tests_of_datasets`, a sentence and line per question.

    Parameters
    ----------
    tests : pandas.DataFrame
        What :func:`planned_tests_of_datasets` returns.
    score : Score, default=that of accuracies
        The score that was tested. The sentence has no difference of errors, because their
        units may differ between data sets.
    alpha : float, default=0.05
        The level of the tests.

    Returns
    -------
    str
        A line for each question. With fewer than six data sets there is no test, and a line says
        so.

    Examples
    --------
    >>> scores = {"dimkl5": [0.92, 0.83, 0.74, 0.95, 0.66, 0.87], "uniform": [0.9, 0.8, 0.7] * 2}
    >>> scores["uniform"][3:] = [0.9, 0.6, 0.8]
    >>> tests = planned_tests_of_datasets(scores, [("Learned weights", "dimkl5", "uniform")])
    >>> print(verdict_of_datasets(tests))  # doctest: +NORMALIZE_WHITESPACE
    Learned weights: dimkl5 is better than uniform over 6 data sets: better on 6 and worse on 0,
    with a median difference of 4.5 points (95 % CI 2.0 to 7.0; p = 0.031).
    """
    if len(tests) == 0:
        return "There are no two methods to compare."
    most = int(tests["data_sets"].max())
    if most < FEW_DATASETS:
        return (
            f"No test over {counted(most, 'data set')}: with fewer than {FEW_DATASETS}, p is above"
            " 0.05 even if one method is better on all of them (Wilcoxon's signed-rank test)."
        )
    unit = Unit.of_differences(score)
    return "\n".join(
        f"{test['question']}: {_answer(test, unit, alpha)}." for test in tests.to_dict("records")
    )


def _answer(test: Mapping[Any, Any], unit: Unit, alpha: float) -> str:
    method, reference = test["method"], test["reference"]
    if test["choices"] > 1:
        reference += f" (the best of {test['choices']})"
    if math.isnan(test["p_holm"]):
        sets = counted(test["data_sets"], "data set")
        return f"{method} and {reference} are not compared, because only {sets} have both scores"
    counts = f"better on {test['better']} and worse on {test['worse']}"
    by, span = "", ""
    if unit.scale == 100:
        by = f", with a median difference of {unit.negative(test['median'])}{unit.word}"
        span = _span(test, unit)
    p_value = f"{span}p = {numbers.p_value(test['p_holm'])}".replace("= <", "< ")
    sets = counted(test["data_sets"], "data set")
    outcome = outcome_of_datasets(test, alpha)
    if outcome == INCONCLUSIVE:
        return f"{INCONCLUSIVE} over {sets}: {method} is {counts} than {reference}{by} ({p_value})"
    is_so = f"{method} is {outcome} than {reference} over {sets}"
    return f"{is_so}: {counts}{by} ({p_value})"


def _span(test: Mapping[Any, Any], unit: Unit) -> str:
    """Return the interval before a p value, empty if there is none."""
    if math.isnan(test["low"]):
        return ""
    return f"{interval(test['low'], test['high'], unit.negative, test['level'])}; "


def outcome_of_datasets(test: Mapping[Any, Any], alpha: float = 0.05) -> str:
    """Return the outcome of a planned test over data sets in a word; empty if there was no test."""
    if math.isnan(test["p_holm"]):
        return ""
    if test["p_holm"] < alpha and test["sign"]:
        return "better" if test["sign"] > 0 else "worse"
    return INCONCLUSIVE
