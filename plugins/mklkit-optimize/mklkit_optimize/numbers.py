"""The inner problems for numbers: ridge regression, or support vector regression.

Both are J(σ) = max over β with βᵀ1 = 0 of l(β) − ½ Σ_m σ_m βᵀK_mβ, like that of the support vector
machine with β = α∘y: l(β) = βᵀy − ½α‖β‖² for ridge regression, with any β, and βᵀy − ε‖β‖₁ for
support vector regression, with |β| ≤ C. Samples of weight v have α/v and Cv instead.
"""

from __future__ import annotations

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mklkit import IncompatibleError
from mklkit.learners import SVR, Ridge
from mklkit.plugin import Array, GramSide, Learner, Target, solve_svr
from mklkit_optimize.saddle import SaddleProblem

AUTOMATIC_C = 10.0
"""The default C of support vector regression, times the mean k(x, x) of the average kernel."""
TUBE = 0.1
"""Its default ε. Numbers have standard deviation 1 here."""


@attrs.frozen(eq=False)
class RidgeProblem(SaddleProblem):
    """Gram matrices and numbers, with the ridge α of the inner ridge regressions."""

    alpha: float = attrs.field(kw_only=True)

    @property
    def ridge(self) -> Array:
        """α/v for samples of weight v, (N,)."""
        weights = 1.0 if self.row_weights is None else self.row_weights
        return self.alpha / weights * np.ones(len(self.y))

    def inner(self, gram: Array) -> tuple[Array, float, bool]:
        """Return β = (K + α/v)⁻¹(y − b) in closed form, and l(β)."""
        matrix = gram.copy()
        matrix.flat[:: len(matrix) + 1] += self.ridge
        right = np.column_stack([self.y, np.ones(len(self.y))])
        solution = scipy.linalg.solve(matrix, right, assume_a="sym")
        beta = solution[:, 0] - solution[:, 1] * (solution[:, 0].sum() / solution[:, 1].sum())
        return beta, float(beta @ self.y - 0.5 * self.ridge @ beta**2), True

    def free(self, signed: Array) -> NDArray[np.intp]:
        """Return all samples: no β has a bound."""
        return np.arange(len(signed))


@attrs.frozen(eq=False)
class SVRProblem(SaddleProblem):
    """Gram matrices and numbers, with the ε of the inner support vector regressions."""

    epsilon: float = attrs.field(kw_only=True)

    def inner(self, gram: Array) -> tuple[Array, float, bool]:
        """Return β by libsvm, and l(β)."""
        solution = solve_svr(
            gram, self.y, self.C, self.epsilon, tol=self.tol, row_weights=self.row_weights
        )
        beta = solution.coefficients
        return beta, float(beta @ self.y - self.epsilon * np.abs(beta).sum()), solution.ended


def numbers_problem(
    grams: Array, target: Target, learner: Learner, C: float | None, tol: float
) -> SaddleProblem:
    """Return the problem of ``ridge`` or ``svr``, for numbers of mean 0 and standard deviation 1.

    An automatic ridge is that of the average kernel; ``C`` replaces that of ``svr``.
    """
    y = np.asarray(target.values, np.float64)
    counts = target.row_weights
    y = y - np.average(y, weights=counts)
    spread = float(np.sqrt(np.average(y**2, weights=counts))) or 1.0
    y = y / spread
    even = grams.mean(axis=0)
    if isinstance(learner, Ridge):
        alpha = learner.alpha
        if isinstance(alpha, str):
            alpha = float(learner.fit(GramSide(even), Target.numbers(y, counts)).alpha)
        return RidgeProblem(grams, y, 1.0, tol, counts, alpha=alpha)
    if isinstance(learner, SVR):
        automatic = AUTOMATIC_C / max(float(np.diagonal(even).mean()), np.finfo(np.float64).tiny)
        own_C = automatic if isinstance(learner.C, str) else learner.C / spread
        epsilon = TUBE if isinstance(learner.epsilon, str) else learner.epsilon / spread
        C = own_C if C is None else C / spread
        return SVRProblem(grams, y, C, tol, counts, epsilon=epsilon)
    raise IncompatibleError(
        f"Weights of numbers are optimised through ridge regression or support vector regression,"
        f" not through {learner.name!r}: use learner='ridge' or learner='svr'."
    )
