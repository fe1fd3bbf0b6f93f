"""Counts, sums and products of feature vectors per class, which add up over blocks of rows."""

from __future__ import annotations

from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.numerics.least_squares import NormalMatrix

Array = NDArray[np.floating[Any]]


@attrs.frozen(eq=False)
class ClassMoments:
    """Counts n_c (C,), sums Σ(φ − o) (C, P) and products Σ(φ − o)(φ − o)ᵀ (C, P, P), in float64.

    The origin o (P,) is a point among the features, by which products keep the digits of a spread
    that is small beside the mean. Where rows have weights, all of these are weighted, and a count
    is a sum of weights. O(NP²) for N rows in all.

    >>> features = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 5.0]])
    >>> moments = ClassMoments.of(features, np.array([0, 0, 1]), 2, np.zeros(2))
    >>> moments.means.tolist(), moments.covariance(0).tolist()
    ([[2.0, 1.0], [5.0, 5.0]], [[1.0, 1.0], [1.0, 1.0]])
    """

    origin: Array
    counts: Array
    sums: Array
    products: Array

    @classmethod
    def of(
        cls,
        features: Array,
        codes: NDArray[np.intp],
        n_classes: int,
        origin: Array,
        row_weights: Array | None = None,
    ) -> Self:
        """Return the moments of a block of features (n, P) with class numbers (n,)."""
        near = features - origin.astype(features.dtype)
        width = near.shape[1]
        counts = np.bincount(codes, row_weights, minlength=n_classes).astype(np.float64)
        sums = np.zeros((n_classes, width))
        products = np.zeros((n_classes, width, width))
        for code in np.unique(codes):
            members = codes == code
            of_class = near if members.all() else near[members]
            if row_weights is not None:
                weights = row_weights[members]
                sums[code] = weights @ of_class
                of_class = of_class * np.sqrt(weights)[:, None].astype(of_class.dtype)
            else:
                sums[code] = of_class.sum(axis=0, dtype=np.float64)
            # In float32 the rounding of large eigenvalues would be the size of a small ridge.
            exact = of_class.astype(np.float64)
            products[code] = exact.T @ exact
        return cls(origin, counts, sums, products)

    @property
    def sums_only(self) -> list[Array]:
        """What adds up over blocks of rows about the same origin."""
        return [self.counts, self.sums, self.products]

    @property
    def total(self) -> float:
        """The number of rows N, or the sum of their weights."""
        return float(self.counts.sum())

    @property
    def means(self) -> Array:
        """The mean of each class, (C, P); zero for a class without rows."""
        return self.origin * (self.counts > 0)[:, None] + self._offsets

    @property
    def _offsets(self) -> Array:
        counts = self.counts[:, None]
        return np.divide(self.sums, counts, where=counts > 0, out=np.zeros_like(self.sums))

    def covariance(self, code: int) -> Array:
        """Return a class's covariance (P, P), divided by its count."""
        offset = self._offsets[code]
        return self.products[code] / (self.counts[code] or 1) - np.outer(offset, offset)

    def part(self, columns: slice | NDArray[np.intp]) -> ClassMoments:
        """Return the moments of some of the features."""
        sums, products = self.sums[:, columns], self.products[:, columns][:, :, columns]
        return ClassMoments(self.origin[columns], self.counts, sums, products)

    def scaled(self, factors: Array) -> ClassMoments:
        """Return the moments of each feature times its factor (P,)."""
        sums, products = self.sums * factors, self.products * np.outer(factors, factors)
        return ClassMoments(self.origin * factors, self.counts, sums, products)

    def about(self, origin: Array) -> ClassMoments:
        """Return the same moments about another origin (P,), not far from the features."""
        shift = self.origin - origin
        moved = self.sums[:, :, None] * shift
        square = self.counts[:, None, None] * np.outer(shift, shift)
        products = self.products + moved + moved.transpose(0, 2, 1) + square
        return ClassMoments(origin, self.counts, self.sums + np.outer(self.counts, shift), products)

    def plus(self, moments: ClassMoments) -> ClassMoments:
        """Return the moments of these rows and others."""
        near = moments.about(self.origin)
        pairs = zip(self.sums_only, near.sums_only, strict=True)
        return ClassMoments(self.origin, *(part + more for part, more in pairs))

    def classes(self, members: NDArray[np.intp]) -> ClassMoments:
        """Return the moments of some of the classes."""
        return ClassMoments(self.origin, *(part[members] for part in self.sums_only))

    def merged(self, codes: NDArray[np.intp], n_classes: int) -> ClassMoments:
        """Return the moments of fewer classes, given the new number (C,) of each."""
        sums = [np.zeros((n_classes, *part.shape[1:])) for part in self.sums_only]
        for total, part in zip(sums, self.sums_only, strict=True):
            np.add.at(total, codes, part)
        return ClassMoments(self.origin, *sums)

    def together(self) -> ClassMoments:
        """Return the moments of all classes as one."""
        return ClassMoments(self.origin, *(part.sum(axis=0)[None] for part in self.sums_only))

    def normal_matrix(self) -> NormalMatrix:
        """Return ΦᵀΦ about zero and the column sums Φᵀ1, of all classes together."""
        whole = self.together()
        count, shift = whole.counts[0], np.outer(whole.sums[0], self.origin)
        products = whole.products[0] + shift + shift.T
        products += count * np.outer(self.origin, self.origin)
        return NormalMatrix(products, whole.sums[0] + count * self.origin, self.total)
