"""KMHKS: the modified Ho–Kashyap classifier on Gram matrices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import attrs
import numpy as np
import scipy.linalg

from mklkit.hookspecs import hookimpl
from mklkit.learners.base import LinearDecision
from mklkit.learners.margins import MarginLearner, RidgeCoefficients
from mklkit.numerics.ho_kashyap import Stopping
from mklkit.numerics.least_squares import cholesky_or_none
from mklkit.protocols import Array, Subproblem, TrainingSide

__all__ = ["KMHKS"]


@attrs.frozen
class KMHKS(MarginLearner):
    """Kernel Ho–Kashyap classifier: MHKS in the kernel's own feature space.

    Minimises ‖φ∘f − 1 − b‖² + c αᵀKα over f = Kα + w₀ and margins b ≥ 0 by turns. For c > 0 each
    turn is an LS-SVM system (design §3): [K + cI, 1; 1ᵀ, 0][α; w₀] = [target; 0].

    Parameters
    ----------
    c : float, default=1.0
        Ridge, in the units of the squared error; 0 or above.
    rho : float, default=0.99
        ρ, how far the margins grow towards the outputs at each step; above 0, up to 1.
    tol : float, default=1e-3
        ξ: stop when the objective changes by no more than this share of itself.
    max_iter : int, default=1000
        Stop with a ``ConvergenceWarning`` after this many solves.
    b0 : float, default=1e-6
        The margins at the start.

    Notes
    -----
    One Cholesky factorisation, O(N³/3), then O(N²) an iteration. Where c = 0 or the kernel is
    indefinite, the eigenpairs of the centred Gram matrix with positive eigenvalues instead, O(N³).
    Source: Łęski (2004); paper 002, section 2.1.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(MKLClassifier("rbf", learner=KMHKS(c=0.5)).fit(X, y).score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "kmhks"
    on_features: ClassVar[bool] = False
    on_gram: ClassVar[bool] = True

    def subproblem(self, side: TrainingSide) -> Subproblem:
        """Return the ridge regression in the kernel's feature space."""
        if self.c > 0:
            problem = CholeskySubproblem(side, self.c)
            if problem.solvable:
                return problem
        return SpectralSubproblem(side, self.c)

    @property
    def stopping(self) -> Stopping:
        """Relative change of the objective, as paper 002 has it (equation 12)."""
        return Stopping(self.tol, relative=True, max_iter=self.max_iter)


class _GramSubproblem:
    """Row coefficients α and the bias: what both ways to solve share."""

    def __init__(self, side: TrainingSide, ridge: float) -> None:
        self._side = side
        self._gram = side.gram()
        self._ridge = ridge

    def outputs(self, coefficients: RidgeCoefficients) -> Array:
        """Return the decision values Kα + w₀ on the training rows."""
        return self._gram @ coefficients.weights + coefficients.bias

    def penalty(self, coefficients: RidgeCoefficients) -> float:
        """Return c αᵀKα."""
        alpha = coefficients.weights
        return self._ridge * float(alpha @ (self._gram @ alpha))

    def finish(self, coefficients: RidgeCoefficients) -> LinearDecision:
        """Return the decision function."""
        return LinearDecision(coefficients.weights, coefficients.bias)


class CholeskySubproblem(_GramSubproblem):
    """The LS-SVM system by the Cholesky factor of sK + cI, one for each data weight s asked."""

    def __init__(self, side: TrainingSide, ridge: float) -> None:
        super().__init__(side, ridge)
        self._factors: dict[float, tuple[Array, Array] | None] = {}

    @property
    def solvable(self) -> bool:
        """Whether K + cI is positive definite."""
        return self._factor(1.0) is not None

    def solve(self, target: Array, data_weight: float = 1.0) -> RidgeCoefficients:
        """Return the minimiser of ``s·‖f − target/s‖² + c αᵀKα``."""
        factored = self._factor(data_weight)
        if factored is None:
            # An indefinite K may pass with weight 1 and fail with a larger one.
            return SpectralSubproblem(self._side, self._ridge).solve(target, data_weight)
        factor, ones = factored
        alpha = scipy.linalg.cho_solve((factor, True), target, check_finite=False)
        # The bias is what makes the coefficients sum to zero.
        shift = alpha.sum() / ones.sum()
        alpha -= shift * ones
        return RidgeCoefficients(alpha, float(shift) / data_weight)

    def _factor(self, data_weight: float) -> tuple[Array, Array] | None:
        if data_weight not in self._factors:
            matrix = data_weight * self._gram
            matrix[np.diag_indices_from(matrix)] += self._ridge
            factor = cholesky_or_none(matrix)
            ones = np.ones(len(matrix), dtype=matrix.dtype)
            self._factors[data_weight] = (
                None
                if factor is None
                else (factor, scipy.linalg.cho_solve((factor, True), ones, check_finite=False))
            )
        return self._factors[data_weight]


class SpectralSubproblem(_GramSubproblem):
    """The same in the eigenvectors of the centred Gram matrix: any c ≥ 0, any s, any kernel.

    Negative eigenvalues (an indefinite kernel) are left out; with c = 0 the shortest solution.
    """

    def __init__(self, side: TrainingSide, ridge: float) -> None:
        super().__init__(side, ridge)
        self._spectrum = side.spectrum()

    def solve(self, target: Array, data_weight: float = 1.0) -> RidgeCoefficients:
        """Return the minimiser of ``s·‖f − target/s‖² + c αᵀKα``."""
        values, vectors = self._spectrum.values, self._spectrum.vectors
        alpha = vectors @ ((vectors.T @ target) / (data_weight * values + self._ridge))
        bias = float(target.mean()) / data_weight - float((self._gram @ alpha).mean())
        return RidgeCoefficients(alpha, bias)


@hookimpl
def mklkit_learners() -> Iterable[type]:
    """Register the learner."""
    return [KMHKS]
