"""One sentence on the outcome of a comparison, which claims no more than the scores show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklkit.errors import DataError, counted
from mklkit.evaluation.paired_tests import corrected_t_test, holm, least_difference
from mklkit.evaluation.rank_tests import average_ranks, critical_difference, friedman_test

__all__ = ["verdict", "verdict_of_datasets"]

Array = NDArray[np.float64]

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


@attrs.frozen(eq=False)
class _Rival:
    """A method beside the best: by how much its mean is lower, adjusted p, differences (J,)."""

    name: str
    lead: float
    p_value: float
    differences: Array


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
    means, scores = _checked(results)
    complete = [n for n in means if np.isfinite([means[n], *scores[n]]).all()]
    missing = [name for name in means if name not in complete]
    notes = []
    if missing:
        notes = [
            f"{_joined(missing)} {_be(missing)} not compared, as some of the scores are missing"
        ]
    if len(complete) < 2:
        return _sentence(["there are no two methods to compare", *notes])
    best = max(complete, key=lambda name: round(means[name], DIGITS))
    if len(scores[best]) == 1:
        found = [
            f"{best} has the highest score, but one split cannot tell how much of the differences"
            " is chance"
        ]
    else:
        rivals = _rivals(best, {n: (means[n], scores[n]) for n in complete}, n_train, n_test)
        found = _found(best, rivals, n_train, n_test, alpha)
    return _sentence([*found, *notes])


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
    order = np.argsort(ranks, kind="stable")
    best = order[0]
    lead = f"{names[best]} has the best average rank, {ranks[best]:.2f}"
    if n_datasets < FEW_DATASETS:
        sets = counted(n_datasets, "data set")
        return _sentence([f"{lead}, but {sets} cannot tell how much of the differences is chance"])
    test = friedman_test(scores)
    difference = critical_difference(k, n_datasets, alpha)
    if not test.p_value < alpha:
        return _sentence(
            [
                f"the {k} methods are not distinguishable on {n_datasets} data sets (Friedman,"
                f" {_p(test.p_value)}); {lead}, where ranks would have to differ by"
                f" {difference:.2f}"
            ]
        )
    rivals = [(f"{names[i]} (rank {ranks[i]:.2f})", ranks[i] - ranks[best]) for i in order[1:]]
    near = [name for name, behind in rivals if behind < difference]
    worse = [name for name, behind in rivals if behind >= difference]
    found = [f"the methods differ on {n_datasets} data sets (Friedman, {_p(test.p_value)})", lead]
    limit = f"as the critical difference of ranks is {difference:.2f}"
    if near:
        found.append(f"{_joined(near)} {_be(near)} not distinguishable from it, {limit}")
    if worse:
        found.append(f"{_joined(worse)} {_be(worse)} worse{'' if near else ', ' + limit}")
    return _sentence(found)


def _checked(
    results: Mapping[str, tuple[float, ArrayLike]],
) -> tuple[dict[str, float], dict[str, Array]]:
    """Return means and scores (J,) by method."""
    means = {name: float(mean) for name, (mean, _) in results.items()}
    scores = {name: np.asarray(own, dtype=float) for name, (_, own) in results.items()}
    shapes = {own.shape for own in scores.values()}
    if len(shapes) != 1 or len(shape := shapes.pop()) != 1 or shape[0] == 0:
        raise DataError(
            "Every method needs one score per split, of the same splits; the shapes were"
            f" {sorted({own.shape for own in scores.values()})}."
        )
    return means, scores


def _rivals(
    best: str,
    results: Mapping[str, tuple[float, Array]],
    n_train: ArrayLike,
    n_test: ArrayLike,
) -> list[_Rival]:
    """Return all methods but the best, the nearest first."""
    highest, scores = results[best]
    others = [name for name in results if name != best]
    differences = [np.round(scores - results[name][1], DIGITS) for name in others]
    tests = [corrected_t_test(own, n_train, n_test) for own in differences]
    adjusted = holm([test.p_value for test in tests])
    leads = [round(highest - results[name][0], DIGITS) for name in others]
    rivals = [
        _Rival(name, lead, float(p_value), own)
        for name, lead, p_value, own in zip(others, leads, adjusted, differences, strict=True)
    ]
    return sorted(rivals, key=lambda rival: rival.lead)


def _found(
    best: str, rivals: list[_Rival], n_train: ArrayLike, n_test: ArrayLike, alpha: float
) -> list[str]:
    """Return the clauses on what two or more splits show."""
    # Weights of the splits can make the given mean lower where that of the differences is not.
    worse = [r for r in rivals if r.p_value < alpha and r.lead > 0 and r.differences.mean() > 0]
    near = [rival for rival in rivals if rival not in worse]
    behind = _joined([rival.name for rival in worse])
    if not near:
        return [f"{best} is better than {behind} {_by(worse)}"]
    found = [f"{best} has the highest mean", _near(near, n_train, n_test, alpha)]
    if worse:
        found.append(f"{behind} {_be(worse)} worse {_by(worse)}")
    return found


def _near(near: list[_Rival], n_train: ArrayLike, n_test: ArrayLike, alpha: float) -> str:
    """Return the clause on methods that the splits do not tell from the best."""
    names = _joined([rival.name for rival in near])
    if not any(rival.differences.any() for rival in near):
        return f"{names} {'has' if len(near) == 1 else 'have'} the same score as it in every split"
    n_splits = len(near[0].differences)
    # Holm's step for as many methods as are left. One that never differs has no such limit.
    step = alpha / len(near)
    differing = [rival.differences for rival in near if rival.differences.any()]
    limits = [least_difference(own, n_train, n_test, step) for own in differing]
    typical = max(float(np.median(limits)), LEAST)
    about = "about " if len(limits) > 1 else ""
    lead = f"{100 * near[-1].lead:.1f} points"
    distance = f"{lead} lower" if len(near) == 1 else f"within {lead} of it"
    if n_splits < FEW_SPLITS or typical > LARGE:
        but = f"{n_splits} splits are too few to tell whether that is chance"
    else:
        but = (
            f"with these {n_splits} splits differences below {about}{100 * typical:.1f} points can"
            " be missed"
        )
    return f"{names} {_be(near)} not distinguishable from it ({distance}, but {but})"


def _by(worse: list[_Rival]) -> str:
    """Return by how many points methods are worse, nearest first, with the largest p value."""
    first, last = (f"{100 * rival.lead:.1f}" for rival in (worse[0], worse[-1]))
    points = first if first == last else f"{first} to {last}"
    largest = max(rival.p_value for rival in worse)
    return f"by {points} points ({_p(largest, at_most=len(worse) > 1)})"


def _p(p_value: float, at_most: bool = False) -> str:
    """Return a p value with two digits; rounded up where it bounds others."""
    if p_value < 0.001:
        return "p < 0.001"
    if not at_most:
        return f"p = {p_value:.2g}"
    return f"p ≤ {math.ceil(p_value * 1000) / 1000:g}"


def _joined(names: Sequence[str]) -> str:
    """Return ``"a"``, ``"a and b"`` or ``"a, b, c and 4 others"``."""
    rest = len(names) - NAMES_SHOWN
    parts = list(names[:NAMES_SHOWN])
    if rest > 0:
        parts.append(counted(rest, "other"))
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _be(group: Sequence[object]) -> str:
    return "is" if len(group) == 1 else "are"


def _sentence(clauses: list[str]) -> str:
    """Return clauses as one sentence; a method's name at its start keeps its case."""
    text = "; ".join(clauses)
    start = "T" + text[1:] if text.startswith(("the ", "there ")) else text
    return f"{start}."
