"""The discrete Choquet integral, and what a fuzzy measure says of each of its inputs.

A fuzzy measure g on M inputs is an array of 2^M values: position A, read as a binary number, is
the set of inputs whose bit is set. g[0] = 0, g[-1] = 1, and g never falls as a set grows.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["chains", "choquet_integral", "shapley_values"]


def chains(scores: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the sets that each row's integral looks at, and the weight of each in it.

    Parameters
    ----------
    scores : ndarray of shape (n, M)

    Returns
    -------
    sets : ndarray of shape (n, M)
        Positions in a measure: all inputs, all but the smallest, …, the largest alone.
    steps : ndarray of shape (n, M)
        The smallest value, and each next one's rise above the one before.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    ascending = np.take_along_axis(scores, order, axis=1)
    sets = np.cumsum((1 << order)[:, ::-1], axis=1)[:, ::-1]
    return sets, np.diff(ascending, axis=1, prepend=0.0)


def choquet_integral(scores: NDArray[Any], measure: NDArray[Any]) -> NDArray[Any]:
    """Return the Choquet integral (n,) of each row of scores (n, M), which may be negative.

    Parameters
    ----------
    scores : ndarray of shape (n, M)
    measure : ndarray of shape (2^M,)
        g, see the module.

    Notes
    -----
    C_g(f) = Σ_i (f_(i) − f_(i−1)) g({(i), …, (M)}) for f_(1) ≤ … ≤ f_(M) and f_(0) = 0: the
    asymmetric integral, C_g(f + c) = C_g(f) + c. O(nM log M).

    Examples
    --------
    The measures of minimum, mean and maximum of two inputs:

    >>> scores = np.array([[-0.5, 1.0]])
    >>> [choquet_integral(scores, np.array([0, g, g, 1]))[0].item() for g in (0, 0.5, 1)]
    [-0.5, 0.25, 1.0]
    """
    sets, steps = chains(scores)
    return np.einsum("nm,nm->n", steps, measure[sets])


def shapley_values(measure: NDArray[Any]) -> NDArray[Any]:
    """Return each input's share (M,) in a measure: none negative, their sum 1.

    An input's share is what it adds to a set of others, averaged over sets of a size and over
    sizes (Shapley 1953).

    Examples
    --------
    >>> shapley_values(np.array([0, 0.25, 0.25, 1]))
    array([0.5, 0.5])
    """
    count = len(measure).bit_length() - 1  # a measure of M has 2^M values
    sets = np.arange(len(measure))
    sizes = np.array([int(subset).bit_count() for subset in sets])
    shares = np.empty(count)
    for member in range(count):
        without = sets[(sets >> member) & 1 == 0]
        gain = measure[without | (1 << member)] - measure[without]
        odds = [1 / (count * comb(count - 1, int(size))) for size in sizes[without]]
        shares[member] = gain @ odds
    return shares
