"""Tests of classifiers on several data sets by ranks: Friedman's, Nemenyi's, Bayesian signed ranks.

J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
Learning Research 7, 2006, section 3.2. A. Benavoli, G. Corani, J. Demšar and M. Zaffalon, "Time for
a change", Journal of Machine Learning Research 18, 2017, section 4.2.

Tables of scores have a row per data set and a column per method, two at least; larger is better.
A ``DataError`` is raised for other tables, numbers that are not finite, or out of their range.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mklkit.errors import DataError, plain_message
from mklkit.numerics.sampling import own_stream
from mklkit.protocols import Array

DIGITS = 12
"""Scores equal to so many digits are ties: means in another order differ by rounding."""
PRIOR_STRENGTH = 0.5
BLOCK = 1_000_000
"""Weights of data sets that are drawn at once."""


@attrs.frozen
class FriedmanTest:
    """A test that all methods have the same average rank.

    Attributes
    ----------
    chi_square : float
        Friedman's statistic, with k − 1 degrees of freedom for k methods.
    f_statistic : float
        Iman and Davenport's, with k − 1 and (k − 1)(n − 1) degrees of freedom for n data sets;
        infinite if all data sets rank the methods alike.
    p_value : float
        Of the F statistic: the one to use. NaN for a single data set.
    """

    chi_square: float
    f_statistic: float
    p_value: float


def average_ranks(scores: ArrayLike) -> Array:
    """Return the average rank of each method, 1 for the best.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, k)
        One column per method; larger is better. Ties, to 12 digits of a data set's largest score,
        get the mean of their ranks.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.7], [0.6, 0.8, 0.6]])
    array([1.75, 1.5 , 2.75])
    """
    table = _table(scores)
    largest = np.abs(table).max(axis=1, keepdims=True)
    shares = table / np.where(largest > 0, largest, 1)
    ranks: Array = stats.rankdata(-np.round(shares, DIGITS), axis=1).mean(axis=0)
    return ranks


def friedman_test(scores: ArrayLike) -> FriedmanTest:
    """Test whether some methods rank better than others, by Friedman with Iman and Davenport.

    χ² = 12n/(k(k+1))·(Σ R² − k(k+1)²/4) and F = (n−1)χ²/(n(k−1) − χ²) of average ranks R. As in
    Demšar (2006), χ² is not increased for ties, so that ties make the test more cautious.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, k)

    Examples
    --------
    >>> test = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]])
    >>> test.chi_square, round(test.p_value, 4)
    (6.5, 0.0066)
    """
    ranks = average_ranks(scores)
    n_datasets, k = np.shape(scores)
    # SciPy's test increases the statistic for ties, which that of Demšar does not.
    chi_square = 12 * n_datasets / (k * (k + 1)) * float(np.square(ranks - (k + 1) / 2).sum())
    if n_datasets < 2:
        return FriedmanTest(chi_square, float("nan"), float("nan"))
    # Zero if all data sets agree, but for rounding.
    rest = n_datasets * (k - 1) - chi_square
    agree = rest <= 1e-9 * chi_square
    f_statistic = float("inf") if agree else (n_datasets - 1) * chi_square / rest
    p_value = float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n_datasets - 1)))
    return FriedmanTest(chi_square, f_statistic, p_value)


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the difference from which on two average ranks differ by Nemenyi's test.

    q·√(k(k+1)/(6n)) for k methods on n data sets, where q is the quantile of the studentised range
    divided by √2 (Demšar 2006, Table 5a). It holds for all pairs together.

    Parameters
    ----------
    n_methods : int
        From two on.
    n_datasets : int
    alpha : float, default=0.05
        The probability of finding any difference where there is none, between 0 and 1.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    if n_methods < 2 or n_datasets < 1 or not 0 < alpha < 1:
        raise DataError(
            "A critical difference needs two methods, a data set and an alpha between 0 and 1, not"
            f" {n_methods!r}, {n_datasets!r} and {alpha!r}."
        )
    quantile = stats.studentized_range.isf(alpha, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def nemenyi_p_values(ranks: ArrayLike, n_datasets: int) -> Array:
    """Return the p values of Nemenyi's test of all pairs of methods.

    That of a pair whose average ranks differ by :func:`critical_difference` at level α is α; the
    values are adjusted for the number of pairs already (Demšar 2006, section 3.2.2).

    Parameters
    ----------
    ranks : array-like of shape (k,)
        Average ranks of two or more methods.
    n_datasets : int

    Returns
    -------
    ndarray of shape (k, k)
        Symmetric, with 1 on the diagonal.

    Examples
    --------
    >>> apart = critical_difference(3, 10, alpha=0.05)
    >>> round(float(nemenyi_p_values([1.0, 2.5, 1.0 + apart], 10)[0, 2]), 6)
    0.05
    """
    values = np.asarray(ranks, dtype=float)
    k = len(values)
    unit = np.sqrt(k * (k + 1) / (6 * n_datasets)) / np.sqrt(2)
    differences, where = np.unique(np.abs(np.subtract.outer(values, values)), return_inverse=True)
    p_values = stats.studentized_range.sf(differences / unit, k, np.inf)
    return np.asarray(p_values[where.reshape(k, k)], dtype=float)


def indistinguishable(ranks: ArrayLike, difference: float) -> list[tuple[int, ...]]:
    """Return the largest groups of methods whose ranks differ by less than the difference.

    They are what the bars of a critical-difference diagram join; groups may overlap.

    Parameters
    ----------
    ranks : array-like of shape (k,)
    difference : float
        As :func:`critical_difference` gives it.

    Returns
    -------
    list of tuple of int
        Groups of two or more positions in ``ranks``, the best rank first; groups by their best.

    Examples
    --------
    >>> indistinguishable([3.0, 1.0, 2.0, 5.0], 1.5)
    [(1, 2), (2, 0)]
    """
    values = np.asarray(ranks, dtype=float)
    order = np.argsort(values, kind="stable")
    ends = np.searchsorted(values[order], values[order] + difference, side="left")
    # A group that ends where an earlier one does is a part of it.
    _, starts = np.unique(ends, return_index=True)
    groups = [tuple(order[start : ends[start]].tolist()) for start in starts]
    return [group for group in groups if len(group) > 1]


@attrs.frozen
class RopeProbabilities:
    """How probable each of three outcomes is to be the likeliest on a further data set.

    The outcomes are that the difference of the scores lies below, in or above the region of
    practical equivalence. A value of 0.9 says that the outcome is the likeliest of the three with
    probability 0.9, not that it happens on nine of ten data sets. The values add up to 1.

    Attributes
    ----------
    worse, equivalent, better : float
    """

    worse: float
    equivalent: float
    better: float


def bayesian_signed_rank(
    differences: ArrayLike, rope: float = 0.01, n_samples: int = 50_000, seed: int = 0
) -> RopeProbabilities:
    """Compare two methods on several data sets by the Bayesian signed-rank test.

    The data sets have Dirichlet weights w, one each and 0.5 for a prior observation of difference
    0. Pairs of data sets are divided by the mean of their differences, below −rope, within, or
    above rope, and each part has as its size the sum of w_i·w_j. A part's probability is that of
    being the largest, over weights drawn by Monte Carlo.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        Per data set the mean score of one method less that of the other.
    rope : float, default=0.01
        Half the width of the region of practical equivalence, in the unit of the scores: 0.01 is
        one point of accuracy as a share. With 0, only equal scores are equivalent.
    n_samples : int, default=50000
        Probabilities are accurate to about ``0.5 / sqrt(n_samples)``.
    seed : int, default=0

    Returns
    -------
    RopeProbabilities
        Of the first method.

    Examples
    --------
    >>> outcome = bayesian_signed_rank([0.03, 0.02, 0.05, 0.04, 0.001, 0.03])
    >>> outcome.better > 0.9, outcome.worse
    (True, 0.0)
    """
    values = np.asarray(differences, dtype=float)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise DataError("One finite difference for each of one or more data sets is expected.")
    if not rope >= 0 or n_samples < 1:
        raise DataError(
            f"rope is at least 0 and n_samples at least 1, not {rope!r} and {n_samples!r}."
        )
    observed = np.append(0.0, values)
    strengths = np.append(PRIOR_STRENGTH, np.ones(len(values)))
    # Rounded, lest 0.92 − 0.91 exceeds 0.01.
    sums = np.round(observed[:, None] + observed, DIGITS)
    above = (sums > round(2 * rope, DIGITS)).astype(float)
    below = (sums < -round(2 * rope, DIGITS)).astype(float)
    stream = own_stream(seed)
    block = max(1, BLOCK // len(observed))
    wins = np.zeros(3, dtype=int)
    for start in range(0, n_samples, block):
        weights = stream.dirichlet(strengths, min(block, n_samples - start))
        worse, better = (((weights @ part) * weights).sum(axis=1) for part in (below, above))
        sizes = np.column_stack([worse, 1 - worse - better, better])
        wins += np.bincount(sizes.argmax(axis=1), minlength=3)
    return RopeProbabilities(*(wins / n_samples).tolist())


def _table(scores: ArrayLike) -> Array:
    try:
        table = np.asarray(scores, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"Scores must be a table of numbers: {plain_message(error)}") from None
    if table.ndim != 2 or len(table) == 0 or table.shape[1] < 2:
        raise DataError(
            "Scores of two or more methods (columns) on data sets (rows) are expected, not an array"
            f" of shape {table.shape}."
        )
    if len(missing := np.argwhere(~np.isfinite(table))):
        row, column = missing[0]
        raise DataError(
            f"The score of method {column} on data set {row}, counted from 0, is"
            f" {table[row, column]}. Ranks need all scores: leave out this data set or method."
        )
    return table
