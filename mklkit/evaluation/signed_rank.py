"""The Bayesian signed-rank test of two classifiers on several data sets."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mklkit.errors import DataError
from mklkit.numerics.sampling import own_stream

__all__ = ["RopeProbabilities", "bayesian_signed_rank"]

PRIOR_STRENGTH = 0.5
BLOCK = 1_000_000
"""Weights that are drawn at once."""
DIGITS = 12
"""Differences of scores are rounded so, lest 0.92 − 0.91 exceeds 0.01."""


@attrs.frozen
class RopeProbabilities:
    """How probable each of three outcomes is to be the likeliest on a further data set.

    The outcomes are that the difference of the scores lies below, in or above the region of
    practical equivalence. How likely each is can only be estimated from the data sets at hand; a
    value of 0.9 says that the outcome is the likeliest of the three with probability 0.9, not that
    it happens on nine of ten data sets. The three values add up to 1.

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
    being the largest, over weights drawn by Monte Carlo (Benavoli, Corani, Demšar and Zaffalon,
    "Time for a change", Journal of Machine Learning Research 18, 2017, section 4.2).

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

    Raises
    ------
    DataError
        If there are no differences or not all are finite, or a number is out of its range.

    Notes
    -----
    Time and memory grow with the square of the number of data sets.

    Examples
    --------
    >>> found = bayesian_signed_rank([0.03, 0.02, 0.05, 0.04, 0.001, 0.03])
    >>> found.better > 0.9, found.worse
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
    return RopeProbabilities(*(float(share) for share in wins / n_samples))
