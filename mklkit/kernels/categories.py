"""Kernels on categories: rows with the same ones are similar, rare ones more than others."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pandas as pd
from attrs.validators import gt
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mklkit.kernels.sparse_features import FeatureKernel, Sparse, numbered
from mklkit.protocols import Array, FixedKernel, Kernel, KernelFacts
from mklkit.protocols.component import finite_number
from mklkit.registry.hookspecs import register


def _present(rows: Array, weights: NDArray[np.float64] | None = None) -> Sparse:
    """Return a one for each category that a row has, or a weight, column by column; no gaps."""
    _, owners = np.nonzero(~np.isnan(rows.T))
    numbers, count = [np.empty(0, dtype=np.int64)], 0
    for column in rows.T:
        of_column, different = numbered(column[~np.isnan(column)])
        numbers.append(count + of_column)
        count += different
    values = np.ones(len(owners)) if weights is None else weights
    return csr_array((values, (owners, np.concatenate(numbers))), shape=(len(rows), count))


@register
@attrs.frozen
class Overlap(FixedKernel, FeatureKernel):
    """Share of the columns in which two rows have the same category.

    Gaps are left out: k(x, z) = e/√(p_x p_z), with e the columns that are equal and p_x those in
    which x has a value; without gaps this is the share. (The share among the columns in which both
    have a value is not positive semi-definite.) A row of gaps only has similarity zero to all rows.

    Notes
    -----
    O((n + m)q) for q columns to number the categories of the rows in each call; O(nm) for each
    category that many rows have, and for others the number of pairs of rows that have it. It is the
    linear kernel of one-hot encoded columns, divided by the lengths. Of C. Stanfill, D. Waltz:
    Toward memory-based reasoning. Communications of the ACM 29 (1986).

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
    facts: ClassVar[KernelFacts] = KernelFacts(
        reads="categories", allows_gaps=True, proposed=("overlap",)
    )

    def features(self, rows: Array) -> tuple[Sparse, Sparse]:
        """Return a one for each category that a row has, twice."""
        ones = _present(rows)
        return ones, ones


@register
@attrs.frozen
class FrequencyOverlap(Kernel):
    """Columns in which two rows have the same category, weighted by how rare it is in training.

    k(x, z) is the sum of h(P(x_c)) over the columns c with x_c = z_c, divided by the root of the
    same sums of x and z with themselves, with P the share of the category among the values of its
    column in the training rows and h(P) = (1 − P^α)^(1/α). Categories that are not among them have
    P = 0 and count 1. Gaps are left out. A row whose categories all have the weight 0, or that has
    none, has similarity zero to all rows.

    Parameters
    ----------
    alpha : float, default=1.0
        α, above zero: above 1 only frequent categories lose weight, below 1 nearly all do.

    Notes
    -----
    O(Nq log N) to fit q columns; the cost of a call is that of :class:`Overlap`. Of L. Belanche,
    M. Villegas: Kernel functions for categorical variables with application to problems in the life
    sciences. Artificial Intelligence Research and Development (CCIA 2013).

    Examples
    --------
    >>> from mklkit.registry.readings import category_codes
    >>> rows = category_codes([["red"], ["red"], ["blue"]])
    >>> FrequencyOverlap().fit(rows)(rows, rows).round(3)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    name: ClassVar[str] = "frequency-overlap"
    facts: ClassVar[KernelFacts] = KernelFacts(
        reads="categories", allows_gaps=True, search_space={"alpha": (2.0, 1.0, 0.5)}
    )

    alpha: float = attrs.field(default=1.0, converter=float, validator=[finite_number, gt(0)])

    def fit(self, rows: Array) -> FittedFrequencyOverlap:
        """Return the kernel with the weight of each category of the training rows."""
        values, weights = [], []
        for column in np.asarray(rows, dtype=np.float64).T:
            categories, counts = np.unique(column[~np.isnan(column)], return_counts=True)
            shares = counts / max(counts.sum(), 1)
            values.append(categories)
            weights.append((1 - shares**self.alpha) ** (1 / self.alpha))
        return FittedFrequencyOverlap(tuple(values), tuple(weights))


@register
@attrs.frozen(eq=False)
class FittedFrequencyOverlap(FeatureKernel):
    """The kernel with the categories of each column, in order, and their weights."""

    values: tuple[NDArray[np.float64], ...]
    weights: tuple[NDArray[np.float64], ...]

    def features(self, rows: Array) -> tuple[Sparse, Sparse]:
        """Return a one for each category that a row has, and its weight."""
        weights = [
            # Categories that are not among the training rows have the weight 1.
            pd.Series(of_values, values).reindex(column[~np.isnan(column)]).fillna(1.0)
            for column, values, of_values in zip(rows.T, self.values, self.weights, strict=True)
        ]
        return _present(rows), _present(rows, np.concatenate(weights))
