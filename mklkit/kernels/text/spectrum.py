"""The spectrum kernel: texts with the same pieces are similar."""

from __future__ import annotations

from typing import ClassVar, Self

import attrs
from attrs.validators import ge, instance_of

from mklkit.kernels.sparse_features import FeatureKernel, Sparse, incidence
from mklkit.kernels.text.sequences import gram_numbers, letters, words
from mklkit.protocols import Array, Kernel, KernelFacts
from mklkit.protocols.component import as_int
from mklkit.registry.hookspecs import register

__all__ = ["SpectrumKernel"]


@register
@attrs.frozen
class SpectrumKernel(Kernel, FeatureKernel):
    """Common pieces of k letters or words: the inner product of how often each occurs.

    A text shorter than k has no pieces, and similarity zero to all texts, itself included. Letters
    are compared as they are written, words in lower case; words are runs of letters and digits.

    Parameters
    ----------
    k : int, default=3
        The length of a piece; at least 1.
    words : bool, default=False
        Whether pieces are k consecutive words; otherwise k consecutive letters.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)), so that a text's length does not count.

    Notes
    -----
    O(T) to count the T letters of the rows, in each call; the products of the counts take O(nm) for
    each piece that many texts have, and for others the number of pairs of texts that have it. Of
    C. Leslie, E. Eskin, W. S. Noble: The spectrum kernel: a string kernel for SVM protein
    classification. Pacific Symposium on Biocomputing 2002.

    Examples
    --------
    >>> from mklkit.numerics.readings import text_codes
    >>> rows = text_codes(["abab", "ab", "ba"])
    >>> SpectrumKernel(k=2, normalize=False).fit(rows)(rows, rows)
    array([[5., 2., 1.],
           [2., 1., 0.],
           [1., 0., 1.]])
    """

    name: ClassVar[str] = "spectrum"
    facts: ClassVar[KernelFacts] = KernelFacts(reads="text", search_space={"k": (2, 3, 4)})

    k: int = attrs.field(default=3, converter=as_int, validator=[instance_of(int), ge(1)])
    words: bool = attrs.field(default=False, validator=instance_of(bool))
    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def fit(self, rows: Array) -> Self:
        """Return the kernel (nothing depends on the rows)."""
        return self

    def features(self, rows: Array) -> tuple[Sparse, Sparse]:
        """Return the counts of pieces, twice."""
        texts = words(rows) if self.words else letters(rows)
        starts = texts.starts(self.k)
        numbers, count = gram_numbers(texts.symbols, starts, range(self.k))
        counts = incidence(texts.owners[starts], numbers, (texts.n_rows, count))
        return counts, counts
