"""Boolean kernels: the number of formulas in columns of 0 and 1 that are true for both samples.

Source: M. Polato, I. Lauriola, F. Aiolli: A novel boolean kernels family for categorical data.
Entropy 20 (2018).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from scipy.special import binom

from mklkit import DataError
from mklkit.kernels import Cosine
from mklkit.plugin import Array, FittedKernel, Kernel, KernelTraits, as_int, register


@attrs.frozen
class BooleanKernel(Kernel, FittedKernel):
    """A kernel that counts formulas of a number of columns: fitted, itself or its cosine."""

    traits: ClassVar[KernelTraits] = KernelTraits(
        reads="amounts", search_space={"degree": (1, 2, 3)}
    )

    degree: int = attrs.field(default=2, converter=as_int, validator=[instance_of(int), ge(1)])
    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel; an error if values are not 0 or 1, or the degree is too large."""
        if self.normalize:
            return Cosine(attrs.evolve(self, normalize=False)).fit(rows)
        self._expect_presence(rows)
        columns = rows.shape[1]
        if not 0 < 2.0 ** min(self.degree, 1000) * binom(columns, self.degree) < 1e300:
            raise DataError(
                f"{self.name} has no formulas of {self.degree} of {columns} columns, or more than"
                f" a float can count: choose a lower degree, of at most {columns}."
            )
        return self

    def _expect_presence(self, *arrays: Array) -> None:
        for rows in arrays:
            wrong = rows[(rows != 0) & (rows != 1)]
            if wrong.size:
                raise DataError(
                    f"{self.name} compares columns of 0 and 1; got {float(wrong[0]):g}:"
                    " choose columns of 0 and 1 for it, or a kernel on amounts."
                )

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the number of formulas that are true for both samples: (n, m)."""
        self._expect_presence(a, b)
        in_a, in_b = (rows.sum(axis=1, dtype=np.float64) for rows in (a, b))
        common = np.asarray(a @ b.T, dtype=np.float64)
        return self.true_for_both(common, in_a[:, None], in_b, a.shape[1])

    def diagonal(self, a: Array) -> Array:
        """Return the number of formulas that are true for each sample: (n,)."""
        ones = a.sum(axis=1, dtype=np.float64)
        return self.true_for_both(ones, ones, ones, a.shape[1])

    @abstractmethod
    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return how many formulas, by columns that are 1 in both samples, in each, and of all."""


@register
@attrs.frozen
class MonotoneConjunctive(BooleanKernel):
    """Number of sets of columns that are all 1 in both samples, C(xᵀz, degree).

    Parameters
    ----------
    degree : int, default=2
        The number of columns in a set; at least 1 and at most all.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)). Samples with fewer ones than ``degree`` have
        similarity zero to all samples.

    Notes
    -----
    Cost: O(nmq) for q columns, one matrix product. Source: Polato, Lauriola and Aiolli (2018).

    Examples
    --------
    >>> rows = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    >>> MonotoneConjunctive(degree=2, normalize=False).fit(rows)(rows, rows)
    array([[3., 1.],
           [1., 1.]])
    """

    name: ClassVar[str] = "monotone-conjunctive"

    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return the number of sets of columns that are 1 in both."""
        return binom(common, self.degree)


@register
@attrs.frozen
class Conjunctive(BooleanKernel):
    """Number of sets of columns in which both samples are equal, C(q − |x − z|, degree).

    These are the conjunctions of columns, or their negations, that are true for both samples.

    Parameters
    ----------
    degree : int, default=2
        The number of columns in a set; at least 1 and at most all.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)), which is C(q, degree) for all samples.

    Notes
    -----
    Cost: O(nmq) for q columns, one matrix product. Source: Polato, Lauriola and Aiolli (2018).

    Examples
    --------
    >>> rows = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    >>> Conjunctive(degree=2, normalize=False).fit(rows)(rows, rows)
    array([[3., 1.],
           [1., 3.]])
    """

    name: ClassVar[str] = "conjunctive"

    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return the number of sets of columns in which both are equal."""
        return binom(columns - in_a - in_b + 2 * common, self.degree)


@register
@attrs.frozen
class MonotoneDisjunctive(BooleanKernel):
    """Number of sets of columns with at least one 1 in each of both samples.

    k(x, z) = C(q, d) − C(q − |x|, d) − C(q − |z|, d) + C(q − |x| − |z| + xᵀz, d) for the degree d.

    Parameters
    ----------
    degree : int, default=2
        The number of columns in a set; at least 1 and at most all.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)). All-zero samples have similarity zero to all
        samples.

    Notes
    -----
    Cost: O(nmq) for q columns, one matrix product. Source: Polato, Lauriola and Aiolli (2018).

    Examples
    --------
    >>> rows = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> MonotoneDisjunctive(degree=2, normalize=False).fit(rows)(rows, rows)
    array([[3., 2.],
           [2., 2.]])
    """

    name: ClassVar[str] = "monotone-disjunctive"

    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return the number of sets that have a one in each sample."""
        without_a, without_b = columns - in_a, columns - in_b
        values = binom(columns - in_a - in_b + common, self.degree)
        values += binom(columns, self.degree) - binom(without_a, self.degree)
        values -= binom(without_b, self.degree)
        return values


@register
@attrs.frozen
class Disjunctive(BooleanKernel):
    """Number of disjunctions of columns, or their negations, that are true for both samples.

    k(x, z) = (2^d − 2) C(q, d) + C(q − |x − z|, d) for the degree d: of the 2^d disjunctions of a
    set of d columns each sample makes one false, and both the same one if they are equal there.

    Parameters
    ----------
    degree : int, default=2
        d, the number of columns in a set; at least 1 and at most all.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)), which is (2^d − 1) C(q, d) for all samples.

    Notes
    -----
    Cost: O(nmq) for q columns, one matrix product. Source: Polato, Lauriola and Aiolli (2018).

    Examples
    --------
    >>> rows = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> Disjunctive(degree=2, normalize=False).fit(rows)(rows, rows)
    array([[9., 6.],
           [6., 9.]])
    """

    name: ClassVar[str] = "disjunctive"

    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return the number of disjunctions that are true for both."""
        equal = columns - in_a - in_b + 2 * common
        everywhere = (2.0**self.degree - 2) * binom(columns, self.degree)
        return binom(equal, self.degree) + everywhere
