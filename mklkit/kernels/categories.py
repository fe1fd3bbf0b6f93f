"""The kernel on categories: samples with equal categories are similar."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from scipy.sparse import csr_array

from mklkit.kernels.sparse_features import FeatureKernel, numbered
from mklkit.numerics.sparse_rows import Sparse
from mklkit.protocols import Array, FixedKernel, KernelTraits
from mklkit.registry.hookspecs import register


@register
@attrs.frozen
class Overlap(FixedKernel, FeatureKernel):
    """Share of the columns in which two samples have the same category.

    Gaps are skipped: k(x, z) = e/√(p_x p_z), with e the number of equal columns and p_x that of
    columns with a value of x; without gaps this is the share. (The share among the columns in which
    both have a value is not positive semi-definite.) A sample of gaps has similarity zero to all
    samples.

    See Also
    --------
    TokenSet : Similarity of sets of categories.

    Notes
    -----
    Cost: O((n + m)q) for q columns to number the categories of the samples in each call; O(nm) for
    each category that many samples have, and for others the number of pairs of samples that have
    it. It is the linear kernel of one-hot encoded columns, divided by the lengths. Source: C.
    Stanfill, D. Waltz: Toward memory-based reasoning. Communications of the ACM 29 (1986).

    Examples
    --------
    >>> from mklkit.registry.readings import category_codes
    >>> rows = category_codes([["red", "round"], ["red", "flat"], [None, "flat"]])
    >>> Overlap().fit(rows)(rows, rows).round(3)
    array([[1.   , 0.5  , 0.   ],
           [0.5  , 1.   , 0.707],
           [0.   , 0.707, 1.   ]])
    """

    name: ClassVar[str] = "overlap"
    traits: ClassVar[KernelTraits] = KernelTraits(
        reads="categories", allows_gaps=True, proposed=("overlap",)
    )

    def features(self, rows: Array) -> tuple[Sparse, Sparse]:
        """Return indicators of each sample's categories, column by column, twice."""
        _, owners = np.nonzero(~np.isnan(rows.T))
        numbers = [np.empty(0, dtype=np.int64)]
        count = 0
        for column in rows.T:
            of_column, different = numbered(column[~np.isnan(column)])
            numbers.append(count + of_column)
            count += different
        places = owners, np.concatenate(numbers)
        ones = csr_array((np.ones(len(owners)), places), shape=(len(rows), count))
        return ones, ones
