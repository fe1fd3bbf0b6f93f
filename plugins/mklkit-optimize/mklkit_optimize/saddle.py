"""The problem that MKLGL, SILP and SimpleMKL solve, and its inner support vector machine.

min over σ ≥ 0, ‖σ‖_p ≤ 1 of J(σ) = max over α of 1ᵀα − ½ Σ_m σ_m q_m(α), where q_m(α) = (α∘y)ᵀ K_m
(α∘y), 0 ≤ α ≤ C and αᵀy = 0 (Price et al. 2022, equation 3). With sample
weights v, 0 ≤ α ≤ Cv.
"""

from __future__ import annotations

import warnings

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mklkit import DataError
from mklkit.plugin import Array, solve_dual

ROUNDING = 1e-12
RAISE_LIMIT = "raise max_iter or tol."
UNFINISHED = (
    "a support vector machine did not converge in a million steps: kernel values or C are very"
    " large; scale the data, or use a smaller C."
)


@attrs.frozen(eq=False)
class InnerSolution:
    """The support vector machine's solution at the kernel weights σ (M,).

    It has 1ᵀα, q_m(α) (M,) where the gradient of J is −q/2, whether the solver reached its
    tolerance, α∘y (N,), and the products K_m(α∘y) (M, N).
    """

    weights: Array
    linear: float
    forms: Array
    ended: bool
    signed: Array
    products: Array

    @property
    def objective(self) -> float:
        """J(σ)."""
        return self.linear - 0.5 * float(self.weights @ self.forms)


@attrs.frozen(eq=False)
class SaddleProblem:
    """Gram matrices (M, N, N), labels −1 and +1, and the support vector machine's settings."""

    grams: Array
    y: Array
    C: float
    tol: float
    row_weights: Array | None = None

    @property
    def most(self) -> Array | float:
        """The bound of α: C, or Cv (N,)."""
        return self.C if self.row_weights is None else self.C * self.row_weights

    @property
    def n_kernels(self) -> int:
        """M."""
        return len(self.grams)

    def combined(self, weights: Array) -> Array:
        """Return Σ σ_m K_m, (N, N)."""
        used = np.flatnonzero(weights)
        total = weights[used[0]] * self.grams[used[0]]
        for index in used[1:]:
            total += weights[index] * self.grams[index]
        return total

    @property
    def ridge(self) -> Array:
        """The addition of the inner problem to the diagonal of the weighted sum, (N,)."""
        return np.zeros(len(self.y))

    def inner(self, gram: Array) -> tuple[Array, float, bool]:
        """Return the inner problem's α∘y (N,) and 1ᵀα on one kernel, and whether it ended."""
        solution = solve_dual(gram, self.y, self.C, self.tol, row_weights=self.row_weights)
        signed = solution.coefficients
        return signed, float(np.abs(signed).sum()), solution.ended

    def free(self, signed: Array) -> NDArray[np.intp]:
        """Return the samples whose α is between its bounds."""
        margins = np.abs(signed)
        return np.flatnonzero((margins > 0) & (margins < self.most * (1 - ROUNDING)))

    def at(self, weights: Array) -> InnerSolution:
        """Solve the inner problem on the weighted sum: O(MN²) plus its own time."""
        signed, linear, ended = self.inner(self.combined(weights))
        products = self.grams @ signed
        # The form of an indefinite kernel such as tanh may be negative, unlike a norm.
        forms = np.maximum(products @ signed, 0.0)
        if not np.isfinite(forms).all():
            raise DataError(
                f"The support vector machine's margin overflows at C={self.C:g}: scale the data, or"
                " use a smaller C."
            )
        return InnerSolution(weights, linear, forms, ended, signed, products)


def relative_gap(solution: InnerSolution, p: float = 1.0) -> float:
    """Return a bound on J(σ) minus its minimum over ‖σ‖_p ≤ 1, relative to J(σ).

    By Hölder's inequality J is nowhere below 1ᵀα − ½‖q(α)‖_{p/(p−1)}.
    """
    dual_norm = np.linalg.norm(solution.forms, np.inf if p == 1 else p / (p - 1))
    gap = 0.5 * (float(dual_norm) - float(solution.weights @ solution.forms))
    return gap / max(abs(solution.objective), np.finfo(float).tiny)


def warn_of_gap(
    name: str,
    iterations: int,
    gap: float,
    tol: float,
    solution: InnerSolution,
    remedy: str = RAISE_LIMIT,
) -> None:
    """Warn that the iteration ended before the objective was proven minimal."""
    remedy = remedy if solution.ended else UNFINISHED
    warnings.warn(
        f"{name} stopped after {iterations} iterations with a relative duality gap of {gap:.2g},"
        f" above tol={tol:g}; {remedy}",
        ConvergenceWarning,
        stacklevel=4,
    )
