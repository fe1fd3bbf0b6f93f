"""One sentence on the outcome of a comparison, which claims no more than the scores show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mklkit.errors import DataError, counted
from mklkit.evaluation.paired_tests import corrected_t_test, holm, least_difference
from mklkit.evaluation.rank_tests import average_ranks, critical_difference, friedman_test
from mklkit.protocols import Array

NAMES_SHOWN = 3
"""Methods of a group that are named; the others are counted."""
FEW_SPLITS = 5
"""With fewer splits, nothing is said of how large a difference they can tell."""
LARGE = 0.2
"""Nor is it where a difference must be larger than this for the splits to tell it."""
LEAST = 0.001
"""The smallest difference that is written, a tenth of a point."""
FEW_DATASETS = 5
"""Below so many data sets, tests of ranks are not made."""
DIGITS = 12
"""Differences of scores are rounded so: equal means differ by rounding."""


def verdict(
    results: Mapping[str, tuple[float, ArrayLike]],
    n_train: ArrayLike,
    n_test: ArrayLike,
    alpha: float = 0.05,
) -> str:
    """Return a sentence on which methods are worse than the best on one data set.

    Each method is compared with that of the largest mean by the corrected resampled t-test, with
    Holm's correction for the number of methods; p values in the sentence are the adjusted ones.
    What is not found to be worse is called "not distinguishable", with the smallest difference that
    would have been found; of several methods, the median of theirs. With fewer than five splits, or
    if only differences above 20 points would have been found, it says instead that so few splits
    cannot tell. It is not shown to be equal. That the best is chosen by the same scores makes its
    lead look somewhat larger than it is.

    Parameters
    ----------
    results : mapping of str to (mean, scores)
        Per method its mean score and its scores per split (J,), the same splits for all. Scores
        are shares from 0 to 1 such as accuracy, larger is better; a point is a hundredth.
    n_train, n_test : int or array-like of shape (J,)
        Rows trained on and scored.
    alpha : float, default=0.05
        The adjusted p value below which a method is worse.

    Returns
    -------
    str
        One sentence. Methods without a finite score in each split are named as not compared.

    Raises
    ------
    DataError
        If there is no method, or numbers of splits or rows do not fit.

    Examples
    --------
    >>> verdict(
    ...     {
    ...         "dimkl5": (0.95, [0.94, 0.96, 0.95, 0.95, 0.95]),
    ...         "uniform": (0.946, [0.94, 0.95, 0.96, 0.94, 0.94]),
    ...         "knn": (0.85, [0.84, 0.86, 0.86, 0.84, 0.85]),
    ...     },
    ...     n_train=300,
    ...     n_test=100,
    ... )  # doctest: +NORMALIZE_WHITESPACE
    'dimkl5 has the highest mean; uniform is not distinguishable from it (0.4 points lower, but
    with these 5 splits differences below 1.8 points can be missed); knn is worse by 10.0 points
    (p < 0.001).'
    """
    means = {name: float(mean) for name, (mean, _) in results.items()}
    scores = {name: np.asarray(values, dtype=float) for name, (_, values) in results.items()}
    shapes = {values.shape for values in scores.values()}
    if len(shapes) != 1 or len(shape := next(iter(shapes))) != 1 or shape[0] == 0:
        raise DataError(
            "Every method needs one score per split, of the same splits; the shapes were"
            f" {sorted(shapes)}."
        )
    whole = [name for name in means if np.isfinite([means[name], *scores[name]]).all()]
    if len(whole) < 2:
        clauses = ["there are no two methods to compare"]
    elif shape[0] == 1:
        clauses = [
            f"{max(whole, key=means.__getitem__)} has the highest score, but one split cannot tell"
            " how much of the differences is chance"
        ]
    else:
        leads = {name: round(means[name], DIGITS) for name in whole}
        clauses = _tested(leads, scores, n_train, n_test, alpha)
    if missing := [name for name in means if name not in whole]:
        clauses.append(f"{_are(missing)} not compared, as some of the scores are missing")
    return _sentence(clauses)


def verdict_of_datasets(scores: ArrayLike, names: Sequence[str], alpha: float = 0.05) -> str:
    """Return a sentence on which methods rank worse than the best on several data sets.

    Friedman's test with Iman and Davenport's statistic, and if it finds differences Nemenyi's
    (Demšar 2006). They use the ranks only, not by how much the scores differ. With fewer than five
    data sets no test is made.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, k)
        One mean score per data set and method; larger is better.
    names : sequence of k str
    alpha : float, default=0.05

    Raises
    ------
    DataError
        If the scores are no such table or not all finite, or the names do not fit.

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
    lead = f"{names[best]} has the best average rank, {ranks[best]:.2f}"
    if n_datasets < FEW_DATASETS:
        sets = counted(n_datasets, "data set")
        return _sentence([f"{lead}, but {sets} cannot tell how much of the differences is chance"])
    p_value = friedman_test(scores).p_value
    difference = critical_difference(k, n_datasets, alpha)
    if not p_value < alpha:
        return _sentence(
            [
                f"the {k} methods are not distinguishable on {n_datasets} data sets (Friedman,"
                f" {_p(p_value)}); {lead}, where ranks would have to differ by {difference:.2f}"
            ]
        )
    near: list[str] = []
    worse: list[str] = []
    for rival in rivals:
        group = near if ranks[rival] - ranks[best] < difference else worse
        group.append(f"{names[rival]} (rank {ranks[rival]:.2f})")
    clauses = [f"the methods differ on {n_datasets} data sets (Friedman, {_p(p_value)})", lead]
    limit = f", as the critical difference of ranks is {difference:.2f}"
    if near:
        clauses.append(f"{_are(near)} not distinguishable from it{limit}")
    if worse:
        clauses.append(f"{_are(worse)} worse{'' if near else limit}")
    return _sentence(clauses)


def _tested(
    means: Mapping[str, float],
    scores: Mapping[str, Array],
    n_train: ArrayLike,
    n_test: ArrayLike,
    alpha: float,
) -> list[str]:
    """Return the clauses on what two or more splits show of all methods beside the best."""
    best = max(means, key=means.__getitem__)
    rivals = sorted((name for name in means if name != best), key=lambda name: -means[name])
    leads = {name: round(means[best] - means[name], DIGITS) for name in rivals}
    differences = {name: np.round(scores[best] - scores[name], DIGITS) for name in rivals}
    tests = [corrected_t_test(differences[name], n_train, n_test).p_value for name in rivals]
    p_values = dict(zip(rivals, holm(tests).tolist(), strict=True))
    near: list[str] = []
    worse: list[str] = []
    for name in rivals:
        # Weights of the splits can make the mean lower where that of the differences is not.
        is_lower = leads[name] > 0 and differences[name].mean() > 0
        (worse if p_values[name] < alpha and is_lower else near).append(name)
    behind = ""
    if worse:
        first, last = (f"{100 * leads[name]:.1f}" for name in (worse[0], worse[-1]))
        largest = _p(max(p_values[name] for name in worse), at_most=len(worse) > 1)
        behind = f"by {first if first == last else f'{first} to {last}'} points ({largest})"
    if not near:
        return [f"{best} is better than {_joined(worse)} {behind}"]
    clause = f"{_joined(near)} {'has' if len(near) == 1 else 'have'} the same scores"
    if differing := [differences[name] for name in near if differences[name].any()]:
        # Holm's step for as many methods as are left. One that never differs has no such limit.
        step = alpha / len(near)
        limits = [least_difference(values, n_train, n_test, step) for values in differing]
        lead = f"{100 * leads[near[-1]]:.1f} points"
        distance = f"{lead} lower" if len(near) == 1 else f"within {lead} of it"
        missed = _missed(limits, len(scores[best]))
        clause = f"{_are(near)} not distinguishable from it ({distance}, but {missed})"
    clauses = [f"{best} has the highest mean", clause]
    return [*clauses, f"{_are(worse)} worse {behind}"] if worse else clauses


def _missed(limits: list[float], n_splits: int) -> str:
    """Return how large differences can be missed, where the splits can tell any."""
    typical = max(float(np.median(limits)), LEAST)
    if n_splits < FEW_SPLITS or typical > LARGE:
        return f"{n_splits} splits are too few to tell whether that is chance"
    points = f"{'about ' if len(limits) > 1 else ''}{100 * typical:.1f} points"
    return f"with these {n_splits} splits differences below {points} can be missed"


def _p(p_value: float, at_most: bool = False) -> str:
    """Return a p value with two digits; rounded up where it bounds others."""
    if p_value < 0.001:
        return "p < 0.001"
    return f"p ≤ {math.ceil(p_value * 1000) / 1000:g}" if at_most else f"p = {p_value:.2g}"


def _joined(names: Sequence[str]) -> str:
    """Return ``"a"``, ``"a and b"`` or ``"a, b, c and 4 others"``."""
    *parts, last = names[:NAMES_SHOWN]
    if len(names) > NAMES_SHOWN:
        parts, last = [*parts, last], counted(len(names) - NAMES_SHOWN, "other")
    return f"{', '.join(parts)} and {last}" if parts else last


def _are(names: Sequence[str]) -> str:
    return f"{_joined(names)} {'is' if len(names) == 1 else 'are'}"


def _sentence(clauses: list[str]) -> str:
    """Return clauses as one sentence; a method's name at its start keeps its case."""
    text = "; ".join(clauses)
    start = "T" + text[1:] if text.startswith(("the ", "there ")) else text
    return f"{start}."
