"""Matrices and functions that a user passes as kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, ClassVar

import attrs
import numpy as np
from scipy.sparse import issparse

from mklkit.errors import DataError
from mklkit.numerics.pairwise import row_blocks
from mklkit.protocols import Array, Component, FixedKernel, KernelTraits
from mklkit.registry.registry import get_registry
from mklkit.registry.specs import build, to_spec


@attrs.frozen
class FunctionKernel(FixedKernel):
    """A function f(A, B) of samples (n, d), called on blocks of samples by several threads."""

    name: ClassVar[str] = "function"
    traits: ClassVar[KernelTraits] = KernelTraits(definite=False)

    function: Callable[[Array, Array], Any]

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities (n, m)."""
        values = np.asarray(self.function(a, b), dtype=np.result_type(a, b))
        if values.shape != (len(a), len(b)):
            raise DataError(
                f"The kernel {label_of(self)} must return shape ({len(a)}, {len(b)}) here; got"
                f" {values.shape}. A matrix of all samples is Precomputed(K)."
            )
        return values

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each sample with itself: (n,)."""
        return np.concatenate([self(a[b], a[b]).diagonal() for b in row_blocks(len(a), 64)])


def label_of(kernel: Any) -> str:
    """Return a kernel's spec string with all parameters; for a function, its name or type."""
    if not isinstance(kernel, FunctionKernel):
        return to_spec(kernel, full=True)
    function: Any = kernel.function
    return str((function if isinstance(function, FunctionType) else type(function)).__name__)


def as_kernel(value: Any) -> Any:
    """Return the kernel of a spec string, of a matrix or of a function; a kernel is unchanged.

    Examples
    --------
    >>> as_kernel(np.eye(2)).matrix.tolist(), as_kernel("rbf")
    ([[1.0, 0.0], [0.0, 1.0]], RBF(sigma='mean', gamma=None))
    >>> as_kernel(lambda a, b: a @ b.T).diagonal(np.array([[1.0], [2.0]]))
    array([1., 4.])
    """
    if not isinstance(value, str | type | Sequence | Mapping | Component):
        if issparse(value) or np.ndim(value) == 2:
            cls = get_registry().lookup("kernel", "precomputed").target
            return build(cls, (value,), {}, "precomputed")
        if callable(value):
            return FunctionKernel(value)
    return get_registry().create("kernel", value)
