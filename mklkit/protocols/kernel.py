"""Kernels: the similarity of two rows."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from mklkit.protocols.arrays import Array

__all__ = ["FittedKernel", "Kernel", "KernelAround", "ScalarKernel"]


@runtime_checkable
class FittedKernel(Protocol):
    """A kernel whose parameters have been resolved to numbers."""

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows of ``a`` (n, d) and ``b`` (m, d): (n, m)."""
        ...

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""
        ...


@runtime_checkable
class ScalarKernel(FittedKernel, Protocol):
    """A fitted kernel that is a scalar function of a named base quantity.

    Kernels that name the same ``base`` on the same rows share its computation.
    """

    base: ClassVar[str]
    """A key of ``numerics.pairwise.BASES``: inner product, squared or Manhattan distance."""

    monotone: ClassVar[int]
    """+1 where the kernel grows with the base, −1 where it falls, 0 where it does neither."""

    def of(self, base: Array, out: Array) -> Array:
        """Return the kernel's values at the base's values, written into ``out``."""
        ...


class Kernel(Protocol):
    """Similarity of two rows.

    Optional: ``facts``, a :class:`mklkit.KernelFacts`, where the defaults do not hold.
    """

    name: ClassVar[str]

    def fit(self, rows: Array) -> FittedKernel:
        """Return the kernel with its data-dependent parameters computed from the training rows."""
        ...


@runtime_checkable
class KernelAround(Kernel, Protocol):
    """A kernel around another one, such as ``cosine``, which reads what the inner kernel reads."""

    kernel: Kernel


@runtime_checkable
class WeightedKernel(Kernel, Protocol):
    """A kernel whose fit depends on how much each row counts, such as one with a width by rule."""

    def fit_weighted(self, rows: Array, row_weights: Array) -> FittedKernel:
        """Return the kernel fitted to rows (n, d) that count by their weights (n,), above 0.

        Integer weights give what ``fit`` gives for rows that occur as often.
        """
        ...
