"""Boolean kernels whose features are conjunctions: all of some columns."""

from __future__ import annotations

from typing import ClassVar

import attrs
from scipy.special import binom

from mklkit.kernels.boolean.template import BooleanKernel, FittedBoolean
from mklkit.protocols import Array
from mklkit.registry.hookspecs import register

__all__ = ["Conjunctive", "FittedConjunctive", "FittedMonotoneConjunctive", "MonotoneConjunctive"]


@register
@attrs.frozen
class FittedMonotoneConjunctive(FittedBoolean):
    """The monotone conjunctive kernel, ready to evaluate."""

    label: ClassVar[str] = "monotone-conjunctive"

    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return the number of sets of columns that are 1 in both."""
        return binom(common, self.degree)


@register
@attrs.frozen
class MonotoneConjunctive(BooleanKernel):
    """Number of sets of columns that are all 1 in both rows, C(xᵀz, degree).

    Parameters
    ----------
    degree : int, default=2
        The number of columns in a set; at least 1 and at most all.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)). Rows with fewer ones than ``degree`` have
        similarity zero to all rows.

    Notes
    -----
    O(nmq) for q columns, one matrix product. Of M. Polato, I. Lauriola, F. Aiolli: A novel boolean
    kernels family for categorical data. Entropy 20 (2018).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    >>> MonotoneConjunctive(degree=2, normalize=False).fit(rows)(rows, rows)
    array([[3., 1.],
           [1., 1.]])
    """

    name: ClassVar[str] = FittedMonotoneConjunctive.label
    counting: ClassVar[type[FittedBoolean]] = FittedMonotoneConjunctive


@register
@attrs.frozen
class FittedConjunctive(FittedBoolean):
    """The conjunctive kernel, ready to evaluate."""

    label: ClassVar[str] = "conjunctive"

    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return the number of sets of columns in which both are equal."""
        return binom(columns - in_a - in_b + 2 * common, self.degree)


@register
@attrs.frozen
class Conjunctive(BooleanKernel):
    """Number of sets of columns in which both rows are equal, C(q − |x − z|, degree).

    These are the conjunctions of columns, or their negations, that are true for both rows.

    Parameters
    ----------
    degree : int, default=2
        The number of columns in a set; at least 1 and at most all.
    normalize : bool, default=True
        Whether to divide by √(k(x, x) k(z, z)), which is C(q, degree) for all rows.

    Notes
    -----
    O(nmq) for q columns, one matrix product. Of M. Polato, I. Lauriola, F. Aiolli: A novel boolean
    kernels family for categorical data. Entropy 20 (2018).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    >>> Conjunctive(degree=2, normalize=False).fit(rows)(rows, rows)
    array([[3., 1.],
           [1., 3.]])
    """

    name: ClassVar[str] = FittedConjunctive.label
    counting: ClassVar[type[FittedBoolean]] = FittedConjunctive
