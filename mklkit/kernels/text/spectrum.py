"""The spectrum kernel: texts with the same pieces are similar."""

from __future__ import annotations

import re
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from scipy.sparse import csr_array

from mklkit.kernels.sparse_features import FeatureKernel
from mklkit.kernels.text.sequences import in_tokens, letters
from mklkit.numerics.sparse_rows import Sparse
from mklkit.protocols import Array, FixedKernel, KernelTraits
from mklkit.protocols.component import as_int
from mklkit.registry.hookspecs import register


@register
@attrs.frozen
class SpectrumKernel(FixedKernel, FeatureKernel):
    """Common pieces of k letters or words: the inner product of their counts.

    A text shorter than k has no pieces, and similarity zero to all texts, including itself. Letters
    are compared as written, words in lower case; words are runs of letters and digits.

    Parameters
    ----------
    k : int, default=3
        The length of a piece; at least 1.
    words : bool, default=False
        Whether pieces are k consecutive words; otherwise k consecutive letters.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)), so that the length of a text does not matter.

    See Also
    --------
    TokenSet : Similarity of sets of elements.

    Notes
    -----
    Cost: O(T) to count the T letters of the samples, in each call; the products of the counts take
    O(nm) for each piece that many texts have, and for others the number of pairs of texts that have
    it. Source: C. Leslie, E. Eskin, W. S. Noble: The spectrum kernel: a string kernel for SVM
    protein classification. Pacific Symposium on Biocomputing 2002.

    Examples
    --------
    >>> from mklkit.registry.readings import text_codes
    >>> rows = text_codes(["abab", "ab", "ba"])
    >>> SpectrumKernel(k=2, normalize=False).fit(rows)(rows, rows)
    array([[5., 2., 1.],
           [2., 1., 0.],
           [1., 0., 1.]])
    """

    name: ClassVar[str] = "spectrum"
    traits: ClassVar[KernelTraits] = KernelTraits(
        reads="text",
        search_space={"k": (2, 3, 4)},
        proposed=("spectrum(k=3)", "spectrum(k=1, words=True)", "spectrum(k=5)"),
    )

    k: int = attrs.field(default=3, converter=as_int, validator=[instance_of(int), ge(1)])
    words: bool = attrs.field(default=False, validator=instance_of(bool))
    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def features(self, rows: Array) -> tuple[Sparse, Sparse]:
        """Return the counts of pieces, twice."""
        texts = in_tokens(rows, _words) if self.words else letters(rows)
        owners, numbers, count = texts.grams(self.k)
        ones = np.ones(len(owners)), (owners, numbers)
        counts = csr_array(ones, shape=(len(rows), count))
        return counts, counts


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
