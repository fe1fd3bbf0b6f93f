"""A kernel on categories: samples that share them are similar, more so if they are rare."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from attrs.validators import gt
from numpy.typing import NDArray

from mklkit.kernels import FeatureKernel, Overlap
from mklkit.plugin import Array, Kernel, KernelTraits, finite_number, register


@register
@attrs.frozen
class FrequencyOverlap(Kernel):
    """Columns in which two samples have the same category, weighted by its rarity in training.

    k(x, z) is the sum of h(P(x_c)) over the columns c with x_c = z_c, divided by the root of the
    same sums of x and z with themselves, with P the share of the category among the values of its
    column in the training samples and h(P) = (1 − P^α)^(1/α). Categories that are not among them
    have P = 0 and count 1. Missing values are ignored. A sample whose categories all have the
    weight 0, or that has none, has similarity zero to all samples.

    Parameters
    ----------
    alpha : float, default=1.0
        α, above zero: above 1 only frequent categories lose weight, below 1 nearly all do.

    Notes
    -----
    Cost: O(Nq log N) to fit q columns; the cost of a call is that of ``overlap``.
    Source: L. Belanche, M. Villegas: Kernel functions for categorical variables with application to
    problems in the life sciences. Artificial Intelligence Research and Development (CCIA 2013).

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
    traits: ClassVar[KernelTraits] = KernelTraits(
        reads="categories", allows_gaps=True, search_space={"alpha": (2.0, 1.0, 0.5)}
    )

    alpha: float = attrs.field(default=1.0, converter=float, validator=[finite_number, gt(0)])

    def fit(self, rows: Array) -> FittedFrequencyOverlap:
        """Return the kernel with the weight of each category of the training samples."""
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

    def features(self, rows: Array) -> tuple[Any, Any]:
        """Return indicators of each sample's categories, and their weights."""
        ones, _ = Overlap().features(rows)
        weights = [
            # Categories that no training sample has get weight 1.
            pd.Series(of_values, values).reindex(column).fillna(1.0)
            for column, values, of_values in zip(rows.T, self.values, self.weights, strict=True)
        ]
        weighted = ones.copy()
        weighted.data = np.column_stack(weights)[~np.isnan(rows)]
        return ones, weighted
