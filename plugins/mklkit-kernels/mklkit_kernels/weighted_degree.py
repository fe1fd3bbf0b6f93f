"""The weighted degree kernel: sequences with the same letters in the same places are similar."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from numpy.typing import NDArray

from mklkit.kernels import Cosine
from mklkit.plugin import Array, FittedKernel, Kernel, KernelTraits, as_int, register
from mklkit_kernels.text import expect_text

END_OF_A, END_OF_B = -1, -2


@register
@attrs.frozen
class WeightedDegree(Kernel, FittedKernel):
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
        The most places between equal pieces; those s places apart count 1/(2(s + 1)).
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)).

    Notes
    -----
    Cost: O(nmL(2·shift + 1)) for texts of L letters, whatever the degree. Source: G.
    Rätsch, S. Sonnenburg: Accurate splice site detection for Caenorhabditis elegans. Kernel Methods
    in Computational Biology, 2004; with shifts G. Rätsch, S. Sonnenburg, B. Schölkopf: RASE:
    recognition of alternatively spliced exons in C. elegans. Bioinformatics 21 (2005). It is
    positive semi-definite for every shift, as 1/2 + Σ_s cos(sω)/(s + 1) is never negative (W.
    Rogosinski, G. Szegő, Mathematische Zeitschrift 28, 1928).

    Examples
    --------
    >>> rows = np.array([[*map(ord, text)] for text in ("abc", "abd", "cab")])
    >>> WeightedDegree(degree=1, normalize=False).fit(rows)(rows, rows)
    array([[3., 2., 0.],
           [2., 3., 0.],
           [0., 0., 3.]])
    >>> WeightedDegree(degree=1, shift=1, normalize=False).fit(rows)(rows[:1], rows)
    array([[3. , 2. , 0.5]])
    """

    name: ClassVar[str] = "weighted-degree"
    traits: ClassVar[KernelTraits] = KernelTraits(
        reads="text", search_space={"degree": (1, 3, 8), "shift": (0, 1)}
    )

    degree: int = attrs.field(default=3, converter=as_int, validator=[instance_of(int), ge(1)])
    shift: int = attrs.field(default=0, converter=as_int, validator=[instance_of(int), ge(0)])
    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel, or its cosine; it does not depend on the samples."""
        return Cosine(attrs.evolve(self, normalize=False)).fit(rows) if self.normalize else self

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the equal pieces of the texts ``a`` (n, L) and ``b`` (m, L'): (n, m)."""
        left, right = _codes(a, END_OF_A), _codes(b, END_OF_B)
        return self._similar(left[:, :, None], right[:, None, :])

    def diagonal(self, a: Array) -> Array:
        """Return the pieces of each text, weighted: (n,)."""
        return self._similar(_codes(a, END_OF_A), _codes(a, END_OF_B))

    def _similar(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> Array:
        """Return the kernel of letters by place, (L, …) and (L', …), of broadcastable shapes."""
        values = self._at_same_places(a, b)
        for step in range(1, self.shift + 1):
            apart = self._at_same_places(a[step:], b) + self._at_same_places(a, b[step:])
            values += apart / (2 * (step + 1))
        values /= self.degree * (self.degree + 1)
        return values

    def _at_same_places(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> Array:
        """Return D(D + 1) Σ_d β_d times the equal pieces of d letters that start at one place.

        At a place in a run of equal letters, r of them up to there (at most D), pieces of 1, 2, … r
        letters end, and the sum of their D(D + 1)β_d is r(2D + 1 − r).
        """
        most = self.degree * (self.degree + 1)
        shape = np.broadcast_shapes(a.shape[1:], b.shape[1:])
        # The smallest possible integers, since moving them takes the time.
        run = np.zeros(shape, dtype=np.min_scalar_type(-most - 1))
        total = np.zeros(shape, dtype=np.min_scalar_type(-most * len(a) - 1))
        for left, right in zip(a, b, strict=False):
            run += 1
            np.minimum(run, self.degree, out=run)
            run *= left == right
            total += run * (2 * self.degree + 1 - run)
        return total.astype(np.float64)


def _codes(rows: Array, end: int) -> NDArray[np.int32]:
    """Return the letters by place, (L, n), padded with a number that no letter has."""
    expect_text("weighted-degree", rows)
    return np.ascontiguousarray(np.where(rows >= 0, rows, end).T, dtype=np.int32)
