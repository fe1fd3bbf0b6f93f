"""Eigenpairs of a symmetric matrix whose eigenvectors are applied, never formed."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

__all__ = ["AppliedSpectrum"]

Array = NDArray[np.floating[Any]]


@attrs.frozen(eq=False)
class AppliedSpectrum:
    """Positive eigenvalues and the eigenvectors U = QS of a symmetric matrix QTQᵀ, T tridiagonal.

    Q stays a product of Householder reflections. To apply it to a few columns costs O(N²) each;
    to form U, as :class:`mklkit.numerics.least_squares.Spectrum` does, costs half of the time.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Largest first.
    """

    values: Array
    _vectors: Array
    """S (N, r)."""
    _reflections: Array
    """(N − 1, N − 1), below the diagonal, as of a QR factorisation of the last N − 1 rows."""
    _scales: Array
    """(N − 1,)"""

    @classmethod
    def of(cls, matrix: Array, tolerance: float) -> AppliedSpectrum:
        """Return the eigenpairs whose value is above ``tolerance`` times the largest, in O(N³).

        Raises
        ------
        LinAlgError
            If the matrix has NaN or infinity, on which LAPACK returns arbitrary results.
        """
        if not np.isfinite(matrix).all():
            raise np.linalg.LinAlgError("a matrix has NaN or infinity")
        sytrd, workspace = scipy.linalg.get_lapack_funcs(("sytrd", "sytrd_lwork"), (matrix,))
        size = int(workspace(len(matrix), lower=1)[0])
        # The transpose of an array in C order is in LAPACK's order.
        reduced, diagonal, beside, scales, _ = sytrd(matrix.T, lower=1, lwork=size)
        values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside, check_finite=False)
        kept = np.flatnonzero(values > tolerance * max(float(values[-1]), 0.0))[::-1]
        return cls(values[kept], vectors[:, kept], np.asfortranarray(reduced[1:, :-1]), scales)

    def coordinates(self, columns: Array) -> Array:
        """Return Uᵀ columns, (r, k) for (N, k)."""
        return self._vectors.T @ self._reflected(columns, "T")

    def combined(self, weights: Array) -> Array:
        """Return U weights, (N, k) for (r, k)."""
        return self._reflected(self._vectors @ weights, "N")

    def _reflected(self, columns: Array, transposed: str) -> Array:
        """Return Q or Qᵀ times columns (N, k); the first row stays as it is."""
        # LAPACK refuses a matrix without columns, in print.
        if len(columns) == 1 or not columns.shape[1]:
            return columns
        (apply,) = scipy.linalg.get_lapack_funcs(("ormqr",), (self._reflections,))
        lower, _, _ = apply(
            "L", transposed, self._reflections, self._scales, columns[1:], 64 * columns.shape[1]
        )
        return np.vstack([columns[:1], lower])
