"""What the boolean kernels have in common: features that are formulas in columns of 0 and 1."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from scipy.special import binom

from mklkit.errors import DataError
from mklkit.kernels.amounts.expectations import expect_presence
from mklkit.kernels.sparse_features import inverse_lengths
from mklkit.protocols import Array, FittedKernel, Kernel, KernelFacts
from mklkit.protocols.component import as_int

__all__ = ["BooleanKernel", "FittedBoolean"]

LARGEST = 1e300


@attrs.frozen
class BooleanKernel(Kernel):
    """The parameters of boolean kernels, and what they ask of the rows."""

    facts: ClassVar[KernelFacts] = KernelFacts(reads="amounts", search_space={"degree": (1, 2, 3)})

    degree: int = attrs.field(default=2, converter=as_int, validator=[instance_of(int), ge(1)])
    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    counting: ClassVar[type[FittedBoolean]]
    """The fitted kernel, which counts the formulas."""

    def fit(self, rows: Array) -> FittedBoolean:
        """Return the kernel (nothing depends on the rows)."""
        self._check(rows)
        return self.counting(self.degree, self.normalize)

    def _check(self, rows: Array) -> None:
        """Refuse other numbers than 0 and 1, and degrees that these columns cannot have.

        Raises
        ------
        DataError
        """
        expect_presence(self.name, rows)
        columns = rows.shape[1]
        if self.degree > columns:
            raise DataError(
                f"{self.name} has no formulas of {self.degree} of {columns} columns: choose a"
                f" degree of at most {columns}."
            )
        if not 2.0 ** min(self.degree, 1000) * binom(columns, self.degree) < LARGEST:
            raise DataError(
                f"{self.name} has more formulas of {self.degree} of {columns} columns than a float"
                " can count: choose a lower degree."
            )


@attrs.frozen
class FittedBoolean(FittedKernel):
    """A kernel that counts the formulas of a given kind that are true for both rows."""

    label: ClassVar[str]

    degree: int
    normalize: bool

    @abstractmethod
    def true_for_both(self, common: Array, in_a: Array, in_b: Array, columns: int) -> Array:
        """Return the number of formulas by what the rows hold.

        Parameters
        ----------
        common : ndarray
            The number of columns that are 1 in both rows.
        in_a, in_b : ndarray
            The number of columns that are 1 in each.
        columns : int
            The number of all columns.
        """

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, q) and ``b`` (m, q): (n, m)."""
        expect_presence(self.label, a, b)
        in_a, in_b = (rows.sum(axis=1, dtype=np.float64) for rows in (a, b))
        common = np.asarray(a @ b.T, dtype=np.float64)
        values = self.true_for_both(common, in_a[:, None], in_b, a.shape[1])
        if self.normalize:
            values *= inverse_lengths(self._own(in_a, a.shape[1]))[:, None]
            values *= inverse_lengths(self._own(in_b, a.shape[1]))
        return values

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""
        own = self._own(a.sum(axis=1, dtype=np.float64), a.shape[1])
        return (own > 0).astype(np.float64) if self.normalize else own

    def _own(self, ones: Array, columns: int) -> Array:
        return self.true_for_both(ones, ones, ones, columns)
