"""Matrices and functions that a user gives in place of kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, ClassVar

import attrs
import numpy as np
from scipy.sparse import issparse

from mklkit.errors import DataError, quoted
from mklkit.numerics.pairwise import row_blocks
from mklkit.protocols import Array, FixedKernel, KernelFacts
from mklkit.protocols.component import MATRIX
from mklkit.registry.entries import lacking
from mklkit.registry.registry import get_registry
from mklkit.registry.specs import build

ROWS = 64
"""Rows compared with each other at a time where only the diagonal is wanted."""


@attrs.frozen
class FunctionKernel(FixedKernel):
    """A function f(A, B) of rows (n, d) and (m, d) to similarities (n, m), as ``SVC`` takes it.

    It is called for blocks of rows, by several threads.
    """

    name: ClassVar[str] = "function"
    facts: ClassVar[KernelFacts] = KernelFacts(definite=False)

    function: Callable[[Array, Array], Any]

    @property
    def label(self) -> str:
        """The function's name, or that of its type."""
        named = isinstance(self.function, FunctionType)
        return self.function.__name__ if named else type(self.function).__name__

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities (n, m)."""
        values = np.asarray(self.function(a, b), dtype=np.result_type(a, b))
        if values.shape != (len(a), len(b)):
            raise DataError(
                f"The kernel {quoted(self.label)} must return a similarity of each of {len(a)} rows"
                f" to each of {len(b)}, an array of shape ({len(a)}, {len(b)}); it returned shape"
                f" {values.shape}. A matrix of all rows is Precomputed(K)."
            )
        return values

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""
        return np.concatenate([self(a[b], a[b]).diagonal() for b in row_blocks(len(a), ROWS)])


def as_kernel(value: Any) -> Any:
    """Return the kernel of a spec string, of a matrix or of a function; a kernel is unchanged.

    Examples
    --------
    >>> as_kernel(np.eye(2)), as_kernel("rbf")
    (Precomputed(matrix=<2 x 2>, path=None, new=None), RBF(sigma='mean', gamma=None))
    >>> as_kernel(lambda a, b: a @ b.T).diagonal(np.array([[1.0], [2.0]]))
    array([1., 4.])
    """
    if not isinstance(value, str | type | Sequence | Mapping) and any(lacking("kernel", value)):
        if issparse(value) or np.ndim(value) == 2:
            cls = get_registry().lookup("kernel", MATRIX).target
            return build(cls, (value,), {}, MATRIX)
        if callable(value):
            return FunctionKernel(value)
    return get_registry().create("kernel", value)
