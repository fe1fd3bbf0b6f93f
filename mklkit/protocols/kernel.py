"""Kernels: the similarity of two rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from mklkit.protocols.component import Component
from mklkit.protocols.rows import Array

__all__ = ["FittedKernel", "FixedKernel", "Kernel"]


class FittedKernel(ABC):
    """A kernel whose parameters have been resolved to numbers.

    A scalar function of a base quantity of two rows is a :class:`mklkit.plugin.FittedScalarKernel`.
    """

    __slots__ = ()

    base: ClassVar[str] = ""
    """The base quantity of two rows of which it is a function, a key of
    ``numerics.pairwise.BASES``; empty where it is none. Kernels with the same base on the same
    rows share its computation."""

    monotone: ClassVar[int] = 0
    """+1 where the kernel grows with the base, −1 where it falls, 0 where it does neither."""

    @abstractmethod
    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, d) and ``b`` (m, d): (n, m)."""

    @abstractmethod
    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""

    def of(self, base: Array, out: Array) -> Array:
        """Return the kernel's values at the base's values, written into ``out``; with a base."""
        raise NotImplementedError


class Kernel(Component, ABC):
    """Similarity of two rows.

    Optional: ``facts``, a :class:`mklkit.plugin.KernelFacts`, where the defaults do not hold.
    """

    __slots__ = ()

    @abstractmethod
    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel with its data-dependent parameters computed from the training rows."""

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel fitted to rows (n, d) that count by their weights (n,), above 0.

        For kernels whose fit depends on how much each row counts, such as those with a width by
        rule: integer weights give what ``fit`` gives for rows that occur as often.
        """
        return self.fit(rows)

    @property
    def kernel(self) -> Kernel | None:
        """The kernel around which this one is, such as that of ``cosine``; None for others."""
        return None


class FixedKernel(Kernel, FittedKernel):
    """A kernel that needs no training: its ``fit`` returns the kernel itself."""

    __slots__ = ()

    def fit(self, rows: Array) -> Self:
        """Return the kernel (nothing depends on the rows)."""
        return self
