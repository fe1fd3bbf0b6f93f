"""A kernel given as a matrix that is indexed by row ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError
from mklkit.numerics.pairwise import upper_blocks
from mklkit.protocols import Array, KernelFacts
from mklkit.protocols.component import Component
from mklkit.registry.hookspecs import hookimpl

__all__ = ["Precomputed"]


ASYMMETRY = 1e-4
"""Share of the largest value by which mirrored values may differ, for rounding in any precision."""


def _square(instance: object, attribute: Any, value: Array) -> None:
    if value.ndim != 2 or value.shape[0] != value.shape[1]:
        raise ValueError(f"a precomputed kernel is a square matrix, got shape {value.shape}")
    if not np.isfinite(value).all():
        raise ValueError("a precomputed kernel must be finite: it holds NaN or infinity")
    limit = ASYMMETRY * float(np.abs(value).max(initial=0))
    for block, other in upper_blocks(len(value)):
        if np.abs(value[block, other] - value[other, block].T).max(initial=0) > limit:
            raise ValueError(
                "a precomputed kernel must be symmetric; use (K + K.T) / 2 if it differs only by"
                " rounding"
            )


def _as_float(value: Any) -> Array:
    array = np.asarray(value)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


@attrs.frozen(eq=False)
class Precomputed(Component):
    """Similarities looked up in a matrix; the data are one column of row ids.

    Because rows are named by id, cross-validation and one-vs-one slice the matrix correctly. Where
    the data have other columns too, bind the kernel to the id column:
    ``("graph", Precomputed(K), ["id"])``. Kernels that name no columns then use all others.

    Parameters
    ----------
    matrix : ndarray of shape (T, T)
        K over all rows that will be used, training and new ones. Finite and symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Precomputed(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> ids = np.array([[1], [0]])
    >>> kernel.fit(ids)(ids, ids[:1])
    array([[1. ],
           [0.5]])
    """

    name: ClassVar[str] = "precomputed"
    facts: ClassVar[KernelFacts] = KernelFacts(definite=False, reads="row ids")

    matrix: Array = attrs.field(
        converter=_as_float,
        validator=_square,
        repr=lambda value: f"<{value.shape[0]} x {value.shape[1]}>",
    )

    def fit(self, rows: Array) -> Precomputed:
        """Return the kernel itself."""
        return self

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows with ids ``a`` (n, 1) and ``b`` (m, 1): (n, m).

        For consecutive ids the result is a view of the matrix, not to be written to.
        """
        rows, columns = _run(self._ids(a)), _run(self._ids(b))
        if isinstance(rows, slice) and isinstance(columns, slice):
            part = self.matrix[rows, columns]
            part.flags.writeable = False
            return part
        if isinstance(rows, slice) or isinstance(columns, slice):
            return np.ascontiguousarray(self.matrix[rows][:, columns])
        return self.matrix[np.ix_(rows, columns)]

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""
        ids = self._ids(a)
        return self.matrix[ids, ids]

    def _ids(self, rows: Array) -> Any:
        size = len(self.matrix)
        if rows.ndim != 2 or rows.shape[1] != 1:
            raise DataError(
                f"A precomputed kernel takes one column of row ids, got {rows.shape[1]} columns:"
                " bind it to the id column, as in ('graph', Precomputed(K), ['id'])."
            )
        ids = rows[:, 0].astype(np.intp)
        if (ids != rows[:, 0]).any() or (len(ids) and (ids.min() < 0 or ids.max() >= size)):
            raise DataError(
                f"A precomputed kernel over {size} rows takes whole row ids from 0 to {size - 1},"
                f" got values from {rows.min():g} to {rows.max():g}."
            )
        return ids


def _run(ids: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """Return consecutive ids as a slice, which needs no copy."""
    if len(ids) and ids[-1] - ids[0] + 1 == len(ids) and (np.diff(ids) == 1).all():
        return slice(int(ids[0]), int(ids[-1]) + 1)
    return ids


@hookimpl
def mklkit_kernels() -> Iterable[type]:
    """Register the kernel."""
    return [Precomputed]
