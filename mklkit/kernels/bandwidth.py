"""Bandwidths by rule, such as ``'mean'`` and ``'median'``, each with a factor."""

from __future__ import annotations

import re
from typing import Any

import attrs
import numpy as np

from mklkit.errors import quoted
from mklkit.numerics.order_statistics import quantiles
from mklkit.numerics.pairwise import squared_distances, upper_blocks
from mklkit.protocols import Array

__all__ = [
    "Bandwidth",
    "bandwidth",
    "mean_distance",
    "median_distance",
    "squared_neighbour_distance",
]

RULES = ("mean", "median", "scale", "auto", "neighbours")
N_NEIGHBOURS = 5
_NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+"
_RULE = re.compile(
    rf"(?:(?P<times>{_NUMBER})\s*\*\s*)?(?P<rule>[a-z]+)(?:\s*/\s*(?P<over>{_NUMBER}))?"
)


@attrs.frozen
class Bandwidth:
    """A number, or a rule and its factor.

    Attributes
    ----------
    rule : str or None
        None for a plain number.
    factor : float
        The number, or the multiplier of the rule's value.
    """

    rule: str | None
    factor: float

    @classmethod
    def parse(cls, value: Any, parameter: str) -> Bandwidth:
        """Read ``2.0``, ``'mean'``, ``'0.1*mean'`` or ``'mean/10'``.

        Raises
        ------
        ValueError
            For anything else, or a number that is not above zero.

        Examples
        --------
        >>> Bandwidth.parse("mean/10", "sigma")
        Bandwidth(rule='mean', factor=0.1)
        """
        expected = (
            f"{parameter} must be a positive number or one of {', '.join(map(repr, RULES))},"
            f" optionally with a factor ('0.1*mean', 'mean/10'); got {quoted(value)}"
        )
        if isinstance(value, str):
            match = _RULE.fullmatch(value.strip())
            if match is None or match["rule"] not in RULES:
                raise ValueError(expected)
            factor = float(match["times"] or 1) / (float(match["over"] or 1) or np.nan)
            if not (np.isfinite(factor) and factor > 0):
                raise ValueError(expected)
            return cls(match["rule"], factor)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise ValueError(expected)
        try:
            number = float(value)
        except OverflowError:  # an integer too large for a float
            raise ValueError(expected) from None
        if not (np.isfinite(number) and number > 0):
            raise ValueError(expected)
        return cls(None, number)


def bandwidth(rule: str, rows: Array) -> float:
    """Return the bandwidth σ that a rule computes from the rows (N, d).

    Parameters
    ----------
    rule : str
        ``'mean'``: mean distance over all pairs i, j (paper 000, section 3); ``'median'``: median
        distance over pairs of different rows; ``'scale'``: scikit-learn's γ = 1/(d·variance);
        ``'auto'``: γ = 1/d (paper 003, section 5.2); ``'neighbours'``: γ = 1/mean squared
        distance over pairs of five nearest neighbours (paper 001, section 7.2). The last three are
        converted to σ by γ = 1/2σ².
    rows : ndarray of shape (N, d)

    Returns
    -------
    float
        Above zero; 1 where all rows are equal and there is no scale. Infinite or NaN where the
        squares of the rows overflow.
    """
    if rule == "mean":
        sigma = mean_distance(rows)
    elif rule == "median":
        sigma = median_distance(rows)
    elif rule == "scale":
        sigma = float(np.sqrt(rows.shape[1] * rows.var(dtype=np.float64) / 2))
    elif rule == "neighbours":
        sigma = float(np.sqrt(squared_neighbour_distance(rows) / 2))
    else:
        sigma = float(np.sqrt(rows.shape[1] / 2))
    return 1.0 if sigma == 0 else sigma


def squared_neighbour_distance(rows: Array, n_neighbours: int = N_NEIGHBOURS) -> float:
    """Return the mean squared distance of rows to their nearest neighbours, excluding themselves.

    Paper 001 averages "L₂ distances" and takes the root for a width. Only squared distances make
    that a width in the units of the data, and reproduce its accuracies of single kernels.

    Examples
    --------
    >>> import numpy as np
    >>> squared_neighbour_distance(np.array([[0.0], [1.0], [3.0]]), n_neighbours=1)
    2.0
    """
    from sklearn.neighbors import NearestNeighbors

    count = min(n_neighbours, len(rows) - 1)
    if count < 1:
        return 0.0
    # A power of two rescales exactly, and scikit-learn finds no neighbours where squares overflow.
    exponent = int(np.frexp(np.abs(rows).max())[1])
    near_one = np.ldexp(rows.astype(np.float64), -exponent)
    # Centred first: scikit-learn's distances lose digits for rows far from zero.
    near_one -= near_one.mean(axis=0)
    distances, _ = NearestNeighbors(n_neighbors=count).fit(near_one).kneighbors()
    with np.errstate(over="ignore"):
        return float(np.ldexp((distances**2).mean(), 2 * exponent))


def _upper_tiles(rows: Array) -> Any:
    """Yield tiles of distances on and above the diagonal, with the multiplicity of their values."""
    for block, other in upper_blocks(len(rows)):
        distances = np.sqrt(squared_distances(rows[block], rows[other]))
        if other == block:
            np.fill_diagonal(distances, 0)
        yield distances, (1 if other == block else 2)


def mean_distance(rows: Array) -> float:
    """Return the mean Euclidean distance over all pairs i, j of rows, in O(N²d), tile by tile.

    Examples
    --------
    >>> import numpy as np
    >>> mean_distance(np.array([[0.0], [1.0]]))
    0.5
    """
    total = sum(weight * tile.sum(dtype=np.float64) for tile, weight in _upper_tiles(rows))
    return float(total / len(rows) ** 2)


def median_distance(rows: Array) -> float:
    """Return the median distance of different rows, exact, in O(N²d), tile by tile.

    Examples
    --------
    >>> import numpy as np
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    n_rows = len(rows)
    if n_rows < 2:
        return 0.0

    def different_rows() -> Any:
        for tile, weight in _upper_tiles(rows):
            if weight == 2:
                yield tile, 1
            else:
                yield tile[np.triu_indices(len(tile), 1)], 1

    return quantiles(different_rows, n_rows * (n_rows - 1) // 2, [0.5])[0]
