"""Ridge systems with an unpenalised bias, set up once and solved for many targets.

All minimise ``s·‖f − t/s‖² + α·‖w‖²`` over ``f = Φw + w₀`` (or ``f = Kv + w₀``), for a target
``t`` (N,), a data weight ``s`` > 0 and a ridge ``α`` ≥ 0. The bias is not penalised, so it can be
eliminated: ``w₀ = mean(t)/s − mean(Φw)``, and the rest is solved in centred coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg import lapack

from mklkit.numerics.eigenpairs import eigh, tridiagonal_form
from mklkit.numerics.threads import threads_for

Array = NDArray[np.floating[Any]]

SPECTRUM_TOLERANCE = 1e-12
"""Eigenvalues below this fraction of the largest are round-off."""


@attrs.frozen(eq=False)
class NormalMatrix:
    """``ΦᵀΦ`` of the features with their column sums ``Φᵀ1``.

    On a full empirical map ``ΦᵀΦ`` is diagonal, the eigenvalues Λ, and ``products`` is just that
    diagonal.
    """

    products: Array
    """(p, p), or (p,) if it is diagonal."""
    sums: Array
    """(p,)"""
    total: float
    """The number of samples N, or the sum of their weights v if products are those of ΦᵀVΦ."""

    @property
    def is_diagonal(self) -> bool:
        """Whether only a diagonal is stored."""
        return self.products.ndim == 1

    @property
    def diagonal(self) -> Array:
        """The features' sums of squares (p,)."""
        return self.products if self.is_diagonal else np.diagonal(self.products)

    @property
    def far_from_zero(self) -> bool:
        """Whether a feature hardly varies about its mean, so that centring loses half its digits.

        If so, the centred products must be computed from centred features.
        """
        squares = self.diagonal
        about_mean = squares - self.sums * (self.sums / self.total)
        return bool((about_mean < np.sqrt(np.finfo(squares.dtype).eps) * squares).any())

    def spectrum(self) -> Spectrum:
        """Return the eigenpairs of the centred normal matrix, in O(p³)."""
        dense = np.diag(self.products) if self.is_diagonal else self.products
        centered = dense - np.outer(self.sums, self.sums / self.total)
        return Spectrum.of(centered)


def weighted_sums(features: Array, row_weights: Array, targets: Array) -> tuple[Array, Array]:
    """Return ΦᵀWΦ (p, p) and ΦᵀT (p, k) for weights (N,), none negative, and targets (N, k)."""
    members = np.flatnonzero(row_weights)
    scaled = features[members] * np.sqrt(row_weights[members])[:, None]
    return scaled.T @ scaled, features.T @ targets


def rounding(matrix: Array) -> float:
    """Return the size that rounding gives an eigenvalue of zero, relative to the largest."""
    return float(np.sqrt(len(matrix)) * np.finfo(matrix.dtype).eps)


def feature_rounding(precision: float, count: int) -> float:
    """Return the relative error of ΦᵀΦ from rounding of the features alone.

    Products are summed in float64: rounded features move eigenvalues by squares of their errors.
    """
    return count * (4 * precision) ** 2


def gram_rounding(gram: Array, row_weights: Array | None = None) -> float:
    """Return the size up to which eigenvalues of a centred Gram matrix (N, N) are rounding errors.

    Values of the kernel are rounded relative to their size before their mean is subtracted:
    for constant samples only these errors remain. With sample weights V, that of V^½KV^½.
    """
    weights = np.ones(len(gram)) if row_weights is None else row_weights
    # Relative to the largest, whose square may overflow.
    largest, most = float(np.abs(gram).max(initial=0)), float(weights.max(initial=0))
    if not (largest and most):
        return 0.0
    shares = weights / most
    total = shares @ np.square(gram / np.float64(largest)) @ shares
    # Twice the size of random errors, to allow for those of the mean.
    size = 2 * np.sqrt(total / len(gram)) * np.finfo(gram.dtype).eps
    return float(size * largest * most)


@attrs.frozen(eq=False)
class Spectrum:
    """Eigenvalues (r,), largest first, and eigenvectors (p, r) of a symmetric matrix."""

    values: Array
    vectors: Array

    @classmethod
    def of(
        cls, matrix: Array, tolerance: float = SPECTRUM_TOLERANCE, floor: float = 0.0
    ) -> Spectrum:
        """Return the eigenpairs of value above ``tolerance`` times the largest, and ``floor``.

        Those within rounding error of the matrix's type, up to √p·eps times the largest, are
        omitted whatever the tolerance, and so are negative eigenvalues (round-off, or an indefinite
        kernel such as tanh). Of its two possible signs, an eigenvector gets the one with ``Σ v³ ≥
        0``, independent of LAPACK, its threads and the order of the samples.
        """
        if not np.isfinite(matrix).all():
            raise np.linalg.LinAlgError("a matrix has NaN or infinity")
        values, vectors = eigh(matrix, driver="evd", check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        largest = max(float(values[0]), 0.0) if len(values) else 0.0
        kept = values > max(max(tolerance, rounding(matrix)) * largest, floor)
        vectors = np.ascontiguousarray(vectors[:, kept])
        vectors *= np.where(np.einsum("ij,ij,ij->j", vectors, vectors, vectors) < 0, -1, 1)
        return cls(np.ascontiguousarray(values[kept]), vectors)

    def solve(self, scale: Array, right: Array) -> Array:
        """Return U D⁻¹ Uᵀb (p, k) for scales D (r, 1) or (r, k) of the eigenvectors U."""
        return self.vectors @ (self.vectors.T @ right / scale)


@attrs.frozen(eq=False)
class ArrowheadSystem:
    """The ridge system for a diagonal ``ΦᵀΦ``: O(p) per solve, no factorisation.

    With the bias as an extra row and column the normal matrix is an arrowhead; with the bias
    eliminated it is diagonal minus a rank-one term, solved by the Sherman–Morrison formula.
    """

    normal: NormalMatrix

    @cached_property
    def _spectral(self) -> SpectralSystem:
        return SpectralSystem(self.normal.spectrum(), self.normal.sums)

    def solve(
        self, projected: Array, target_means: Array, data_weights: Array, alphas: Array
    ) -> Array:
        """Return the weights (p, G) for ``Φᵀt`` (p, G) and ``mean(t)``, s and α, each (G,).

        Uses eigenvectors if a ridge is at most :data:`SPECTRUM_TOLERANCE` of the trace, since
        otherwise the solution would be lost in rounding.
        """
        trace = float(self.normal.products.sum())
        if (alphas <= SPECTRUM_TOLERANCE * trace * data_weights).any():
            return self._spectral.solve(projected, target_means, data_weights, alphas)
        sums = self.normal.sums[:, None]
        right = projected - sums * target_means
        diagonal = self.normal.products[:, None] * data_weights + alphas
        right /= diagonal
        if not sums.any():
            return right
        border = sums / diagonal
        share = data_weights / self.normal.total
        # Positive for a positive ridge: s·vᵀ(sΛ + α)⁻¹v / N < vᵀΛ⁻¹v / N ≤ 1, as Λ^{-1/2}v
        # are coordinates of the vector of ones with respect to orthonormal columns.
        pivot = 1 - share * (sums * border).sum(axis=0)
        right += border * (share * (sums * right).sum(axis=0) / pivot)
        return right


@attrs.frozen(eq=False)
class SpectralSystem:
    """The ridge system in the eigenvectors of the centred normal matrix: any ridge, any weight."""

    spectrum: Spectrum
    sums: Array

    def solve(
        self, projected: Array, target_means: Array, data_weights: Array, alphas: Array
    ) -> Array:
        """Return the weights (p, G) for ``Φᵀt`` (p, G) and ``mean(t)``, s and α, each (G,).

        Returns the shortest weights if the solution is not unique.
        """
        scale = self.spectrum.values[:, None] * data_weights + alphas
        return self.spectrum.solve(scale, projected - self.sums[:, None] * target_means)


class TridiagonalSystem:
    """The ridge systems (sC + αI)x = b of one symmetric C = QTQᵀ, T tridiagonal: any s, α > 0."""

    def __init__(self, matrix: Array) -> None:
        self._diagonal, self._beside, reflections, scales = tridiagonal_form(matrix)
        room = 64 * len(matrix)
        with threads_for(matrix):
            self._rotation = lapack.dorgqr(reflections, scales, lwork=room, overwrite_a=1)[0]
        bands = self._diagonal, self._beside
        least = scipy.linalg.eigvalsh_tridiagonal(*bands, select="i", select_range=(0, 0))[0]
        most = np.abs(self._diagonal).max() + 2 * np.abs(self._beside).max(initial=0)
        self.negative = -float(min(least + rounding(matrix) * most, 0.0))
        """The size of the smallest eigenvalue, if it is negative beyond rounding."""

    def solve(self, right: Array, data_weights: Array, alphas: Array) -> Array:
        """Return the solutions (p, k) for b (p, k), s and α (k,)."""
        # A few rows times a matrix take half the time of the matrix times a few columns.
        solutions = np.array(right.T, np.float64, order="C")
        solutions[:, 1:] = solutions[:, 1:] @ self._rotation
        for row, scale, alpha in zip(solutions, data_weights, alphas, strict=True):
            bands = scale * self._diagonal + alpha, scale * self._beside
            row[:] = lapack.dptsv(*bands, row)[2]
        solutions[:, 1:] = solutions[:, 1:] @ self._rotation.T
        return np.ascontiguousarray(solutions.T)


class CholeskySystem:
    """The ridge system for one ridge, by a Cholesky factor of ``sC + αI`` for each data weight.

    C is the centred normal matrix, not diagonal. It takes a fifteenth of the time of eigenpairs,
    which are used if α is negligible compared with the largest eigenvalue: they separate round-off
    from directions.
    """

    def __init__(self, normal: NormalMatrix) -> None:
        self._normal = normal
        self._solvers: dict[float, Callable[[Array], Array]] = {}

    def solve(
        self, projected: Array, target_means: Array, data_weights: Array, alphas: Array
    ) -> Array:
        """Return the weights (p, 1) for ``Φᵀt`` (p, 1) and ``mean(t)``, s and α, each (1,)."""
        weight = float(data_weights[0])
        alpha = float(alphas[0])
        sums = self._normal.sums
        if weight not in self._solvers:
            matrix = weight * (self._normal.products - np.outer(sums, sums / self._normal.total))
            solver = ridge_solver(matrix, alpha, SPECTRUM_TOLERANCE * float(np.trace(matrix)))
            if solver is None:
                spectrum = self._normal.spectrum()
                solver = partial(spectrum.solve, (spectrum.values * weight + alpha)[:, None])
            self._solvers[weight] = solver
        return self._solvers[weight](projected - sums[:, None] * target_means)


def ridge_solver(matrix: Array, alpha: float, least: float) -> Callable[[Array], Array] | None:
    """Return a solver of (C + αI)x = b by a Cholesky factor; C (p, p) is overwritten.

    None if the ridge is at most ``least``, or the sum is not positive definite.
    """
    if alpha <= least:
        return None
    matrix[np.diag_indices_from(matrix)] += alpha
    # Symmetric, so that its transpose is the same matrix in LAPACK's order.
    factor = cholesky_or_none(matrix.T)
    if factor is None:
        return None
    return partial(cholesky_solution, factor)


def cholesky_solution(factor: Array, right: Array) -> Array:
    """Return the solution (p,) or (p, k) of LLᵀx = b for a lower factor in LAPACK's order.

    A single vector takes a third of the time with BLAS's routine for vectors, which also has no
    threads that wait for each other.
    """
    if right.size != len(factor):
        return np.asarray(scipy.linalg.cho_solve((factor, True), right, check_finite=False))
    (substituted,) = scipy.linalg.get_blas_funcs(("trsv",), (factor, right))
    forward = substituted(factor, right.ravel(), lower=1)
    return np.reshape(substituted(factor, forward, lower=1, trans=1), right.shape)


def cholesky_or_none(matrix: Array) -> Array | None:
    """Return the lower Cholesky factor, computed in place, or None if the matrix is not definite.

    Values above the diagonal are unchanged.
    """
    try:
        with threads_for(matrix):
            factor, _ = scipy.linalg.cho_factor(
                matrix, lower=True, overwrite_a=True, check_finite=False
            )
        return factor
    except np.linalg.LinAlgError:
        return None
