"""A kernel given as a matrix that is indexed by row ids."""

from __future__ import annotations

import os
import stat
from functools import lru_cache
from typing import Any, ClassVar
from zipfile import BadZipFile

import attrs
import numpy as np
from attrs.validators import instance_of, optional
from numpy.typing import NDArray
from scipy.sparse import issparse

from mklkit.errors import DataError, counted, plain_message, quoted
from mklkit.numerics.pairwise import upper_blocks
from mklkit.protocols import Array, FixedKernel, KernelTraits
from mklkit.registry.hookspecs import register


def _loaded(path: str) -> Array:
    """Return the matrix in a file; a DataError tells why it can't be read."""
    try:
        status = os.stat(path)
        # The path may come from a model file that is refitted; reading a pipe would block.
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a file")
        return _read(os.path.abspath(path), status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        reason = "there is no such file"
    except (OSError, ValueError, TypeError, EOFError, BadZipFile) as error:
        reason = plain_message(error).rstrip(".")
        if "allow_pickle" in reason:  # NumPy's advice would execute code in the file.
            reason = "it holds no array of numbers"
    raise DataError(
        f"The matrix of a precomputed kernel, {quoted(path)}: {reason}. It is read from a file"
        " .npy, .npz (with one array) or .csv (numbers and commas only)."
    )


@lru_cache(maxsize=2)
def _read(path: str, modified: int, size: int) -> Array:
    """Return the matrix in a file with this time stamp and size: specs are parsed several times."""
    if not size:
        raise ValueError("it is empty")
    if path.endswith(".csv"):
        return np.loadtxt(path, delimiter=",", ndmin=2)
    content = np.load(path, allow_pickle=False)
    if not isinstance(content, np.lib.npyio.NpzFile):
        return _as_float(content)
    with content:
        if len(content.files) != 1:
            raise ValueError(f"it has {counted(len(content.files), 'array')}; expected one")
        return _as_float(content[content.files[0]])


def _check_matrix(value: Array) -> None:
    if value.ndim != 2 or value.shape[0] != value.shape[1] or not len(value):
        raise ValueError(
            f"a precomputed kernel is a square matrix, got shape {value.shape}; for separate"
            " matrices of training and new rows use Precomputed(K, new=K_new)"
        )
    if not np.isfinite(value).all():
        raise ValueError("a precomputed kernel must be finite: it holds NaN or infinity")
    limit = 1e-4 * float(np.abs(value).max(initial=0))  # for rounding in any precision
    for block, across in upper_blocks(len(value)):
        if np.abs(value[block, across] - value[across, block].T).max(initial=0) > limit:
            raise ValueError(
                "a precomputed kernel must be symmetric; use (K + K.T) / 2 if it differs only by"
                " rounding"
            )


def _as_float(value: Any) -> Any:
    if value is None:
        return None
    array = value.toarray() if issparse(value) else np.asarray(value)
    if np.iscomplexobj(array):
        raise ValueError(f"a precomputed kernel must hold real numbers; got {array.dtype}")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _shape(value: Any) -> str:
    return "None" if value is None else "<{} x {}>".format(*np.shape(value))


@register
@attrs.frozen(eq=False)
class Precomputed(FixedKernel):
    """Similarities looked up in a matrix; the data are one column of row ids, from 0.

    Because rows are named by id, cross-validation and one-vs-one slice the matrix correctly. If
    the data have other columns too, bind the kernel to the id column:
    ``("graph", Precomputed(K), ["id"])``, or ``"graph:precomputed(path='graph.npy')@id"``. Kernels
    that name no columns then use all others.

    Parameters
    ----------
    matrix : array or sparse matrix of shape (T, T), optional
        K over all rows to be used, training and new ones. Finite and symmetric.
    path : str, optional
        A file with the matrix instead: ``.npy``, ``.npz`` with one array, or ``.csv`` with only
        numbers. A model file contains the matrix.
    new : array or sparse matrix of shape (n, T), optional
        Similarities of further rows to these, stored separately; their ids are T, T + 1 and so on.
        Similarities of new rows to each other are unknown.

    Raises
    ------
    DataError
        If the file is missing or holds no matrix of real numbers.
    ValueError
        If the matrix has no rows, or is not square, finite, real and symmetric.

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
    traits: ClassVar[KernelTraits] = KernelTraits(definite=False, reads="row ids")

    matrix: Array | None = attrs.field(default=None, converter=_as_float, repr=_shape)
    path: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    new: Array | None = attrs.field(default=None, converter=_as_float, repr=_shape)
    _values: Array = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if (self.matrix is None) == (self.path is None):
            raise ValueError(
                "a precomputed kernel needs either its 'matrix', in Python, or the 'path' of a file"
                " with it, as in precomputed(path='graph.npy')"
            )
        values = self.matrix if self.matrix is not None else _loaded(str(self.path))
        _check_matrix(values)
        if self.new is not None:
            if self.new.shape[1:] != values.shape[1:] or not np.isfinite(self.new).all():
                raise ValueError(
                    f"'new' must have finite similarities, an array of shape (n, {len(values)});"
                    f" got shape {self.new.shape}"
                )
            values = np.vstack([values, self.new])
        object.__setattr__(self, "_values", values)

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the similarities of the rows with ids ``a`` (n, 1) and ``b`` (m, 1): (n, m).

        For consecutive ids the result is a view of the matrix, not to be written to.
        """
        ids = self._ids(b)
        if ids.max(initial=-1) >= self._values.shape[1]:
            self._refuse_new(self._ids(a))
            return self(b, a).T
        rows, columns = _run(self._ids(a)), _run(ids)
        if isinstance(rows, slice) and isinstance(columns, slice):
            part = self._values[rows, columns]
            part.flags.writeable = False
            return part
        if isinstance(rows, slice) or isinstance(columns, slice):
            return np.ascontiguousarray(self._values[rows][:, columns])
        return self._values[np.ix_(rows, columns)]

    def diagonal(self, a: Array) -> Array:
        """Return the similarity of each row with itself: (n,)."""
        ids = self._ids(a)
        self._refuse_new(ids)
        return self._values[ids, ids]

    def _refuse_new(self, ids: NDArray[np.intp]) -> None:
        if ids.max(initial=-1) >= self._values.shape[1]:
            raise DataError(
                "Similarities of new rows to each other are needed, as by cosine, but not in"
                " Precomputed(K, new=K_new): use Precomputed(K) of all rows."
            )

    def _ids(self, rows: Array) -> Any:
        size = len(self._values)
        if rows.ndim != 2 or rows.shape[1] != 1:
            raise DataError(
                f"A precomputed kernel takes one column of row ids, got {rows.shape[1]} columns:"
                " pass row numbers to fit and predict, such as np.arange(len(K))[:, None], or bind"
                " it to the id column of a table, as in ('graph', Precomputed(K), ['id'])."
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
