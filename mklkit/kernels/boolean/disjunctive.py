"""Boolean kernels whose features are disjunctions: at least one of some columns."""

from __future__ import annotations

from typing import ClassVar

import attrs
from scipy.special import binom

from mklkit.kernels.boolean.template import BooleanKernel, FittedBoolean
from mklkit.protocols import Array
from mklkit.registry.hookspecs import register

__all__ = ["Disjunctive", "FittedDisjunctive", "FittedMonotoneDisjunctive", "MonotoneDisjunctive"]


@register
@attrs.frozen
class FittedMonotoneDisjunctive(FittedBoolean):
    """The monotone disjunctive kernel, ready to evaluate."""

    label: ClassVar[str] = "monotone-disjunctive"

    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return the number of sets that have a one in each row."""
        without_a, without_b = columns - in_a, columns - in_b
        values = binom(columns - in_a - in_b + common, self.degree)
        values += binom(columns, self.degree) - binom(without_a, self.degree)
        values -= binom(without_b, self.degree)
        return values


@register
@attrs.frozen
class MonotoneDisjunctive(BooleanKernel):
    """Number of sets of columns of which at least one is 1 in each of both rows.

    k(x, z) = C(q, d) − C(q − |x|, d) − C(q − |z|, d) + C(q − |x| − |z| + xᵀz, d) for the degree d.

    Parameters
    ----------
    degree : int, default=2
        The number of columns in a set; at least 1 and at most all.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)). Rows of zeros have similarity zero to all rows.

    Notes
    -----
    O(nmq) for q columns, one matrix product. Of M. Polato, I. Lauriola, F. Aiolli: A novel boolean
    kernels family for categorical data. Entropy 20 (2018).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> MonotoneDisjunctive(degree=2, normalize=False).fit(rows)(rows, rows)
    array([[3., 2.],
           [2., 2.]])
    """

    name: ClassVar[str] = FittedMonotoneDisjunctive.label
    counting: ClassVar[type[FittedBoolean]] = FittedMonotoneDisjunctive


@register
@attrs.frozen
class FittedDisjunctive(FittedBoolean):
    """The disjunctive kernel, ready to evaluate."""

    label: ClassVar[str] = "disjunctive"

    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return the number of disjunctions that are true for both."""
        equal = columns - in_a - in_b + 2 * common
        everywhere = (2.0**self.degree - 2) * binom(columns, self.degree)
        return binom(equal, self.degree) + everywhere


@register
@attrs.frozen
class Disjunctive(BooleanKernel):
    """Number of disjunctions of columns, or their negations, that are true for both rows.

    k(x, z) = (2^d − 2) C(q, d) + C(q − |x − z|, d) for the degree d: of the 2^d disjunctions of a
    set of d columns each row makes one false, and both the same one if they are equal there.

    Parameters
    ----------
    degree : int, default=2
        d, the number of columns in a set; at least 1 and at most all.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)), which is (2^d − 1) C(q, d) for all rows.

    Notes
    -----
    O(nmq) for q columns, one matrix product. Of M. Polato, I. Lauriola, F. Aiolli: A novel boolean
    kernels family for categorical data. Entropy 20 (2018).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> Disjunctive(degree=2, normalize=False).fit(rows)(rows, rows)
    array([[9., 6.],
           [6., 9.]])
    """

    name: ClassVar[str] = FittedDisjunctive.label
    counting: ClassVar[type[FittedBoolean]] = FittedDisjunctive
