"""Concordance of risks with times: Harrell's, and Uno's with weights for censoring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklkit.plugin import Array

BLOCK = 1024
"""Samples that are compared pair by pair; others by their place among sorted risks."""


def concordance(target: Array, risks: Array, weights: Array | None = None) -> float:
    """Return the share of pairs in which the sample with the earlier event has more risk.

    A pair counts if one of the samples has an event before the other's time, or at the time at
    which the other is censored. Equal risks count half.

    Parameters
    ----------
    target : ndarray of shape (n, 2)
        Times and events.
    risks : ndarray of shape (n,)
        Predicted risks, such as log-hazards.
    weights : ndarray of shape (n,), optional
        The weight of the pairs of each event; by default all are 1, which gives Harrell's
        concordance. With the squared inverse probability of being uncensored it is Uno's.

    Returns
    -------
    float
        From 0 to 1; NaN if no pair is comparable.

    Notes
    -----
    O(n log n) per block of samples, O(n² log(n) / 1024) in all.

    Examples
    --------
    >>> target = np.array([[1.0, 1], [2.0, 0], [3.0, 1]])
    >>> concordance(target, np.array([0.9, 0.1, 0.5]))
    1.0
    """
    times, events = target[:, 0], target[:, 1] > 0
    order = np.lexsort((events, -times))
    times, events, risks = times[order], events[order], np.asarray(risks)[order]
    # Those comparable with an event come before all events of its time.
    begins = np.r_[True, (np.diff(times) != 0) | np.diff(events)]
    counts = np.maximum.accumulate(np.where(begins, np.arange(len(times)), 0))
    members = np.flatnonzero(events & (counts > 0))
    below, equal = _ranked(risks, risks[members], counts[members])
    of_pairs = np.ones(len(members)) if weights is None else np.asarray(weights)[order][members]
    total = float(of_pairs @ counts[members])
    return float(of_pairs @ (below + equal / 2)) / total if total > 0 else float("nan")


def _ranked(
    risks: Array, asked: Array, counts: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return how many of the first ``counts`` risks are below those asked for, and equal."""
    below, equal = np.zeros(len(asked), np.intp), np.zeros(len(asked), np.intp)
    for start in range(0, len(risks), BLOCK):
        here = np.flatnonzero((counts > start) & (counts <= start + BLOCK))
        if len(here) == 0:
            continue
        before = np.sort(risks[:start])
        values = asked[here]
        left, right = (np.searchsorted(before, values, side) for side in ("left", "right"))
        block = risks[start : start + BLOCK]
        counted = np.arange(len(block)) < (counts[here] - start)[:, None]
        below[here] = left + (counted & (block < values[:, None])).sum(axis=1)
        equal[here] = right - left + (counted & (block == values[:, None])).sum(axis=1)
    return below, equal
