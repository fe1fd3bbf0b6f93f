"""MHKS: the modified Ho–Kashyap classifier on features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs

from mklkit.combiners.ifsl.iteration import iterate
from mklkit.combiners.ifsl.rules import GRADIENT, SIMPLEST_FIRST, Columns, Solution
from mklkit.learners.ho_kashyap.margins import MarginLearner
from mklkit.learners.ho_kashyap.ridge import FeatureProblem
from mklkit.learners.ho_kashyap.row_problem import RowProblem
from mklkit.protocols import Array, LearnerFacts, Subproblem, Target, TrainingSide
from mklkit.registry.hookspecs import register

__all__ = ["MHKS"]


@register
@attrs.frozen
class MHKS(MarginLearner):
    """Ho–Kashyap classifier with squared approximation of the errors, on explicit features.

    Minimises ‖φ∘f − 1 − b‖² + α‖w‖² over f = Φw + w₀ and margins b ≥ 0 alternately: a ridge
    regression towards the margins, then b ← b + ρ(e + |e|) with the error e.

    Parameters
    ----------
    alpha : float, default=1.0
        α (the papers' c), the ridge on the weights, not on the bias, in the units of the squared
        error; 0 or above.
    rho : float, default=0.99
        ρ, the step by which the margins grow towards the outputs; above 0, at most 1.
    tol : float, default=1e-3
        ξ: stop when the objective changes by at most this (absolute; above 1,000 rows, per 1,000
        rows).
    max_iter : int, default=1000
        Stop with a ``ConvergenceWarning`` after this many solves.
    b0 : float, default=1e-6
        The initial margins.

    Notes
    -----
    On a full empirical map the normal matrix is diagonal and each solve O(p); on other maps it is
    decomposed once, O(Np² + p³), and each iteration reads the features twice, O(Np). With fewer
    rows than features it takes O(N²p + N³) once and O(N²) per iteration. Source: Łęski (2003);
    paper 000, section 2.1.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier("rbf", feature_map="empirical", learner=MHKS(alpha=0.5)).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "mhks"
    facts: ClassVar[LearnerFacts] = LearnerFacts(
        on_features=True, takes_row_weights=True, search_space={"alpha": SIMPLEST_FIRST}
    )
    relative: ClassVar[bool] = False

    def problem(
        self, side: TrainingSide, alphas: Array, row_weights: Array | None = None
    ) -> FeatureProblem | RowProblem:
        """Return the ridge regression on the view's features."""
        if RowProblem.suits(side, alphas):
            return RowProblem(side, float(alphas[0]), row_weights)
        return FeatureProblem(side, alphas, row_weights)

    def iterate(
        self, problems: Sequence[Subproblem], target: Target, columns: Columns
    ) -> list[Solution]:
        """Return the solution of Table 1 of paper 000 with one view."""
        return iterate(GRADIENT, problems, target, columns, [None])
