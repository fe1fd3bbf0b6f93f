"""Tests of classifiers on several data sets by ranks: Friedman's, Nemenyi's, Bayesian signed ranks.

J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
Learning Research 7, 2006, section 3.2. A. Benavoli, G. Corani, J. Demšar and M. Zaffalon, "Time for
a change", Journal of Machine Learning Research 18, 2017, section 4.2.

Tables of scores have a row per data set and a column per method, at least two; larger is better.
Other tables, and numbers that are not finite or out of range, raise a ``DataError``.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mklkit.errors import DataError, plain_message
from mklkit.evaluation.equivalence import MARGIN
from mklkit.numerics.sampling import own_stream
from mklkit.protocols import Array

DIGITS = 12
"""Scores and their differences that are equal to so many decimals differ by rounding alone."""
PRIOR_STRENGTH = 0.5
BLOCK = 1_000_000
"""The number of weights of data sets to draw at a time."""


@attrs.frozen
class FriedmanTest:
    """The result of a test that all methods have the same average rank.

    Parameters
    ----------
    chi_square : float
        Friedman's statistic, with k − 1 degrees of freedom for k methods.
    f_statistic : float
        Iman and Davenport's, with k − 1 and (k − 1)(n − 1) degrees of freedom for n data sets;
        infinite if all data sets rank the methods in the same order.
    p_value : float
        That of the F statistic, the one to use. NaN for a single data set.

    See Also
    --------
    friedman_test : The test.

    Examples
    --------
    >>> friedman_test([[0.9, 0.8], [0.7, 0.6]]).f_statistic
    inf
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
        The ranks, between 1 and k.

    Raises
    ------
    DataError
        If it is not a table of two or more methods, or a score is not finite.

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
    """Test whether some methods rank better, by Friedman's test with Iman and Davenport's F.

    χ² = 12n/(k(k+1))·(Σ R² − k(k+1)²/4) and F = (n−1)χ²/(n(k−1) − χ²) of average ranks R. As in
    Demšar 2006, χ² is not corrected for ties, so ties make the test more conservative.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, k)
        One column per method; larger is better.

    Returns
    -------
    FriedmanTest
        Both statistics and the p value.

    Raises
    ------
    DataError
        If it is not a table of two or more methods, or a score is not finite.

    See Also
    --------
    critical_difference : The test of pairs of methods.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7 (2006), 1–30.

    Examples
    --------
    >>> test = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]])
    >>> test.chi_square, round(test.p_value, 4)
    (6.5, 0.0066)
    """
    ranks = average_ranks(scores)
    n_datasets, k = np.shape(scores)
    # SciPy's test increases the statistic for ties; Demšar's does not.
    chi_square = 12 * n_datasets / (k * (k + 1)) * float(np.square(ranks - (k + 1) / 2).sum())
    if n_datasets < 2:
        return FriedmanTest(chi_square, float("nan"), float("nan"))
    # Zero, up to rounding, if all data sets agree.
    rest = n_datasets * (k - 1) - chi_square
    agree = rest <= 1e-9 * chi_square
    f_statistic = float("inf") if agree else (n_datasets - 1) * chi_square / rest
    p_value = float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n_datasets - 1)))
    return FriedmanTest(chi_square, f_statistic, p_value)


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the difference of average ranks that Nemenyi's test finds significant.

    q·√(k(k+1)/(6n)) for k methods on n data sets, where q is the quantile of the studentised range
    divided by √2 (Demšar 2006, Table 5a). It holds for all pairs together.

    Parameters
    ----------
    n_methods : int
        At least two.
    n_datasets : int
        At least one.
    alpha : float, default=0.05
        The probability of finding any difference if there is none, between 0 and 1.

    Returns
    -------
    float
        The difference.

    Raises
    ------
    DataError
        If a number is out of range.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7 (2006), 1–30.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    if n_methods < 2 or n_datasets < 1 or not 0 < alpha < 1:
        raise DataError(
            "A critical difference needs two methods, a data set and an alpha between 0 and 1; got"
            f" {n_methods!r}, {n_datasets!r} and {alpha!r}."
        )
    quantile = stats.studentized_range.isf(alpha, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def nemenyi_p_values(ranks: ArrayLike, n_datasets: int) -> Array:
    """Return the p values of Nemenyi's test of all pairs of methods.

    A pair whose average ranks differ by :func:`critical_difference` at level α has p value α; the
    values are already adjusted for the number of pairs (Demšar 2006, section 3.2.2).

    Parameters
    ----------
    ranks : array-like of shape (k,)
        Average ranks of two or more methods.
    n_datasets : int
        The number of data sets.

    Returns
    -------
    ndarray of shape (k, k)
        Symmetric, with 1 on the diagonal.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7 (2006), 1–30.

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

    These are the bars of a critical-difference diagram; groups may overlap.

    Parameters
    ----------
    ranks : array-like of shape (k,)
        Average ranks.
    difference : float
        The value of :func:`critical_difference`.

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
    # A group that ends where an earlier one does is contained in it.
    _, starts = np.unique(ends, return_index=True)
    groups = [tuple(order[start : ends[start]].tolist()) for start in starts]
    return [group for group in groups if len(group) > 1]


@attrs.frozen
class RopeProbabilities:
    """The probability that each of three outcomes is the likeliest on another data set.

    The outcomes are that the difference of the scores lies below, in or above the region of
    practical equivalence. A value of 0.9 means that the outcome is the likeliest of the three with
    probability 0.9, not that it happens on nine of ten data sets. The values sum to 1.

    Parameters
    ----------
    worse : float
        The probability of a difference below the region.
    equivalent : float
        The probability of a difference in the region.
    better : float
        The probability of a difference above the region.

    See Also
    --------
    bayesian_signed_rank : The test.

    Examples
    --------
    >>> bayesian_signed_rank([0.0, 0.0, 0.0])
    RopeProbabilities(worse=0.0, equivalent=1.0, better=0.0)
    """

    worse: float
    equivalent: float
    better: float


def bayesian_signed_rank(
    differences: ArrayLike, rope: float = MARGIN, n_samples: int = 50_000, seed: int = 0
) -> RopeProbabilities:
    """Compare two methods on several data sets by the Bayesian signed-rank test.

    The data sets have Dirichlet weights w, one each and 0.5 for a prior observation of difference
    0. Pairs of data sets are split into three parts by the mean of their differences: below −rope,
    within ±rope, or above rope; the size of a part is its sum of w_i·w_j. The probability of a part
    is that of being the largest, over weights drawn by Monte Carlo (Benavoli et al. 2017, section
    4.2).

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        The mean score of one method minus that of the other, per data set.
    rope : float, default=0.02
        Half the width of the region of practical equivalence, in the unit of the scores: 0.02 is
        two points of accuracy as a share. To compare errors, divide the differences by the
        :func:`mklkit.evaluation.equivalence_margin` of each data set, and take 1. With 0, only
        equal scores are equivalent.
    n_samples : int, default=50000
        The number of draws; probabilities are accurate to about ``0.5 / sqrt(n_samples)``.
    seed : int, default=0
        The seed of the draws.

    Returns
    -------
    RopeProbabilities
        For the first method.

    Raises
    ------
    DataError
        If differences are missing or not finite, or ``rope`` or ``n_samples`` is out of range.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demšar and M. Zaffalon, "Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis", Journal of Machine Learning
       Research 18 (2017), 1–36.

    Examples
    --------
    >>> outcome = bayesian_signed_rank([0.06, 0.04, 0.1, 0.08, 0.002, 0.06])
    >>> outcome.better > 0.9, outcome.worse
    (True, 0.0)
    """
    values = np.asarray(differences, dtype=float)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise DataError("Expected one finite difference per data set, and at least one data set.")
    if not rope >= 0 or n_samples < 1:
        raise DataError(
            f"rope must be at least 0 and n_samples at least 1; got {rope!r} and {n_samples!r}."
        )
    observed = np.append(0.0, values)
    strengths = np.append(PRIOR_STRENGTH, np.ones(len(values)))
    # Rounded, so that 0.92 − 0.9 does not exceed 0.02.
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
            "Expected scores of two or more methods (columns) on data sets (rows), got an array"
            f" of shape {table.shape}."
        )
    if len(missing := np.argwhere(~np.isfinite(table))):
        row, column = missing[0]
        raise DataError(
            f"The score of method {column} on data set {row}, counted from 0, is"
            f" {table[row, column]}. Ranks need all scores: leave out this data set or method."
        )
    return table
