"""The weighted degree kernel: sequences with the same letters in the same places are similar."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from numpy.typing import NDArray

from mklkit import Array, Component, KernelFacts, whole
from mklkit_kernels.sequences import gram_numbers, letters
from mklkit_kernels.sparse_features import FittedFeatures, Sparse, incidence, numbered

__all__ = ["FittedWeightedDegree", "WeightedDegree"]


@attrs.frozen
class WeightedDegree(Component):
    """Equal pieces in the same places of two sequences, of up to ``degree`` letters.

    k(x, z) = Σ_d β_d Σ_i 1[the d letters from place i on are equal], with
    β_d = 2(D − d + 1)/(D(D + 1)) for d up to the degree D. For sequences of equal length that are
    aligned, such as the surroundings of a splice site; places after the end of the shorter one of
    two do not count. An empty text has similarity zero to all texts.

    Parameters
    ----------
    degree : int, default=3
        D, the largest length of a piece; at least 1.
    shift : int, default=0
        By how many places equal pieces may be apart; those s places apart count 1/(2(s + 1)).
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)).

    Notes
    -----
    O(DT) to number the pieces of T letters, and O(DT·shift) where they may be apart; the products
    are those of :class:`Spectrum`, with a column for every piece and place. Of G. Rätsch,
    S. Sonnenburg: Accurate splice site detection for Caenorhabditis elegans. Kernel Methods in
    Computational Biology, 2004; with shifts G. Rätsch, S. Sonnenburg, B. Schölkopf: RASE:
    recognition of alternatively spliced exons in C. elegans. Bioinformatics 21 (2005). It is
    positive semi-definite for every shift, as 1/2 + Σ_s cos(sω)/(s + 1) is never negative
    (W. Rogosinski, G. Szegő, Mathematische Zeitschrift 28, 1928).

    Examples
    --------
    >>> from mklkit import text_codes
    >>> rows = text_codes(["abc", "abd", "cab"])
    >>> WeightedDegree(degree=1, normalize=False).fit(rows)(rows, rows)
    array([[3., 2., 0.],
           [2., 3., 0.],
           [0., 0., 3.]])
    >>> WeightedDegree(degree=1, shift=1, normalize=False).fit(rows)(rows[:1], rows)
    array([[3. , 2. , 0.5]])
    """

    name: ClassVar[str] = "weighted-degree"
    facts: ClassVar[KernelFacts] = KernelFacts(
        reads="text", search_space={"degree": (1, 3, 8), "shift": (0, 1)}
    )

    degree: int = attrs.field(default=3, converter=whole, validator=[instance_of(int), ge(1)])
    shift: int = attrs.field(default=0, converter=whole, validator=[instance_of(int), ge(0)])
    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def fit(self, rows: Array) -> FittedWeightedDegree:
        """Return the kernel (nothing depends on the rows)."""
        return FittedWeightedDegree(self.degree, self.shift, self.normalize)


@attrs.frozen
class FittedWeightedDegree(FittedFeatures):
    """The weighted degree kernel, ready to evaluate."""

    facts: ClassVar[KernelFacts] = WeightedDegree.facts

    degree: int
    shift: int
    normalize: bool

    def features(self, rows: Array) -> tuple[Sparse, Sparse]:
        """Return a one for each piece at its place, and its weight there and at places nearby."""
        texts, width = letters(rows), rows.shape[1]
        owners, places, keys, weights, first = [], [], [], [], 0
        for length in range(1, min(self.degree, width) + 1):
            starts = texts.starts(length)
            numbers, count = gram_numbers(texts.symbols, starts, range(length))
            owners.append(texts.owners[starts])
            places.append(texts.places[starts])
            keys.append((first + numbers) * width + places[-1])
            share = 2 * (self.degree - length + 1) / (self.degree * (self.degree + 1))
            weights.append(np.full(len(starts), share))
            first += count
        pieces = Pieces(*map(np.concatenate, (owners, places, keys, weights)))
        near = pieces.near(min(self.shift, width - 1), width)
        columns, count = numbered(np.concatenate([pieces.keys, near.keys]))
        shape, own = (len(rows), count), len(pieces.keys)
        plain = incidence(pieces.owners, columns[:own], shape)
        return plain, incidence(near.owners, columns[own:], shape, near.weights)


@attrs.frozen(eq=False)
class Pieces:
    """Pieces at their places: the row, the place, a key of both piece and place, and a weight."""

    owners: NDArray[np.intp]
    places: NDArray[np.intp]
    keys: NDArray[np.int64]
    weights: NDArray[np.float64]

    def near(self, shift: int, width: int) -> Pieces:
        """Return the pieces at all places up to ``shift`` away, weighted by the distance."""
        moved = [self]
        for step in (*range(-shift, 0), *range(1, shift + 1)):
            to = self.places + step
            weights = self.weights / (2 * (abs(step) + 1))
            columns = (self.owners, to, self.keys + step, weights)
            moved.append(Pieces(*(column[(to >= 0) & (to < width)] for column in columns)))
        names = ("owners", "places", "keys", "weights")
        return Pieces(*(np.concatenate([getattr(one, name) for one in moved]) for name in names))
