"""Tests of several classifiers on several data sets by their ranks (Demšar 2006).

J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
Learning Research 7, 2006, section 3.2.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from mklkit.errors import DataError, plain_message

__all__ = [
    "FriedmanTest",
    "average_ranks",
    "critical_difference",
    "friedman_test",
    "indistinguishable",
    "nemenyi_p_values",
]

Array = NDArray[np.float64]

DIGITS = 12
"""Scores equal to so many digits are ties: means in another order differ by rounding."""


@attrs.frozen
class FriedmanTest:
    """A test that all methods have the same average rank.

    Attributes
    ----------
    chi_square : float
        Friedman's statistic, with k − 1 degrees of freedom for k methods.
    p_chi_square : float
        Its p value, which is too large (Iman and Davenport 1980).
    f_statistic : float
        Iman and Davenport's, with k − 1 and (k − 1)(n − 1) degrees of freedom for n data sets;
        infinite if all data sets rank the methods alike.
    p_value : float
        Of the F statistic: the one to use. NaN for a single data set.
    """

    chi_square: float
    p_chi_square: float
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

    Raises
    ------
    DataError
        If the scores are no such table, or not all finite.

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
        One column per method, at least two; larger is better.

    Raises
    ------
    DataError
        If the scores are no such table, or not all finite.

    Examples
    --------
    >>> found = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]])
    >>> found.chi_square, round(found.p_value, 4)
    (6.5, 0.0066)
    """
    ranks = average_ranks(scores)
    n_datasets, k = len(_table(scores)), len(ranks)
    spread = float(np.square(ranks - (k + 1) / 2).sum())
    chi_square = 12 * n_datasets / (k * (k + 1)) * spread
    p_chi_square = float(stats.chi2.sf(chi_square, k - 1))
    # Zero if all data sets agree, but for rounding.
    rest = n_datasets * (k - 1) - chi_square
    if rest <= 1e-9 * chi_square:
        f_statistic = float("inf")
    else:
        f_statistic = (n_datasets - 1) * chi_square / rest
    if n_datasets < 2:
        return FriedmanTest(chi_square, p_chi_square, float("nan"), float("nan"))
    p_value = float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n_datasets - 1)))
    return FriedmanTest(chi_square, p_chi_square, f_statistic, p_value)


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

    Raises
    ------
    DataError
        If a number is out of its range.

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

    They are what the bars of a critical-difference diagram join. Groups overlap: of three methods
    the first and last may differ while the second differs from neither.

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
    groups = []
    covered = 0
    for start, end in enumerate(ends):
        # A group that ends where an earlier one does is a part of it.
        if end - start > 1 and end > covered:
            groups.append(tuple(int(place) for place in order[start:end]))
            covered = int(end)
    return groups


def _table(scores: ArrayLike) -> Array:
    try:
        table = np.asarray(scores, dtype=float)
    except (TypeError, ValueError) as error:
        why = plain_message(error).rstrip(".")
        raise DataError(
            f"Scores must be a table of numbers, as many for each data set: {why}."
        ) from None
    if table.ndim != 2 or len(table) == 0 or table.shape[1] < 2:
        raise DataError(
            "Scores of two or more methods (columns) on data sets (rows) are expected, not an array"
            f" of shape {table.shape}."
        )
    missing = np.argwhere(~np.isfinite(table))
    if len(missing):
        row, column = missing[0]
        raise DataError(
            f"The score of method {column} on data set {row}, counted from 0, is"
            f" {table[row, column]}. Ranks need all scores: leave out this data set or method."
        )
    return table
