"""KMHKS: the modified Ho–Kashyap classifier on Gram matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs

from mklkit.combiners.ifsl.iteration import iterate
from mklkit.combiners.ifsl.rules import FIXED_MEAN, SIMPLEST_FIRST, Columns, Solution
from mklkit.learners.ho_kashyap.margins import MarginLearner
from mklkit.learners.ho_kashyap.ridge import CholeskyProblem, GramProblem
from mklkit.protocols import Array, LearnerFacts, Subproblem, Target, TrainingSide
from mklkit.registry.hookspecs import register

__all__ = ["KMHKS"]


@register
@attrs.frozen
class KMHKS(MarginLearner):
    """Kernel Ho–Kashyap classifier: MHKS in the kernel's feature space.

    Minimises ‖φ∘f − 1 − b‖² + α vᵀKv over f = Kv + w₀ and margins b ≥ 0 alternately. For α > 0 each
    iteration solves an LS-SVM system: [K + αI, 1; 1ᵀ, 0][v; w₀] = [target; 0].

    Parameters
    ----------
    alpha : float, default=1.0
        α, the ridge, in the units of the squared error; 0 or above. The papers call it c, and the
        coefficients v of the training rows α.
    rho : float, default=0.99
        ρ, the step by which the margins grow towards the outputs; above 0, at most 1.
    tol : float, default=1e-3
        ξ: stop when the objective changes by at most this fraction of itself.
    max_iter : int, default=1000
        Stop with a ``ConvergenceWarning`` after this many solves.
    b0 : float, default=1e-6
        The initial margins.

    Notes
    -----
    One Cholesky factorisation, O(N³/3), then O(N²) per iteration. For α = 0 or an indefinite
    kernel, the eigenpairs of the centred Gram matrix with positive eigenvalues instead, O(N³).
    Source: Łęski (2004); paper 002, section 2.1.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(MKLClassifier("rbf", learner=KMHKS(alpha=0.5)).fit(X, y).score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "kmhks"
    facts: ClassVar[LearnerFacts] = LearnerFacts(
        on_gram=True, takes_row_weights=True, search_space={"alpha": SIMPLEST_FIRST}
    )
    relative: ClassVar[bool] = True

    def problem(
        self, side: TrainingSide, alphas: Array, row_weights: Array | None = None
    ) -> CholeskyProblem | GramProblem:
        """Return the ridge regression in the kernel's feature space."""
        if len(alphas) == 1 and alphas[0] > 0:
            return CholeskyProblem(side, float(alphas[0]), row_weights)
        return GramProblem(side, alphas, row_weights)

    def iterate(
        self, problems: Sequence[Subproblem], target: Target, columns: Columns
    ) -> list[Solution]:
        """Return the solution of the iteration with one view (paper 002, equations 4 and 5)."""
        return iterate(FIXED_MEAN, problems, target, columns, [None])
