"""The difference of two models in the share of test samples that they predict right.

Only samples count that one model predicts right and the other wrong: ``n_first`` those that the
first alone predicts right, ``n_second`` those that the second alone does.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binomtest, norm

NEAR = 1e-12
"""How near to a difference of 1, where the score statistic is not defined, a limit is sought."""


def mcnemar_test(n_first: int, n_second: int) -> float:
    """Return the p value of McNemar's exact test that the models are right equally often.

    Of the samples that only one of them predicts right, each is as likely to be the first as the
    second, so their number is binomial [1]_.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated proportions
       or percentages", Psychometrika 12 (1947), 153–157.

    Examples
    --------
    >>> mcnemar_test(1, 7), mcnemar_test(0, 0)
    (0.0703125, 1.0)
    """
    n_differ = n_first + n_second
    return float(binomtest(n_first, n_differ).pvalue) if n_differ else 1.0


def paired_interval(
    n_first: int, n_second: int, n_samples: int, level: float = 0.95
) -> tuple[float, float]:
    """Return a confidence interval of the difference, which excludes 0 if McNemar's test does.

    It is Tango's score interval [1]_, whose test of a difference of 0 is McNemar's in the
    approximation for many samples. Where the exact test and this interval disagree about 0, the
    end that is nearer to 0 is that of the exact interval for the samples on which the models
    differ [2]_.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in proportions
       for the paired-sample design", Statistics in Medicine 17 (1998), 891–908.
    .. [2] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated
       in the case of the binomial", Biometrika 26 (1934), 404–413.

    Examples
    --------
    >>> low, high = paired_interval(9, 1, 50)
    >>> round(low, 3), round(high, 3)
    (0.045, 0.293)
    >>> low, high = paired_interval(5, 0, 50)  # p is 0.06
    >>> round(low, 3), round(high, 3)
    (-0.004, 0.214)
    """
    low, high = tango_interval(n_first, n_second, n_samples, level)
    is_shown = mcnemar_test(n_first, n_second) < 1 - level
    if is_shown != (low > 0 or high < 0):
        n_differ = n_first + n_second
        ends = binomtest(n_first, n_differ).proportion_ci(level, "exact")
        share = n_differ / n_samples
        if n_first > n_second:
            low = share * (2 * float(ends.low) - 1)
        else:
            high = share * (2 * float(ends.high) - 1)
    return low, high


def tango_interval(
    n_first: float, n_second: float, n_samples: float, level: float = 0.95
) -> tuple[float, float]:
    """Return Tango's score interval of the difference, also for numbers that are not whole.

    A difference d is in it if |n₁ − n₂ − n·d| / √(n·(2q + d·(1 − d))) is at most the quantile of
    the normal distribution, where q is the likeliest probability of ``n_second`` for this d.

    Examples
    --------
    >>> low, high = tango_interval(0, 0, 50)
    >>> round(low, 3), round(high, 3)
    (-0.071, 0.071)
    """
    quantile = norm.ppf((1 + level) / 2)
    mean = (n_first - n_second) / n_samples

    def statistic(difference: float) -> float:
        linear = (2 * n_samples - n_first + n_second) * difference - n_first - n_second
        constant = -n_second * difference * (1 - difference)
        root = np.sqrt(linear**2 - 8 * n_samples * constant)
        rate = max(0.0, (root - linear) / (4 * n_samples))
        variance = n_samples * (2 * rate + difference * (1 - difference))
        gap = n_first - n_second - n_samples * difference
        if abs(gap) <= NEAR * n_samples:
            return 0.0
        return float(gap / np.sqrt(variance)) if variance > 0 else float(np.sign(gap)) * np.inf

    ends = []
    for side in (-1, 1):
        furthest = side * (1 - NEAR)

        def excess(difference: float, side: int = side) -> float:
            return -side * statistic(difference) - quantile

        end = side if mean == side else brentq(excess, mean, furthest, xtol=NEAR)
        ends.append(float(end))
    return ends[0], ends[1]
