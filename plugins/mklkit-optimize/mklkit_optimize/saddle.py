"""The problem that MKLGL, SILP and SimpleMKL solve, and its inner support vector machine.

min over σ ≥ 0, ‖σ‖_p ≤ 1 of J(σ) = max over α of 1ᵀα − ½ Σ_m σ_m q_m(α), where
q_m(α) = (α∘y)ᵀ K_m (α∘y), 0 ≤ α ≤ C and αᵀy = 0 (paper 003, equation 3).
"""

from __future__ import annotations

import warnings

import attrs
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mklkit import SVM
from mklkit_optimize.gram_sums import Array

__all__ = [
    "MOST_STEPS",
    "RAISE_LIMIT",
    "InnerSolution",
    "SaddleProblem",
    "relative_gap",
    "warn_of_gap",
]

RAISE_LIMIT = "raise max_iter or tol."
MOST_STEPS = SVM().max_iter
"""libsvm's steps in one machine: on kernels of very large values it would not end else."""


@attrs.frozen(eq=False)
class InnerSolution:
    """The support vector machine at given kernel weights.

    Attributes
    ----------
    weights : ndarray of shape (M,)
        σ.
    linear : float
        1ᵀα.
    forms : ndarray of shape (M,)
        q_m(α). The gradient of J is −q/2.
    """

    weights: Array
    linear: float
    forms: Array

    @property
    def objective(self) -> float:
        """J(σ)."""
        return self.linear - 0.5 * float(self.weights @ self.forms)


@attrs.frozen(eq=False)
class SaddleProblem:
    """Gram matrices, labels and the machine's settings.

    Attributes
    ----------
    grams : ndarray of shape (M, N, N)
    y : ndarray of shape (N,)
        −1 and +1.
    C : float
    tol : float
        libsvm's.
    """

    grams: Array
    y: Array
    C: float
    tol: float

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

    def at(self, weights: Array) -> InnerSolution:
        """Solve the support vector machine on the weighted sum, in O(MN²) and libsvm's time."""
        machine = SVC(C=self.C, kernel="precomputed", tol=self.tol, max_iter=MOST_STEPS)
        machine.fit(self.combined(weights), self.y)
        signed = np.zeros(len(self.y))
        signed[machine.support_] = machine.dual_coef_[0]
        forms = (self.grams @ signed) @ signed
        # An indefinite kernel (tanh, say) may have a negative form; no norm has.
        return InnerSolution(weights, float(np.abs(signed).sum()), np.maximum(forms, 0.0))


def relative_gap(solution: InnerSolution, p: float = 1.0) -> float:
    """Return how far J(σ) can lie above the minimum over ‖σ‖_p ≤ 1, relative to J(σ).

    By Hölder's inequality no σ brings J below 1ᵀα − ½‖q(α)‖_{p/(p−1)}.
    """
    dual_norm = np.linalg.norm(solution.forms, np.inf if p == 1 else p / (p - 1))
    gap = 0.5 * (float(dual_norm) - float(solution.weights @ solution.forms))
    return gap / max(abs(solution.objective), np.finfo(float).tiny)


def warn_of_gap(name: str, iterations: int, gap: float, tol: float, remedy: str) -> None:
    """Warn that the iteration ended before the objective was known to be minimal."""
    warnings.warn(
        f"{name} stopped after {iterations} iterations with a relative duality gap of {gap:.2g},"
        f" above tol={tol:g}; {remedy}",
        ConvergenceWarning,
        stacklevel=4,
    )
