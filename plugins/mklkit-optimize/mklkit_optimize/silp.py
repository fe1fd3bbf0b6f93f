"""SILP: kernel weights by a semi-infinite linear program."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from mklkit.plugin import Array, register
from mklkit_optimize.base import SaddleWeighting
from mklkit_optimize.cuts import least_maximum
from mklkit_optimize.saddle import (
    RAISE_LIMIT,
    SaddleProblem,
    relative_gap,
    warn_of_gap,
)


@register
@attrs.frozen
class SILP(SaddleWeighting):
    """Maximise θ so that Σ_k β_k S_k(α) ≥ θ for every α, one violated α at a time.

    S_k(α) = ½(α∘y)ᵀK_k(α∘y) − 1ᵀα, β on the simplex. Each linear program (HiGHS) proposes weights;
    the support vector machine at those weights gives the most violated α, the next constraint.

    Parameters
    ----------
    tol : float, default=1e-5
        Relative gap |1 − Σβ_kS_k(α)/θ| at which the iteration ends.
    max_iter : int, default=1000
    C : float, optional
        C of the inner support vector machines; by default the learner's C (1 if it has none).

    Warns
    -----
    ConvergenceWarning
        If the gap is above ``tol`` after ``max_iter`` iterations; the best weights so far are used.

    Notes
    -----
    Cost: one support vector machine and one linear program in M + 1 variables per iteration.

    M Gram matrices of memory; per iteration one support vector machine and one linear program in
    M + 1 variables. Source: Sonnenburg, Rätsch, Schäfer and Schölkopf (2006), the wrapper
    algorithm.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=SILP(tol=1e-3)).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "silp"

    def solve(self, problem: SaddleProblem) -> Array:
        """Return β."""
        solution = problem.at(np.full(problem.n_kernels, 1 / problem.n_kernels))
        best = solution
        cuts = [0.5 * solution.forms - solution.linear]
        if relative_gap(solution) <= self.tol:
            return solution.weights
        gap = relative_gap(solution)
        remedy = RAISE_LIMIT
        while solution.ended and len(cuts) <= self.max_iter:
            weights, bound = best_on_cuts(np.array(cuts))
            repeated = np.array_equal(weights, solution.weights)
            if not repeated:
                solution = problem.at(weights)
                best = min(best, solution, key=lambda machine: machine.objective)
            # The linear program has only some α as constraints: −θ is below the minimum of J.
            gap = (best.objective + bound) / abs(best.objective)
            if gap <= self.tol:
                return best.weights
            if repeated:
                remedy = "no new weights: raise tol, or check that all kernels are definite."
                break
            cuts.append(0.5 * solution.forms - solution.linear)
        warn_of_gap(self.name, len(cuts) - 1, gap, self.tol, solution, remedy)
        return best.weights


def best_on_cuts(cuts: Array) -> tuple[Array, float]:
    """Return β on the simplex and the largest θ with Σ_k β_k S_k ≥ θ for every cut of (T, M)."""
    weights, least = least_maximum(-cuts)
    return weights, -least
