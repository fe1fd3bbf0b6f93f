"""Strategies for rows that lack a source, in training and in prediction."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from mklkit.protocols.combiner import Combiner
from mklkit.protocols.component import Component
from mklkit.protocols.kernel import FittedKernel
from mklkit.protocols.rows import Array

__all__ = ["Missing"]


class Missing(Component, ABC):
    """The treatment of rows in which all of a kernel's columns are missing.

    By default such a row has no similarity there, and the sum of the sources that it has is scaled
    (:class:`~mklkit.missing.Present`). A strategy changes the kernels with :meth:`fit`, or how they
    are combined with :meth:`wrap`; or it fills or drops such rows.

    If no row lacks a source, decisions must be those without a strategy: :meth:`fit` is called for
    complete tables, too, and may change a kernel only in ways that decisions do not depend on, as
    centring does. The checks of ``mklkit-authors`` test it.
    """

    __slots__ = ()

    fills: ClassVar[bool] = False
    """Whether all gaps become medians, so that no row lacks a source."""
    drops: ClassVar[bool] = False
    """Whether training rows that lack a source are left out, and new ones refused."""

    def fit(self, kernel: FittedKernel, rows: Array) -> FittedKernel:
        """Return the kernel to use, fitted to the training rows (n, d_m) that have its source."""
        return kernel

    def wrap(self, combiner: Combiner) -> Combiner:
        """Return the combiner to use, whose ``fit`` may depend on which sources samples miss.

        The ``missing`` of the views that it gets says so (N, M), and ``block.missing_of`` of the
        decision's projectors for new samples (n, M); both are None if nothing is missing.
        """
        return combiner
