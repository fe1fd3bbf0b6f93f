"""When differences get no verdict: where intervals would be wrong too often."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklkit.errors import counted
from mklkit.evaluation.number_scores import NUMBER_SCORES
from mklkit.protocols.score import Score

LEAST_GROUPS = 15
"""The least number of groups of all samples.

It is larger than :data:`mklkit.evaluation.resampling.FEW_GROUPS`, the least number of groups of
test samples. Models of several splits learn from the same groups, so the splits are not
independent, and no distribution allows for the number of groups.
"""
LEAST_SHARING = 15
"""The least number of samples that share the variance of a numeric target."""


def why_no_verdict(score: Score, targets: NDArray[Any], groups: ArrayLike | None = None) -> str:
    """Return why differences in a score get no verdict, empty if they get one.

    Intervals of differences rest on the variation over splits. With few groups, or a numeric target
    of heavy tails, whose mean squares depend on few samples, this variation differs so much between
    studies that intervals miss the true difference too often.

    Parameters
    ----------
    score : Score
        The score.
    targets : ndarray of shape (n,) or (n, n_targets)
        The classes or numbers of all samples.
    groups : array-like of shape (n,), optional
        The group of each sample.

    Returns
    -------
    str
        A clause without a full stop.

    Examples
    --------
    >>> from mklkit.evaluation.number_scores import R2
    >>> why_no_verdict(R2, np.arange(50.0))
    ''
    >>> why_no_verdict(R2, np.array([*range(50), 300.0]))  # doctest: +NORMALIZE_WHITESPACE
    'the variance of the target is as if 1 of its 51 samples shared it evenly, and 15 are needed'
    """
    n_groups = LEAST_GROUPS if groups is None else len(np.unique(groups))
    if n_groups < LEAST_GROUPS:
        return f"there are {counted(n_groups, 'group')}, and {LEAST_GROUPS} are needed"
    if score.name in (each.name for each in NUMBER_SCORES):
        sharing = samples_sharing_variance(targets)
        if sharing < LEAST_SHARING:
            return (
                f"the variance of the target is as if {sharing:.0f} of its {len(targets):,} samples"
                f" shared it evenly, and {LEAST_SHARING} are needed"
            )
    return ""


def samples_sharing_variance(targets: ArrayLike) -> float:
    """Return how many samples would share the variance of a target, if they shared it evenly.

    That is (Σu)²/Σu², where u are the squared distances from the mean: n over the kurtosis, so
    about n/3 of a normal target. Of several targets it is the least.

    Parameters
    ----------
    targets : array-like of shape (n,) or (n, n_targets)
        The numbers.

    Returns
    -------
    float
        From 1 to n; n if all numbers are equal.

    Examples
    --------
    >>> samples_sharing_variance([1, -1, 1, -1]), samples_sharing_variance([0, 0, -1, 1])
    (4.0, 2.0)
    """
    values = np.asarray(targets, dtype=float)
    squares = np.square(values - values.mean(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        sharing = np.square(squares.sum(axis=0)) / np.square(squares).sum(axis=0)
    return float(np.min(np.where(squares.any(axis=0), sharing, len(values))))
