"""Several kernels on the same rows, with what they share computed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard, cast

import numpy as np

from mklkit.numerics.pairwise import BASES
from mklkit.protocols import Array, FittedKernel, ScalarKernel

__all__ = ["is_scalar", "similarities"]


def is_scalar(kernel: FittedKernel) -> TypeGuard[ScalarKernel]:
    """Return whether a kernel is a scalar function of a base quantity that mklkit knows."""
    return isinstance(kernel, ScalarKernel) and kernel.base in BASES


def similarities(
    kernels: Sequence[FittedKernel],
    a_rows: Sequence[Array],
    b_rows: Sequence[Array],
    same: bool = False,
) -> Iterator[tuple[int, Array]]:
    """Yield each kernel's similarities on its own columns of the rows.

    Parameters
    ----------
    kernels : sequence of FittedKernel
        M of them.
    a_rows, b_rows : sequence of ndarray
        (n, d_m) and (m, d_m) for each kernel. Kernels that are given the *same array objects* and
        have the same base share its computation.
    same : bool
        Whether row i of ``a`` is row i of ``b``; distances on the diagonal are then exactly zero.

    Yields
    ------
    index : int
    values : ndarray of shape (n, m)
        The receiver's own until the next one is asked for; it may be overwritten then.

    Notes
    -----
    O(nmd) for each different base, O(nm) a kernel; two tiles of memory.
    """
    waiting = dict(enumerate(kernels))
    while waiting:
        first = next(iter(waiting))
        kernel, a, b = kernels[first], a_rows[first], b_rows[first]
        if not is_scalar(kernel):
            del waiting[first]
            yield first, kernel(a, b)
            continue
        name = kernel.base
        group = [
            index
            for index, other in waiting.items()
            if is_scalar(other) and other.base == name and a_rows[index] is a and b_rows[index] is b
        ]
        base = BASES[name](a, b)
        if same and name != "inner_product":
            np.fill_diagonal(base, 0)
        out = base if len(group) == 1 else np.empty_like(base)
        for index in group:
            del waiting[index]
            yield index, cast(ScalarKernel, kernels[index]).of(base, out)
