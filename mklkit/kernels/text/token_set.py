"""Jaccard's index of sets written in a column of text."""

from __future__ import annotations

import re
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import instance_of, min_len
from scipy.sparse import csr_array

from mklkit.kernels.amounts import ratio
from mklkit.kernels.sparse_features import stacked
from mklkit.kernels.text.sequences import in_tokens
from mklkit.numerics.sparse_rows import Sparse, sparse_products
from mklkit.protocols import Array, FixedKernel, KernelTraits
from mklkit.registry.hookspecs import register


@register
@attrs.frozen
class TokenSet(FixedKernel):
    """Share of the elements that two sets have in common, each written in a text: "a; b; c".

    k(x, z) = |x ∩ z|/|x ∪ z|, Jaccard's index. Repetitions and order of elements do not matter;
    upper and lower case do. Two empty sets have similarity one.

    Parameters
    ----------
    separators : str, default=" ,;|"
        The characters between elements; a space stands for any white space. White space around an
        element never counts, so that ``separators=";"`` finds two elements in ``"New York; Rome"``.

    See Also
    --------
    SpectrumKernel : Similarity of texts by their pieces.

    Notes
    -----
    Cost: O(T) to read T characters in each call; O(nm) for each element that many sets
    have, and for others the number of pairs of sets that have it. Positive semi-definite. Source:
    P. Jaccard: The distribution of the flora in the alpine zone. New Phytologist 11 (1912).

    Examples
    --------
    >>> from mklkit.registry.readings import text_codes
    >>> rows = text_codes(["a;b;c", "c, b", "d"])
    >>> TokenSet().fit(rows)(rows, rows).round(3)
    array([[1.   , 0.667, 0.   ],
           [0.667, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    name: ClassVar[str] = "token-set"
    traits: ClassVar[KernelTraits] = KernelTraits(reads="text")

    separators: str = attrs.field(default=" ,;|", validator=[instance_of(str), min_len(1)])

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the texts ``a`` (n, L) and ``b`` (m, L'): (n, m)."""
        left, right = self._sets(a, b)
        common = sparse_products(left, right)
        sizes = [members.sum(axis=1) for members in (left, right)]
        return ratio(common, sizes[0][:, None] + sizes[1] - common)

    def diagonal(self, a: Array) -> Array:
        """Return 1 for each text."""
        return np.ones(len(a))

    def _sets(self, a: Array, b: Array) -> tuple[Sparse, Sparse]:
        members = in_tokens(stacked(a, b), self._elements)
        count = int(members.symbols.max(initial=-1)) + 1
        places = members.owners, members.symbols
        both = csr_array((np.ones(len(members.owners)), places), shape=(len(a) + len(b), count))
        return both[: len(a)], both[len(a) :]

    def _elements(self, text: str) -> set[str]:
        between = "|".join(r"\s" if sign == " " else re.escape(sign) for sign in self.separators)
        return {element.strip() for element in re.split(between, text)} - {""}
