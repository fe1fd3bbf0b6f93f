"""The problem that both forms of MKDA solve, in the coordinates of the kernels' joint range."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mklkit import MKLKitError
from mklkit.plugin import Array

RANK_TOLERANCE = 1e-12
CONSTANT = 1e-10
"""A kernel whose centred trace is a smaller share of its values is constant up to rounding."""
INDEFINITE = 1e-5
"""Negative eigenvalues up to this share of the largest are rounding errors (float32, say)."""
ROUNDINGS = 16
"""Rounding errors that one kernel value may accumulate."""


@attrs.frozen(eq=False)
class DiscriminantProblem:
    """Minimise aᵀ(I + Σ θ_m F_mF_mᵀ)⁻¹a over θ ≥ 0, Σθ = 1.

    F_mF_mᵀ = HK_mH / (λ tr HK_mH), H = I − 11ᵀ/N, and a is the difference of the class
    indicators, each over its class's size, at unit length. ``factors`` F_m (p, r_m) and the
    ``target`` a (p,) are in orthonormal coordinates that span the ranges of all kernels, and
    ``outside`` is the squared length of the rest of a, a constant of the objective. Kernels that
    are constant up to rounding have no factor, and 0 among the ``traces`` tr HK_mH (M,).
    """

    factors: list[Array]
    target: Array
    outside: float
    traces: Array

    @property
    def size(self) -> int:
        """p, the joint rank of the centred kernels."""
        return len(self.target)

    def objective(self, theta: Array) -> float:
        """Return aᵀ(I + Σ θ_m F_mF_mᵀ)⁻¹a, between 0 and 1; θ has an entry per factor."""
        return self.outside + float(self.target @ self._solve(theta))

    def gap(self, theta: Array) -> float:
        """Return an upper bound on the objective minus its minimum, for θ from any solver.

        For any b, 2bᵀa − bᵀb − max_m ‖F_mᵀb‖² is a lower bound on the minimum. With
        b = (I + Σ θ_m F_mF_mᵀ)⁻¹a the difference is max_m ‖F_mᵀb‖² − Σ θ_m ‖F_mᵀb‖².
        """
        solved = self._solve(theta)
        forms = np.array([float(np.sum((factor.T @ solved) ** 2)) for factor in self.factors])
        return float(forms.max() - theta @ forms)

    def _solve(self, theta: Array) -> Array:
        matrix = np.eye(self.size)
        for weight, factor in zip(theta, self.factors, strict=True):
            matrix += weight * (factor @ factor.T)
        solved: Array = cho_solve(cho_factor(matrix), self.target)
        return solved


def discriminant_problem(
    grams: Sequence[Array], y: Array, alpha: float, names: Sequence[str] = ()
) -> DiscriminantProblem:
    """Return the problem of Gram matrices (N, N) and labels −1 and +1, where λ is ``alpha``.

    A matrix with a negative eigenvalue beyond rounding raises an error with its name or number.

    Examples
    --------
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = discriminant_problem([rows @ rows.T], np.sign(rows[:, 0]), alpha=0.1)
    >>> problem.size, problem.traces
    (1, array([10.]))
    >>> round(problem.objective(np.ones(1)), 6)
    0.181818
    """
    centered = [_Centered.of(gram) for gram in grams]
    traces = np.array([kernel.trace for kernel in centered])
    used = [(number, kernel) for number, kernel in enumerate(centered) if kernel.trace > 0]
    target = np.where(y > 0, 1 / (y > 0).sum(), -1 / (y < 0).sum())
    target /= np.linalg.norm(target)
    if not used and (traces == 0).all():
        return DiscriminantProblem([], np.zeros(0), 1.0, traces)
    names = names or [f"number {number}" for number in range(1, len(grams) + 1)]
    for number, kernel in enumerate(centered):
        if kernel.trace < 0:
            raise _indefinite(names[number], "a negative trace")
    values, vectors = np.linalg.eigh(sum(kernel.scaled for _, kernel in used))
    if values[0] < -RANK_TOLERANCE * values[-1]:
        # The basis below drops negative directions, so the factors would not show them.
        for number, kernel in used:
            _check_definite(np.linalg.eigvalsh(kernel.scaled), kernel.rounding, names[number])
    basis = vectors[:, values > RANK_TOLERANCE * values[-1]]
    factors = [
        _factor(basis.T @ kernel.scaled @ basis, kernel.rounding, names[number]) / np.sqrt(alpha)
        for number, kernel in used
    ]
    inside = basis.T @ target
    return DiscriminantProblem(factors, inside, max(1.0 - float(inside @ inside), 0.0), traces)


@attrs.frozen(eq=False)
class _Centered:
    """HKH, divided by its trace if that exceeds rounding errors; that trace, 0 if it does not.

    No eigenvalue of ``scaled`` that is due to rounding alone exceeds ``rounding``.
    """

    scaled: Array
    trace: float
    rounding: float

    @classmethod
    def of(cls, gram: Array) -> _Centered:
        size = float(np.abs(gram).max()) * len(gram)
        # The eigenvalues of a matrix of rounding errors are at most its order times the error.
        rounding = ROUNDINGS * float(np.finfo(gram.dtype).eps) * size
        matrix = gram - gram.mean(axis=0, dtype=np.float64)
        matrix -= matrix.mean(axis=1)[:, None]
        trace = float(np.trace(matrix))
        if abs(trace) <= max(CONSTANT * size, rounding):
            return cls(matrix, 0.0, rounding)
        return cls(matrix / abs(trace), trace, rounding / abs(trace))


def _factor(gram: Array, rounding: float, name: str) -> Array:
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    _check_definite(values, rounding, name)
    kept = values > RANK_TOLERANCE * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def _check_definite(values: Array, rounding: float, name: str) -> None:
    if values[0] < -max(INDEFINITE * values[-1], rounding):
        raise _indefinite(name, f"an eigenvalue of {values[0] / values[-1]:.3g} of the largest")


def _indefinite(name: str, what: str) -> MKLKitError:
    return MKLKitError(
        f"mkda needs positive semi-definite kernels, and {name!r}, centred, has {what}. Leave it"
        " out."
    )
