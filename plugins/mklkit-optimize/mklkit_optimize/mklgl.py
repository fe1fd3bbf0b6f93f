"""MKLGL: closed-form kernel weights alternating with a support vector machine (group lasso)."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge

from mklkit.plugin import Array, CombinerTraits, finite_number, register
from mklkit_optimize.base import NormBallWeighting, SaddleWeighting
from mklkit_optimize.saddle import SaddleProblem, relative_gap, warn_of_gap

GROWTH = 1.5
"""The growth of a step if the previous one lowered the objective."""


@register
@attrs.frozen
class MKLGL(NormBallWeighting, SaddleWeighting):
    """Alternate a support vector machine with closed-form weights on the ℓp ball.

    σ_k = ‖f_k‖^{2/(1+p)} / (Σ_j ‖f_j‖^{2p/(1+p)})^{1/p}, with ‖f_k‖² = σ_k² (α∘y)ᵀK_k(α∘y).

    This step never raises the objective. Steps in its direction are lengthened while the objective
    falls, and return to the published length when it does not (over-relaxation). The
    limit is that of the published steps, after about a tenth of the iterations for p = 1.

    Parameters
    ----------
    tol : float, default=1e-5
        Relative duality gap at which the iteration ends.
    max_iter : int, default=1000
        The most support vector machines to solve.
    C : float, optional
        C of the inner support vector machines; by default the learner's (1 if it has none). Numbers
        are learned by inner ridge regressions, or by support vector regression for ``svr``.
    p : float, default=1.0
        1 or above: 1 favours few kernels, large values give nearly equal weights.

    Warns
    -----
    ConvergenceWarning
        If the gap is above ``tol`` after ``max_iter`` iterations.

    Notes
    -----
    Cost: one support vector machine per iteration, and M Gram matrices of memory.

    M Gram matrices of memory, one support vector machine per iteration. The decision function is
    that of Σσ_kK_k with ‖σ‖_p = 1 as published; the weights are reported divided by their sum.
    Sources: Xu et al. (2010); Price et al. 2022, Algorithm 1.

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
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learns=("two classes", "numbers"),
        row_weights="throughout",
        search_space={"p": (4.0, 2.0, 4 / 3, 1.0)},
    )

    p: float = attrs.field(default=1.0, converter=float, validator=and_(ge(1), finite_number))

    def solve(self, problem: SaddleProblem) -> Array:
        """Return σ, ‖σ‖_p = 1."""
        weights = np.full(problem.n_kernels, problem.n_kernels ** (-1 / self.p))
        solution = problem.at(weights)
        stride = 1.0
        for _ in range(self.max_iter - 1):
            if relative_gap(solution, self.p) <= self.tol or not solution.forms.any():
                return weights
            if not solution.ended:
                break
            step = closed_form_step(weights, solution.forms, self.p)
            moved = farther(weights, step, stride, self.p)
            tried = problem.at(moved)
            if stride == 1.0 or tried.objective <= solution.objective:
                weights = moved
                solution = tried
                stride = GROWTH * stride
            else:
                stride = 1.0
        gap = relative_gap(solution, self.p)
        if gap > self.tol:
            warn_of_gap(self.name, self.max_iter, gap, self.tol, solution)
        return weights


def closed_form_step(weights: Array, forms: Array, p: float) -> Array:
    """Return the weights that minimise Σ_k ‖f_k‖²/σ_k on the ℓp ball, for (α∘y)ᵀK_k(α∘y) (M,).

    Examples
    --------
    >>> closed_form_step(np.array([0.5, 0.5]), np.array([1.0, 9.0]), p=1)
    array([0.25, 0.75])
    """
    # Divided by the largest first, against overflow: the scale cancels in the norm.
    norms = weights * np.sqrt(forms)
    shares = (norms / norms.max()) ** (2 / (1 + p))
    return shares / np.linalg.norm(shares, p)


def farther(weights: Array, step: Array, stride: float, p: float) -> Array:
    """Return the point ``stride`` times as far as ``step``, in log weights, on the ℓp sphere.

    Examples
    --------
    >>> farther(np.array([0.5, 0.5]), np.array([0.25, 0.75]), stride=2.0, p=1)
    array([0.1, 0.9])
    """
    moved = np.zeros_like(step)
    kept = step > 0
    ratios = stride * np.log(step[kept] / weights[kept]) + np.log(weights[kept])
    # Divided by the largest first, against overflow: the scale cancels in the norm.
    moved[kept] = np.exp(ratios - ratios.max())
    return moved / np.linalg.norm(moved, p)
