"""Products and lengths of rows that may be sparse: arrays of SciPy in compressed rows (CSR)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

Array = NDArray[np.floating[Any]]

Sparse = Any
"""A sparse matrix in rows, ``scipy.sparse.csr_array``, which has no types."""

DENSE_GAIN = 50
"""One multiplication in a sparse product costs as much as this many in a dense one."""

DENSE_COLUMNS = 2048
"""The number of columns made dense at a time."""

PAIRS = 4096
"""The number of pairs of rows subtracted from each other at a time."""


def in_rows(rows: Any) -> Sparse:
    """Return rows (n, d) in compressed form; sparse ones unchanged."""
    return rows if issparse(rows) else csr_array(rows)


def bytes_of(rows: Any) -> int:
    """Return the memory of rows (n, d), an array or a sparse one."""
    if not issparse(rows):
        return int(rows.nbytes)
    return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)


def gaps_filled(rows: Sparse, missing: NDArray[np.bool_] | None, values: Array) -> Sparse:
    """Return sparse rows (n, d) with values (d,) in those that are ``missing``, and so are empty.

    >>> rows, missing = csr_array([[3.0, 0.0], [0.0, 0.0]]), np.array([False, True])
    >>> gaps_filled(rows, missing, np.array([0.0, 2.0])).toarray().tolist()
    [[3.0, 0.0], [0.0, 2.0]]
    """
    stored = np.flatnonzero(values)
    if missing is None or not missing.any() or not len(stored):
        return rows
    count = int(missing.sum())
    ends = np.concatenate([[0], np.cumsum(missing) * len(stored)])
    parts = np.tile(values[stored].astype(rows.dtype), count), np.tile(stored, count), ends
    return rows + csr_array(parts, rows.shape)


def squared_lengths(rows: Any) -> Array:
    """Return the squared length of each row of (n, d), an array or a sparse one: (n,).

    >>> squared_lengths(csr_array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [25.0, 1.0]
    """
    if issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), rows.dtype).ravel()
    return np.einsum("ij,ij->i", rows, rows)


def sparse_products(left: Sparse, right: Sparse) -> Array:
    """Return ``left @ right.T`` as an array: (n, m) of (n, V) and (m, V).

    Columns in which many rows have a value go through a dense product, the others through a sparse
    one: O(n·m) for each of the former, and for each of the latter the number of pairs of values.
    """
    shape = left.shape[0], right.shape[0]
    pairs = np.bincount(left.indices, minlength=left.shape[1])
    pairs *= np.bincount(right.indices, minlength=left.shape[1])
    common = DENSE_GAIN * pairs > shape[0] * shape[1]
    values = np.zeros(shape, np.result_type(left.dtype, right.dtype, np.float32))
    sparse = np.flatnonzero(~common & (pairs > 0))
    if len(sparse):
        values += (left[:, sparse] @ right[:, sparse].T).toarray()
    dense = np.flatnonzero(common)
    for start in range(0, len(dense), DENSE_COLUMNS):
        part = dense[start : start + DENSE_COLUMNS]
        values += left[:, part].toarray() @ right[:, part].toarray().T
    return values


def sparse_squared_distances(a: Any, b: Any) -> Array:
    """Return the squared Euclidean distances of rows: (n, m) for (n, d) and (m, d).

    ‖a‖² + ‖b‖² − 2aᵀb; distances that lose half of their digits by it, or overflow in between, are
    summed from differences, so that equal rows have distance zero.
    """
    a, b = in_rows(a), in_rows(b)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = squared_lengths(a)
        distances = sparse_products(a, b)
        distances *= -2
        distances += lengths[:, None]
        distances += squared_lengths(b)
        low = lengths * np.sqrt(np.finfo(distances.dtype).eps)
        ordinary = (distances > low[:, None]) & (distances < np.inf)
        rows, columns = np.nonzero(~ordinary)
        for start in range(0, len(rows), PAIRS):
            part = slice(start, start + PAIRS)
            gaps = a[rows[part]] - b[columns[part]]
            distances[rows[part], columns[part]] = squared_lengths(gaps)
    return distances
