"""Eigenpairs of symmetric matrices, applied without being formed, of a diagonal plus low rank, or
of pencils S_B − λ(S_L + γI), whose ratio of traces an embedding maximises.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from mklkit.numerics.threads import threads_for

Array = NDArray[np.floating[Any]]

DENSE_SIZE = 200
"""Up to this many coordinates a dense symmetric solver is faster than a Krylov solver."""
RESTARTS = 3
"""Restarts of the Krylov solver, slow for nearly equal eigenvalues, before the dense solver."""
NEWTON_STEPS = 100


def eigh(matrix: Array, **options: Any) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors like ``scipy.linalg.eigh``, with threads by size."""
    with threads_for(matrix):
        values, vectors = scipy.linalg.eigh(matrix, **options)
    return values, vectors


def tridiagonal_form(matrix: Array) -> tuple[Array, Array, Array, Array]:
    """Return T of a symmetric QTQᵀ, and Q, which keeps the first coordinate unchanged.

    T is given by its diagonal (N,) and off-diagonal (N − 1,), Q by reflections (N − 1, N − 1) below
    the diagonal, as in a QR factorisation of the last N − 1 rows, and their scales (N − 1,).
    """
    sytrd, workspace = scipy.linalg.get_lapack_funcs(("sytrd", "sytrd_lwork"), (matrix,))
    size = int(workspace(len(matrix), lower=1)[0])
    with threads_for(matrix):
        # The transpose of an array in C order is in LAPACK's order.
        reduced, diagonal, beside, scales, _ = sytrd(matrix.T, lower=1, lwork=size)
    return diagonal, beside, np.asfortranarray(reduced[1:, :-1]), scales


@attrs.frozen(eq=False)
class AppliedSpectrum:
    """Positive eigenvalues, largest first, and vectors U = QS of a symmetric QTQᵀ, T tridiagonal.

    Q stays a product of Householder reflections. Applying it to a few columns costs O(N²) each;
    forming U, as :class:`mklkit.numerics.least_squares.Spectrum` does, would take half of the time.
    """

    values: Array
    _vectors: Array
    """S (N, r)."""
    _reflections: Array
    _scales: Array
    """The reflections of :func:`tridiagonal_form`."""

    @classmethod
    def of(cls, matrix: Array, tolerance: float) -> AppliedSpectrum:
        """Return the eigenpairs whose value is above ``tolerance`` times the largest, in O(N³)."""
        if not np.isfinite(matrix).all():
            raise np.linalg.LinAlgError("a matrix has NaN or infinity")
        diagonal, beside, reflections, scales = tridiagonal_form(matrix)
        with threads_for(matrix):
            values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside, check_finite=False)
        kept = np.flatnonzero(values > tolerance * max(float(values[-1]), 0.0))[::-1]
        return cls(values[kept], vectors[:, kept], reflections, scales)

    def coordinates(self, columns: Array) -> Array:
        """Return Uᵀ columns, (r, k) for (N, k)."""
        return self._vectors.T @ self._reflected(columns, "T")

    def combined(self, weights: Array) -> Array:
        """Return U weights, (N, k) for (r, k)."""
        return self._reflected(self._vectors @ weights, "N")

    def _reflected(self, columns: Array, transposed: str) -> Array:
        """Return Q or Qᵀ times columns (N, k); the first row stays unchanged."""
        # LAPACK refuses a matrix without columns and prints a message.
        if len(columns) == 1 or not columns.shape[1]:
            return columns
        (apply,) = scipy.linalg.get_lapack_funcs(("ormqr",), (self._reflections,))
        lower, _, _ = apply(
            "L", transposed, self._reflections, self._scales, columns[1:], 64 * columns.shape[1]
        )
        return np.vstack([columns[:1], lower])


def top_of_low_rank(diagonal: Array, low_rank: Array, n_components: int) -> Array:
    """Return the top eigenvectors (r, K) of −diag + VVᵀ, for a diagonal (r,) and V (r, C).

    A single one has a closed form up to a root of the secular equation; several are computed by a
    dense solver if that is faster, else by Lanczos' method.
    """
    if n_components == 1:
        return _secular_top(diagonal, low_rank)
    if len(diagonal) <= max(DENSE_SIZE, 4 * n_components):
        return _dense_top(diagonal, low_rank, n_components)
    return _krylov_top(diagonal, low_rank, n_components)


def _dense_top(
    diagonal: Array, low_rank: Array, n_components: int, signs: Array | float = 1.0
) -> Array:
    """Return the top eigenvectors (r, K) of −diag + V diag(signs) Vᵀ."""
    matrix = (low_rank * signs) @ low_rank.T
    matrix[np.diag_indices_from(matrix)] -= diagonal
    return _top_of(matrix, n_components)


def _top_of(matrix: Array, n_components: int) -> Array:
    size = len(matrix)
    return eigh(matrix, subset_by_index=(size - n_components, size - 1))[1][:, ::-1]


def _krylov_top(diagonal: Array, low_rank: Array, n_components: int) -> Array:
    """Return the top eigenvectors of −diag + VVᵀ by shift-invert Lanczos, inverted by Woodbury."""
    size, rank = low_rank.shape
    bottom = float(diagonal.min())
    scale = float(np.abs(diagonal).max()) + float((low_rank**2).sum())
    # A little above the largest eigenvalue.
    gap = max(_top_gap(diagonal - bottom, low_rank), 1e-12 * scale)
    shift = -bottom + 1.001 * gap + 1e-9 * scale
    inverse = 1 / (diagonal + shift)
    small = np.eye(rank) - low_rank.T @ (low_rank * inverse[:, None])

    def solve(vector: Array) -> Array:
        # (−diag + VVᵀ − σ)⁻¹ = −D⁻¹ − D⁻¹V(I − VᵀD⁻¹V)⁻¹VᵀD⁻¹ with D = diag + σ
        plain = inverse * vector.ravel()
        return -plain - inverse * (low_rank @ np.linalg.solve(small, low_rank.T @ plain))

    def apply(vector: Array) -> Array:
        flat = vector.ravel()
        return low_rank @ (low_rank.T @ flat) - diagonal * flat

    shape = (size, size)
    try:
        values, vectors = eigsh(
            LinearOperator(shape, matvec=apply, dtype=np.float64),
            k=n_components,
            sigma=shift,
            OPinv=LinearOperator(shape, matvec=solve, dtype=np.float64),
            v0=low_rank.sum(axis=1),
            ncv=min(size - 1, max(20, 3 * n_components + 1)),
            maxiter=RESTARTS,
        )
    except ArpackError:
        return _dense_top(diagonal, low_rank, n_components)
    return vectors[:, np.argsort(values)[::-1]]


def _secular_top(diagonal: Array, low_rank: Array) -> Array:
    """Return the top eigenvector of −diag + VVᵀ: (D + σ)⁻¹Vu with Vᵀ(D + σ)⁻¹Vu = u."""
    place = int(diagonal.argmin())
    above = diagonal - diagonal[place]
    gap = _top_gap(above, low_rank)
    if gap == 0:
        return np.eye(len(diagonal), 1, -place)
    scaled = low_rank / (above + gap)[:, None]
    vector = scaled @ np.linalg.eigh(low_rank.T @ scaled)[1][:, -1:]
    return vector / np.linalg.norm(vector)


def _top_gap(above: Array, low_rank: Array) -> float:
    """Return how far the largest eigenvalue of −diag + VVᵀ is above that of −diag, or zero.

    ``above`` is the diagonal minus its least entry. The gap t solves μ(t) = 1 for the largest
    eigenvalue μ of Vᵀ(diag(above) + t)⁻¹V, whose inverse is concave and increasing, so that
    Newton's steps from below do not pass the root.
    """
    gap = 1e-12 * (float(above.max()) + float((low_rank**2).sum()))
    if gap == 0:
        return 0.0
    for step in range(NEWTON_STEPS):
        scaled = low_rank / (above + gap)[:, None]
        values, vectors = np.linalg.eigh(low_rank.T @ scaled)
        value = float(values[-1])
        if step == 0 and value <= 1:
            return 0.0
        slope = float(np.square(scaled @ vectors[:, -1]).sum())
        move = (value - 1) * value / slope
        gap += move
        if move <= 4 * np.finfo(float).eps * gap:
            break
    return gap


class DensePencil:
    """S_B (r, r) and S_L + γI (r, r) as matrices, for any graphs."""

    def __init__(self, upper: Array, lower: Array) -> None:
        self._upper, self._lower = upper, lower
        self.size = len(upper)

    def start(self, n_components: int) -> Array | None:
        """Return None: the first step begins with the top eigenvectors of S_B."""
        return None

    def top(self, ratio: float, n_components: int) -> Array:
        """Return the top eigenvectors (r, K) of S_B − λ(S_L + γI)."""
        matrix = self._upper - ratio * self._lower
        return _top_of((matrix + matrix.T) / 2, n_components)

    def traces(self, weights: Array) -> tuple[float, float]:
        """Return tr(WᵀS_BW) and tr(Wᵀ(S_L + γI)W)."""
        return (
            float(np.vdot(weights, self._upper @ weights)),
            float(np.vdot(weights, self._lower @ weights)),
        )


class DiscriminantPencil:
    """S_B − λS_L = −diag((λ − 1)d + λγ) + V Vᵀ with V = ZᵀE R, RRᵀ = λI − eeᵀ, e = Eᵀ1/√N.

    ``lengths`` are d (r,), ``cross`` is ZᵀE (r, C), and ``share`` is e (C,), the roots of the
    classes' shares of the samples.
    """

    def __init__(self, lengths: Array, cross: Array, share: Array, regularization: float) -> None:
        self.size = len(lengths)
        self._lengths = lengths
        self._regularization = regularization
        self._cross = cross
        self._share = share

    def start(self, n_components: int) -> Array | None:
        """Return the span of (S_L + γI)⁻¹ZᵀE minus the mean, which is nearly optimal.

        With K = 1 and γ = 0 it is optimal. None for more components than it has directions.
        """
        rank = len(self._share)
        if n_components >= rank or not self.size:
            return None
        differences = scipy.linalg.qr(self._share[:, None])[0][:, 1 : n_components + 1]
        ridge = max(self._regularization, 1e-9 * float(self._lengths.max()))
        # (D − CCᵀ)⁻¹C = D⁻¹C(I − CᵀD⁻¹C)⁻¹ with D = diag(d) + γI
        plain = self._cross / (self._lengths + ridge)[:, None]
        small = np.eye(rank) - self._cross.T @ plain
        directions = plain @ np.linalg.lstsq(small, differences, rcond=None)[0]
        return scipy.linalg.qr(directions, mode="economic")[0]

    def traces(self, weights: Array) -> tuple[float, float]:
        """Return tr(WᵀS_BW) and tr(Wᵀ(S_L + γI)W)."""
        every = float(np.einsum("r,rk->", self._lengths, weights**2))
        by_class = weights.T @ self._cross
        of_classes = float((by_class**2).sum())
        mean = float(((by_class @ self._share) ** 2).sum())
        ridge = self._regularization * float((weights**2).sum())
        return every - mean, max(every - of_classes, 0.0) + ridge

    def top(self, ratio: float, n_components: int) -> Array:
        """Return the top eigenvectors (r, K) of S_B − λ(S_L + γI)."""
        diagonal = (ratio - 1) * self._lengths + ratio * self._regularization
        middle = ratio * np.eye(len(self._share)) - np.outer(self._share, self._share)
        values, vectors = np.linalg.eigh(middle)
        if ratio < 1:
            # λI − eeᵀ can be indefinite only at the first step: each column has its sign.
            low_rank = self._cross @ (vectors * np.sqrt(np.abs(values)))
            return _dense_top(diagonal, low_rank, n_components, np.sign(values))
        low_rank = self._cross @ (vectors * np.sqrt(np.maximum(values, 0)))
        return top_of_low_rank(diagonal, low_rank, n_components)
