"""Templates: weights at a saddle point of support vector machines, and on balls of other norms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, instance_of, optional

from mklkit.learners import Ridge
from mklkit.plugin import (
    Array,
    CombinerTraits,
    LearnedWeighting,
    Learner,
    Target,
    Views,
    as_int,
    finite_number,
)
from mklkit_optimize.gram_sums import gram_stack
from mklkit_optimize.numbers import numbers_problem
from mklkit_optimize.saddle import SaddleProblem


@attrs.frozen
class SaddleWeighting(LearnedWeighting, ABC):
    """Template: kernel weights at the saddle point of the support vector machine's objective.

    A subclass implements :meth:`solve`. All M Gram matrices stay in memory, because every step sums
    them with new weights. Sample weights multiply C.
    """

    traits: ClassVar[CombinerTraits] = CombinerTraits(row_weights="throughout")

    tol: float = attrs.field(default=1e-5, converter=float, validator=and_(gt(0), finite_number))
    max_iter: int = attrs.field(
        default=1000, converter=as_int, validator=and_(instance_of(int), ge(1))
    )
    C: float | None = attrs.field(
        default=None,
        converter=attrs.converters.optional(float),
        validator=optional([gt(0), finite_number]),
    )

    @abstractmethod
    def solve(self, problem: SaddleProblem) -> Array:
        """Return the weights σ (M,)."""

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the optimal weights for labels −1 and +1, or for numbers."""
        if len(views) == 1:
            return np.ones(1)
        # The inner solution must be more exact than tol, or its errors would count as a gap.
        inner = float(np.clip(0.1 * self.tol, 1e-9, 1e-3))
        if target.kind.name == "numbers":
            return self.solve(numbers_problem(gram_stack(views), target, learner, self.C, inner))
        C = self.C or learner.fixed_C or 1.0
        labels = target.values.astype(np.float64)
        return self.solve(SaddleProblem(gram_stack(views), labels, C, inner, target.row_weights))


@attrs.frozen
class NormBallWeighting(LearnedWeighting):
    """Template: the decision function of Σ σ_m K_m, with weights reported on the simplex.

    With s = Σσ_m, a support vector machine with C on s·K has the decision function of one with s·C
    on K, and a ridge regression with α that of one with α/s. Learners without a number for either
    one are fitted with the simplex weights.
    """

    def prepare(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> tuple[Array, Learner]:
        """Return the weights on the simplex, and the learner with its C or ridge at their scale."""
        weights = self.choose(views, target, learner, random_state)
        scale = float(weights.sum())
        if isinstance(learner, Ridge) and not isinstance(learner.alpha, str):
            return np.asarray(weights / scale), learner.with_params(alpha=learner.alpha / scale)
        if learner.fixed_C is not None:
            learner = learner.with_params(C=learner.fixed_C * scale)
        return np.asarray(weights / scale), learner
