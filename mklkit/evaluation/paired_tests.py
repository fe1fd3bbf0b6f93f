"""Tests of two classifiers on the same splits of one data set, and corrections of such tests.

For J splits, ``differences`` hold the score of one method minus that of the other, per split;
``n_train`` and ``n_test`` are the numbers of samples trained on and scored, one per split if sizes
differ. Results are NaN for a single split or values that are not finite; a ``DataError`` is raised
unless there is one value per split and the numbers of samples are positive.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from mklkit.errors import DataError
from mklkit.protocols import Array

EQUAL = 1e-12
"""Differences that vary by less than this share of the largest are equal up to rounding."""
SMALLEST_P = 1e-12
"""Smaller p values of intervals are not told apart."""


@attrs.frozen
class PairedTest:
    """The result of a two-sided test that the mean of differences is zero.

    Parameters
    ----------
    mean : float
        The mean of the differences.
    statistic : float
        Student's t with J − 1 degrees of freedom, for J splits.
    p_value : float
        NaN if the splits do not suffice for a test.

    See Also
    --------
    corrected_t_test : The test for splits of one data set.

    Examples
    --------
    >>> corrected_t_test([0.0, 0.0], n_train=100, n_test=50)
    PairedTest(mean=0.0, statistic=0.0, p_value=1.0)
    """

    mean: float
    statistic: float
    p_value: float


def paired_t_test(differences: ArrayLike) -> PairedTest:
    """Test paired differences by the ordinary t-test, as the papers do.

    It assumes independent splits. Splits of one data set share training samples, so it too often
    finds differences that do not exist; see :func:`corrected_t_test`.

    Parameters
    ----------
    differences : array-like of shape (J,)
        The score of one method minus that of the other, per split.

    Returns
    -------
    PairedTest
        If all differences are equal, p is 1 if they are zero and 0 if not.

    Raises
    ------
    DataError
        If there is not one number per split.

    See Also
    --------
    corrected_t_test : The test that takes the shared training samples into account.

    Examples
    --------
    >>> test = paired_t_test([0.01, 0.03, 0.02])
    >>> round(test.statistic, 3), round(test.p_value, 3)
    (3.464, 0.074)
    """
    values = _per_split(differences)
    return _t_test(values, 1 / len(values), _variance(values))


def corrected_t_test(differences: ArrayLike, n_train: ArrayLike, n_test: ArrayLike) -> PairedTest:
    """Test paired differences by the corrected resampled t-test (Nadeau and Bengio 2003).

    The variance of the mean is estimated as (1/J + n_test/n_train)·s², where s² is the variance of
    the differences: the second term accounts for the correlation of splits that share training
    samples.

    Parameters
    ----------
    differences : array-like of shape (J,)
        The score of one method minus that of the other, per split.
    n_train, n_test : int or array-like of shape (J,)
        The numbers of samples trained on and scored; if sizes differ, the mean of the ratios
        counts.

    Returns
    -------
    PairedTest
        As in :func:`paired_t_test`, except that equal differences other than zero get the variance
        of rounding to multiples of 1/n_test, 1/(12·n_test²), because a score of n_test samples is
        no more precise.

    Raises
    ------
    DataError
        If there is not one number per split, or a number of samples is not positive.

    See Also
    --------
    corrected_interval : The confidence interval by the same variance.
    holm : The correction for several tests.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52
       (2003), 239–281.

    Examples
    --------
    >>> test = corrected_t_test([0.01, 0.03, 0.02], n_train=100, n_test=50)
    >>> round(test.statistic, 3), round(test.p_value, 3)
    (2.191, 0.16)
    """
    values = _per_split(differences)
    variance = _variance(values, n_test)
    return _t_test(values, _corrected_factor(len(values), n_train, n_test), variance)


def corrected_interval(
    scores: ArrayLike, n_train: ArrayLike, n_test: ArrayLike, level: float = 0.95
) -> tuple[float, float]:
    """Return a confidence interval of the mean score, by the variance of :func:`corrected_t_test`.

    Parameters
    ----------
    scores : array-like of shape (J,)
        The score of each split.
    n_train, n_test : int or array-like of shape (J,)
        The numbers of samples trained on and scored.
    level : float, default=0.95
        The confidence, between 0 and 1.

    Returns
    -------
    low : float
        The lower limit; it may lie outside the range of the score.
    high : float
        The upper limit.

    Raises
    ------
    DataError
        If ``level`` is not between 0 and 1, there is not one number per split, or a number of
        samples is not positive.

    Examples
    --------
    >>> low, high = corrected_interval([0.90, 0.92, 0.94], n_train=100, n_test=50)
    >>> round(low, 3), round(high, 3)
    (0.841, 0.999)
    """
    if not 0 < level < 1:
        raise DataError(f"A confidence level lies between 0 and 1; got {level!r}.")
    values = _per_split(scores)
    half = least_difference(values, n_train, n_test, alpha=1 - level)
    mean = float(values.mean())
    return mean - half, mean + half


def least_difference(
    differences: ArrayLike, n_train: ArrayLike, n_test: ArrayLike, alpha: float = 0.05
) -> float:
    """Return the smallest mean that :func:`corrected_t_test` would find different from zero.

    Parameters
    ----------
    differences : array-like of shape (J,)
        Only their variation counts, not their mean.
    n_train, n_test : int or array-like of shape (J,)
        The numbers of samples trained on and scored.
    alpha : float, default=0.05
        The p value below which a difference counts as found.

    Returns
    -------
    float
        The difference, in the unit of the scores.

    Raises
    ------
    DataError
        If there is not one number per split, or a number of samples is not positive.

    Examples
    --------
    >>> round(least_difference([0.01, 0.03, 0.02], n_train=100, n_test=50), 3)
    0.039
    """
    values = _per_split(differences)
    error = np.sqrt(_corrected_factor(len(values), n_train, n_test) * _variance(values, n_test))
    return float(stats.t.isf(alpha / 2, len(values) - 1) * error)


def rule_of_three(n_units: float, level: float = 0.95, n_differ: float = 0.0) -> float:
    """Return by how much the share of units that differ may exceed that of n sampled units.

    If none of the sampled units differs, it is −ln(1 − ``level``)/n, at 95 % about 3/n (Hanley and
    Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249, 1983). If
    ``n_differ`` do, it is the upper limit of a Poisson mean less ``n_differ``, over n.

    Examples
    --------
    >>> round(rule_of_three(300), 4), round(rule_of_three(300, n_differ=1), 4)
    (0.01, 0.0125)
    """
    # The quantile of a gamma distribution. A p value asks for dozens, and stats.gamma is slow.
    limit = special.gammaincinv(n_differ + 1, level)
    return float((limit - n_differ) / n_units)


def holm(p_values: ArrayLike) -> Array:
    """Adjust the p values of several tests by Holm's step-down procedure (Holm 1979).

    The i-th smallest of m is multiplied by m − i + 1; none is adjusted to less than a smaller one,
    or to more than 1. The probability that any test with an adjusted value below α is a false
    positive is at most α.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        NaN marks a test that was not made: it stays NaN and does not count in m.

    Returns
    -------
    ndarray of shape (m,)
        The adjusted values, in the given order.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
       of Statistics 6 (1979), 65–70.

    Examples
    --------
    >>> [round(float(p), 3) for p in holm([0.01, float("nan"), 0.04, 0.03])]
    [0.03, nan, 0.06, 0.06]
    """
    adjusted = np.array(p_values, dtype=float)
    order = np.argsort(adjusted, kind="stable")[: np.count_nonzero(~np.isnan(adjusted))]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * adjusted[order]), 1)
    return adjusted


def holm_levels(
    p_values: ArrayLike, alpha: float = 0.05, choices: ArrayLike = 1
) -> tuple[Array, Array]:
    """Return the p values adjusted by :func:`holm`, and the level of each test's interval.

    An interval has the level at which Holm's procedure makes its test: of m tests, 1 − α/m for the
    smallest p value, 1 − α/(m − 1) for the next, and so on to the first that is not below α, whose
    level all later ones share. So it excludes 0 if and only if the adjusted p value is below α.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        NaN marks a test that was not made.
    alpha : float, default=0.05
        The level of the tests.
    choices : int or array-like of shape (m,), default=1
        By how many each p value was multiplied before, which its interval takes into account.

    Returns
    -------
    adjusted : ndarray of shape (m,)
        The adjusted p values.
    levels : ndarray of shape (m,)
        The level of each interval, NaN where there is no test.

    Examples
    --------
    >>> adjusted, levels = holm_levels([0.001, 0.5, 0.02])
    >>> adjusted.round(3).tolist(), levels.round(4).tolist()
    ([0.003, 0.5, 0.04], [0.9833, 0.95, 0.975])
    """
    values = np.asarray(p_values, dtype=float)
    adjusted = holm(values)
    n_found, n_tests = np.count_nonzero(adjusted < alpha), np.count_nonzero(~np.isnan(values))
    place = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    step = np.where(np.isnan(values), np.nan, n_tests - np.minimum(place, n_found))
    return adjusted, 1 - alpha / (step * np.asarray(choices))


def interval_p_value(interval: Callable[[float], tuple[float, float]]) -> float:
    """Return the p value of the test that a family of intervals makes of zero.

    Parameters
    ----------
    interval : callable
        The ends of the interval of a level between 0 and 1; a higher level is wider.

    Returns
    -------
    float
        The smallest α whose interval of level 1 − α excludes 0, at least 1e-12; NaN if the interval
        is unknown.

    Examples
    --------
    >>> scores = [0.01, 0.03, 0.02]
    >>> round(interval_p_value(lambda level: corrected_interval(scores, 100, 50, level)), 3)
    0.16
    """

    def excludes(exponent: float) -> bool:
        low, high = interval(1 - float(np.exp(exponent)))
        return low > 0 or high < 0

    if np.isnan(interval(0.95)).any():
        return float("nan")
    least, most = np.log(SMALLEST_P), np.log1p(-SMALLEST_P)
    if not excludes(most) or excludes(least):
        return 1.0 if not excludes(most) else SMALLEST_P
    for _ in range(40):
        middle = (least + most) / 2
        least, most = (least, middle) if excludes(middle) else (middle, most)
    return float(np.exp(most))


def _variance(differences: Array, n_test: ArrayLike = np.inf) -> float:
    """Return the variance of differences; for equal ones, that of rounding the scores."""
    if len(differences) < 2 or not np.isfinite(differences).all():
        return float("nan")
    if np.ptp(differences) > EQUAL * np.abs(differences).max():
        return float(differences.var(ddof=1))
    of_rounding = np.mean(1 / (12 * np.asarray(n_test, dtype=float) ** 2))
    return float(of_rounding) if differences[0] else 0.0


def _t_test(differences: Array, factor: float, variance: float) -> PairedTest:
    """Return the t-test with the variance of the mean ``factor`` times that of a difference."""
    mean = differences.mean()
    # Equal differences give 0/0 or ±x/0: no difference, or a certain one.
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = mean / np.sqrt(factor * variance) if mean or np.isnan(variance) else 0.0
    p_value = 2 * stats.t.sf(abs(statistic), len(differences) - 1)
    return PairedTest(float(mean), float(statistic), float(p_value))


def _per_split(values: ArrayLike) -> Array:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or len(array) == 0:
        raise DataError(f"Expected one number per split, got an array of shape {array.shape}.")
    return array


def _corrected_factor(n_splits: int, n_train: ArrayLike, n_test: ArrayLike) -> float:
    """Return 1/J + n_test/n_train (Nadeau and Bengio 2003)."""
    trained, tested = np.asarray(n_train, dtype=float), np.asarray(n_test, dtype=float)
    for rows in (trained, tested):
        if rows.shape not in ((), (n_splits,)) or not (rows > 0).all():
            raise DataError(
                "n_train and n_test must be positive numbers of samples, one for all or one for"
                f" each of {n_splits}; got {n_train!r} and {n_test!r}."
            )
    return 1 / n_splits + float(np.mean(tested / trained))
