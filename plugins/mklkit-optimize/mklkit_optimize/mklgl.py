"""MKLGL: kernel weights in closed form between support vector machines (group lasso)."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge

from mklkit import Learner, ViewSet, WeightedDecision, finite
from mklkit_optimize.base import SaddleWeighting
from mklkit_optimize.gram_sums import Array
from mklkit_optimize.norm_ball import decide_at_scale
from mklkit_optimize.saddle import SaddleProblem, relative_gap, remedy_of, warn_of_gap

__all__ = ["MKLGL", "closed_form_step", "farther"]

GROWTH = 1.5
"""How much longer a step may be than the one before, which was worth its machine."""


@attrs.frozen
class MKLGL(SaddleWeighting):
    """Alternate a support vector machine with closed-form weights on the ℓp ball.

    σ_k = ‖f_k‖^{2/(1+p)} / (Σ_j ‖f_j‖^{2p/(1+p)})^{1/p}, with ‖f_k‖² = σ_k² (α∘y)ᵀK_k(α∘y).

    That step, which never raises the objective, is taken farther in its direction as long as the
    objective falls by it, and as published after it did not. It ends where the published steps end,
    after a tenth of the machines or so where p = 1.

    Parameters
    ----------
    tol : float, default=1e-5
        Relative duality gap at which the iteration ends.
    max_iter : int, default=1000
    C : float, optional
        Of the inner machines; the learner's own where not given (1 if it has none).
    p : float, default=1.0
        1 or above: 1 favours few kernels, large values even the weights out.

    Warns
    -----
    ConvergenceWarning
        If the gap is above ``tol`` after ``max_iter`` machines.

    Notes
    -----
    M Gram matrices of memory, one machine an iteration. The decision is the machine on Σσ_kK_k with
    ‖σ‖_p = 1 as published; the weights are reported divided by their sum.
    Sources: Xu et al. (2010); paper 003, Algorithm 1.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=MKLGL(p=2, tol=1e-3)).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "mklgl"

    p: float = attrs.field(default=1.0, converter=float, validator=and_(ge(1), finite))

    def solve(self, problem: SaddleProblem) -> Array:
        """Return σ, ‖σ‖_p = 1."""
        weights = np.full(problem.n_kernels, problem.n_kernels ** (-1 / self.p))
        solution, stride = problem.at(weights), 1.0
        for _ in range(self.max_iter - 1):
            if relative_gap(solution, self.p) <= self.tol or not solution.forms.any():
                return weights
            if not solution.ended:
                break
            step = closed_form_step(weights, solution.forms, self.p)
            moved = farther(weights, step, stride, self.p)
            found = problem.at(moved)
            if stride == 1.0 or found.objective <= solution.objective:
                weights, solution, stride = moved, found, GROWTH * stride
            else:
                stride = 1.0
        gap = relative_gap(solution, self.p)
        if gap > self.tol:
            warn_of_gap(self.name, self.max_iter, gap, self.tol, remedy_of(solution))
        return weights

    def fit(
        self, views: ViewSet, y: Array, learner: Learner, random_state: np.random.RandomState
    ) -> WeightedDecision:
        """Return the decision of the machine on the weighted sum."""
        return decide_at_scale(views, self.choose(views, y, learner, random_state), y, learner)


def closed_form_step(weights: Array, forms: Array, p: float) -> Array:
    """Return the weights that minimise Σ_k ‖f_k‖²/σ_k on the ℓp ball.

    Parameters
    ----------
    weights : ndarray of shape (M,)
        σ before the step.
    forms : ndarray of shape (M,)
        (α∘y)ᵀK_k(α∘y).
    p : float

    Examples
    --------
    >>> closed_form_step(np.array([0.5, 0.5]), np.array([1.0, 9.0]), p=1)
    array([0.25, 0.75])
    """
    # The largest is taken out first: the norm's own scale cancels.
    norms = weights * np.sqrt(forms)
    shares = (norms / norms.max()) ** (2 / (1 + p))
    return shares / np.linalg.norm(shares, p)


def farther(weights: Array, step: Array, stride: float, p: float) -> Array:
    """Return the point ``stride`` times as far as a step, in ratios, on the ℓp sphere.

    Examples
    --------
    >>> farther(np.array([0.5, 0.5]), np.array([0.25, 0.75]), stride=2.0, p=1)
    array([0.1, 0.9])
    """
    moved = np.zeros_like(step)
    kept = step > 0
    ratios = stride * np.log(step[kept] / weights[kept]) + np.log(weights[kept])
    # The largest is taken out first: the norm's own scale cancels.
    moved[kept] = np.exp(ratios - ratios.max())
    return moved / np.linalg.norm(moved, p)
