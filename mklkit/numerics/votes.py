"""The majority vote of several decision values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

EVEN = 1e-12
"""A decision value up to this is zero but for rounding, which goes with the order of a sum."""


def squashed(scores: NDArray[Any]) -> NDArray[Any]:
    """Return f / √(1 + f²) of each decision value, between −1 and 1 (Pinar et al. 2015).

    Examples
    --------
    >>> squashed(np.array([-1e200, 0.0, 1.0])).round(3)
    array([-1.   ,  0.   ,  0.707])
    """
    # hypot does not overflow where f² would.
    return scores / np.hypot(1.0, scores)


def majority(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the mean sign (n,) of decision values (n, M), plus less than half a vote.

    The second part is the mean of f/√(1 + f²) over 2M: it settles the ties of an even number of
    voters and ranks rows with as many votes, and never outweighs a majority. Who is undecided,
    within :data:`EVEN` of zero, abstains.

    Examples
    --------
    >>> majority(np.array([[0.1, 0.2, -9.0], [1.0, -2.0, 0.0]])) > 0
    array([ True, False])
    """
    tie_break = squashed(scores).mean(axis=1) / (2 * scores.shape[1])
    votes = np.where(np.abs(scores) > EVEN, np.sign(scores), 0.0)
    return votes.mean(axis=1) + tie_break
