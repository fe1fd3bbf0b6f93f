"""The discrete Choquet integral, and the Shapley values of a fuzzy measure.

A fuzzy measure g on M inputs is an array of 2^M values: index A, read as a binary number, is the
set of inputs whose bit is set. g[0] = 0, g[-1] = 1, and g is monotone in the set.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray


def chains(scores: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the sets that the integral of each row of scores (n, M) depends on, and their weights.

    Both are (n, M): indices of all inputs, all but the smallest, …, the largest alone; and the
    smallest value, then the differences of successive values in ascending order.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    ascending = np.take_along_axis(scores, order, axis=1)
    sets = np.cumsum((1 << order)[:, ::-1], axis=1)[:, ::-1]
    return sets, np.diff(ascending, axis=1, prepend=0.0)


def choquet_integral(scores: NDArray[Any], measure: NDArray[Any]) -> NDArray[Any]:
    """Return the Choquet integral (n,) of each sample of scores (n, M), which may be negative.

    Parameters
    ----------
    scores : ndarray of shape (n, M)
    measure : ndarray of shape (2^M,)
        g, as described in the module's docstring.

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
    """Return each input's Shapley value (M,) in a measure; they are non-negative and sum to 1.

    It is the increase of the measure by adding the input to a set of others, averaged over the sets
    of each size and over sizes (Shapley 1953).

    Examples
    --------
    >>> shapley_values(np.array([0, 0.25, 0.25, 1]))
    array([0.5, 0.5])
    """
    count = len(measure).bit_length() - 1  # a measure on M inputs has 2^M values
    sets = np.arange(len(measure))
    sizes = np.array([int(subset).bit_count() for subset in sets])
    shares = np.empty(count)
    for member in range(count):
        without = sets[(sets >> member) & 1 == 0]
        gain = measure[without | (1 << member)] - measure[without]
        odds = [1 / (count * comb(count - 1, int(size))) for size in sizes[without]]
        shares[member] = gain @ odds
    return shares
