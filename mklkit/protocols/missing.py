"""Strategies for samples with a missing source, in training and in prediction."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from mklkit.protocols.combiner import Combiner
from mklkit.protocols.component import Component
from mklkit.protocols.kernel import FittedKernel
from mklkit.protocols.rows import Array

__all__ = ["Missing"]


class Missing(Component, ABC):
    """A strategy for missing sources: samples in which all columns of a kernel are missing.

    By default such a sample has no similarity there, and the sum of the sources that it has is
    scaled (:class:`~mklkit.missing.Present`). A strategy is an ``@attrs.frozen`` class with a
    ``name`` that changes the kernels with :meth:`fit`, or how they are combined with :meth:`wrap`;
    or it fills or drops such samples.

    If no sample misses a source, decisions must be those without a strategy: :meth:`fit` is called
    for complete tables, too, and may change a kernel only in ways that decisions do not depend on,
    as centring does. The checks of ``mklkit-authors`` test it.

    Attributes
    ----------
    name : str
        The name that users type.
    fills : bool
        Whether all missing values become medians, so that no sample misses a source; by default
        False.
    drops : bool
        Whether training samples that miss a source are dropped, and new ones raise an error; by
        default False.

    See Also
    --------
    Views : The views, whose ``missing`` says which samples miss each source.
    RowBlock : A block of new samples, with ``missing_of``.

    Examples
    --------
    Similarities of half the size, which for one kernel change no decision of a learner without a
    ridge:

    >>> import attrs
    >>> import numpy as np
    >>> from mklkit.kernels import Linear
    >>> from mklkit.protocols import FittedKernel
    >>> @attrs.frozen
    ... class Half(FittedKernel):
    ...     kernel: FittedKernel
    ...     def __call__(self, a, b):
    ...         return self.kernel(a, b) / 2
    ...     def diagonal(self, a):
    ...         return self.kernel.diagonal(a) / 2
    >>> @attrs.frozen
    ... class Halved(Missing):
    ...     name = "halved"
    ...     def fit(self, kernel, rows):
    ...         return Half(kernel)
    >>> rows = np.array([[2.0], [4.0]])
    >>> Halved().fit(Linear().fit(rows), rows)(rows, rows).tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    """

    __slots__ = ()

    fills: ClassVar[bool] = False
    drops: ClassVar[bool] = False

    def fit(self, kernel: FittedKernel, rows: Array) -> FittedKernel:
        """Return the kernel to use in place of a fitted one.

        Parameters
        ----------
        kernel : FittedKernel
            The kernel, fitted to the training samples that have its source.
        rows : ndarray of shape (n, d_m)
            These samples, restricted to the kernel's own columns.

        Returns
        -------
        FittedKernel
            The kernel to use; by default the same.
        """
        return kernel

    def wrap(self, combiner: Combiner) -> Combiner:
        """Return the combiner to use, whose fit may depend on which sources samples miss.

        Its views state that by ``missing``, (N, M), and the blocks of new samples by
        ``block.missing_of(projectors)``, (n, M); both are None if nothing is missing.

        Parameters
        ----------
        combiner : Combiner
            The combiner that the user chose.

        Returns
        -------
        Combiner
            The combiner to use; by default the same.
        """
        return combiner
