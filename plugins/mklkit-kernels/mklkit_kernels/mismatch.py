"""The mismatch kernel: texts with nearly the same pieces are similar."""

from __future__ import annotations

from itertools import combinations
from math import comb, factorial
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from attrs.validators import ge, instance_of, optional
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from mklkit.kernels import FeatureKernel
from mklkit.plugin import Array, Kernel, KernelTraits, as_int, register
from mklkit_kernels.text import expect_text

MOST_SELECTIONS = 5000
MOST_NUMBERS = 2**62
"""If there may be more pieces, only those that occur are numbered."""


@register
@attrs.frozen
class Mismatch(Kernel):
    """Common pieces of k letters, each counted with all pieces that differ in up to m letters.

    The feature of a piece γ is the number of pieces of the text that differ from γ in at most m
    letters, for all γ of the alphabet. A text shorter than k has similarity zero to all texts.

    Parameters
    ----------
    k : int, default=3
        The length of a piece; at least 1.
    m : int, default=1
        The letters that may differ; zero or above and below k. Zero gives ``spectrum``.
    alphabet : str, optional
        The letters of pieces, by default all that occur in the training texts. Pieces with other
        letters are ignored, such as ``N`` for an unknown base with ``alphabet="ACGT"``.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)).

    Notes
    -----
    Cost: one spectrum kernel for each selection of places, 7 for k = 3 and m = 1, and 16 for k = 5.

    The kernel is a sum over pairs of pieces of the number of pieces near both, which depends only
    on their distance. It follows from the pairs that agree on each selection of places: for j up to
    2m, all selections of k − j places. Each costs about as much as ``spectrum``; there are 7 for
    k = 3 and m = 1, and 16 for k = 5. Source: C. Leslie, E. Eskin, A. Cohen, J. Weston,
    W. S. Noble: Mismatch string kernels for discriminative protein classification. Bioinformatics
    20 (2004).

    Examples
    --------
    >>> rows = np.array([[*map(ord, text)] for text in ("aa", "ab", "bb")])
    >>> Mismatch(k=2, m=1, normalize=False).fit(rows)(rows, rows)
    array([[3., 2., 2.],
           [2., 3., 2.],
           [2., 2., 3.]])
    """

    name: ClassVar[str] = "mismatch"
    traits: ClassVar[KernelTraits] = KernelTraits(reads="text", search_space={"k": (3, 4, 5)})

    k: int = attrs.field(default=3, converter=as_int, validator=[instance_of(int), ge(1)])
    m: int = attrs.field(default=1, converter=as_int, validator=[instance_of(int), ge(0)])
    alphabet: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def __attrs_post_init__(self) -> None:
        _check_letters(self.k, self.m)
        if self.alphabet == "":
            raise ValueError("alphabet must have at least one letter, or be omitted")

    def fit(self, rows: Array) -> FittedMismatch:
        """Return the kernel with its alphabet, of the training texts unless it is given."""
        known = rows[rows >= 0] if self.alphabet is None else list(map(ord, self.alphabet))
        return FittedMismatch(np.unique(known).astype(np.int64), self.k, self.m, self.normalize)


def _check_letters(k: int, m: int) -> None:
    """Raise an error if more letters may differ than pieces have, or than can be counted."""
    if m >= k:
        raise ValueError(f"m must be below k; got m={m} and k={k}")
    count = sum(comb(k, j) for j in range(min(2 * m, k) + 1))
    if count > MOST_SELECTIONS:
        raise ValueError(
            f"k={k} with m={m} takes {count:,} counts of every text, more than"
            f" {MOST_SELECTIONS:,}: choose a smaller m or k"
        )


@register
@attrs.frozen(eq=False)
class FittedMismatch(FeatureKernel):
    """The mismatch kernel with its alphabet (s,), ready to evaluate."""

    alphabet: NDArray[np.int64]
    k: int = attrs.field(validator=instance_of(int))
    # A model file may hold any number.
    m: int = attrs.field(validator=lambda self, _, m: _check_letters(self.k, m))
    normalize: bool

    def features(self, rows: Array) -> tuple[Any, Any]:
        """Return the counts of pieces on each selection of places, plain and weighted."""
        expect_text("mismatch", rows)
        short = max(self.k - rows.shape[1], 0)
        rows = np.pad(rows, ((0, 0), (0, short)), constant_values=-1)
        known = sliding_window_view(np.isin(rows, self.alphabet), self.k, axis=1).all(axis=2)
        letters = np.searchsorted(self.alphabet, rows)
        pieces = sliding_window_view(letters, self.k, axis=1)[known]
        owners, _ = np.nonzero(known)
        counts, weighted = [], []
        for left_out, weight in enumerate(self._weights()):
            for places in combinations(range(self.k), self.k - left_out):
                numbers, count = _numbered(pieces[:, places], len(self.alphabet))
                ones = np.ones(len(pieces)), (owners, numbers)
                counts.append(csr_array(ones, shape=(len(rows), count)))
                weighted.append(weight * counts[-1])
        return hstack(counts, format="csr"), hstack(weighted, format="csr")

    def _weights(self) -> list[float]:
        """Return the weight of agreement on k − j places, for j = 0, 1, … min(2m, k).

        Pieces at distance d agree on C(k − d, k − j) of the selections of k − j places; the
        weights make the sum the number of common neighbours.
        """
        k = self.k
        most = min(2 * self.m, self.k)
        size = len(self.alphabet)
        weights = [0] * (most + 1)
        for d in range(most, -1, -1):
            counted = sum(weights[j] * comb(k - d, k - j) for j in range(d + 1, most + 1))
            weights[d] = common_neighbors(d, k, self.m, size) - counted
        return [float(weight) for weight in weights]


def _numbered(pieces: NDArray[np.intp], size: int) -> tuple[NDArray[np.int64], int]:
    """Return a number for each piece (G, j), the same for equal ones, and a bound on them."""
    numbers = np.zeros(len(pieces), dtype=np.int64)
    count = 1
    for letters in pieces.T:
        if count * size > MOST_NUMBERS:
            numbers, uniques = pd.factorize(numbers)
            count = len(uniques)
        numbers = numbers * size + letters
        count *= size
    if count > len(numbers):
        numbers, uniques = pd.factorize(numbers)
        count = len(uniques)
    return numbers, count


def common_neighbors(distance: int, k: int, m: int, size: int) -> int:
    """Return how many pieces differ in at most m letters from each of two pieces of length k.

    The two differ in ``distance`` letters of an alphabet of this size.
    """
    total = 0
    for like_first in range(distance + 1):
        for like_second in range(distance - like_first + 1):
            others = distance - like_first - like_second
            left = m - (distance - min(like_first, like_second))
            ways = factorial(distance) // (
                factorial(like_first) * factorial(like_second) * factorial(others)
            )
            changed = sum(comb(k - distance, i) * (size - 1) ** i for i in range(left + 1))
            total += ways * (size - 2) ** others * changed
    return total
