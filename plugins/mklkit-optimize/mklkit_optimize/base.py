"""What weightings share that are optimised through support vector machines."""

from __future__ import annotations

from abc import ABC, abstractmethod

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, instance_of

from mklkit import (
    Array,
    LearnedWeighting,
    Learner,
    ViewSet,
    finite,
    price_field,
    price_of,
    whole,
)
from mklkit_optimize.gram_sums import gram_stack
from mklkit_optimize.saddle import SaddleProblem

__all__ = ["SaddleWeighting"]


@attrs.frozen
class SaddleWeighting(LearnedWeighting, ABC):
    """Template: weights at the saddle point of kernel weights and support vector machine.

    A subclass writes :meth:`solve`. All M Gram matrices are held, as they are summed anew at every
    step.

    Parameters
    ----------
    tol : float, default=1e-5
        Relative duality gap at which the iteration ends.
    max_iter : int, default=1000
    C : float, optional
        Of the inner machines; the learner's own where not given (1 if that is no number).
    """

    tol: float = attrs.field(default=1e-5, converter=float, validator=and_(gt(0), finite))
    max_iter: int = attrs.field(
        default=1000, converter=whole, validator=and_(instance_of(int), ge(1))
    )
    C: float | None = price_field()

    @abstractmethod
    def solve(self, problem: SaddleProblem) -> Array:
        """Return the weights σ (M,)."""

    def choose(
        self, views: ViewSet, y: Array, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the optimal weights for labels −1 and +1."""
        if len(views) == 1:
            return np.ones(1)
        # The machine must be the more exact of the two, or its errors would pass for a gap.
        inner = float(np.clip(0.1 * self.tol, 1e-9, 1e-3))
        price = price_of(self.C, learner)
        return self.solve(SaddleProblem(gram_stack(views), y.astype(np.float64), price, inner))
