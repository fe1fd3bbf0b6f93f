"""What MHKS and KMHKS share: their parameters, and the iteration on a single view."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, instance_of, le

from mklkit.combiners.ifsl.rules import Columns, Solution
from mklkit.learners.linear_decision import LinearDecision
from mklkit.protocols import (
    Array,
    CouplingFacts,
    Learner,
    Stopping,
    Subproblem,
    Target,
    TrainingSide,
)
from mklkit.protocols.component import as_int, finite_number

__all__ = ["MarginLearner"]


@attrs.frozen
class MarginLearner(Learner):
    """Least squares to labels with margins that may grow: ‖φ∘f − 1 − b‖² + α‖w‖², b ≥ 0.

    The squares of rows with weights are weighted, and so is the objective of the stopping rule.

    A subclass states its facts and implements ``problem`` and ``iterate``.
    """

    relative: ClassVar[bool]
    """Whether ``tol`` is relative to the objective."""

    alpha: float = attrs.field(default=1.0, converter=float, validator=[ge(0), finite_number])
    rho: float = attrs.field(default=0.99, converter=float, validator=and_(gt(0), le(1)))
    tol: float = attrs.field(default=1e-3, converter=float, validator=gt(0))
    max_iter: int = attrs.field(default=1000, converter=as_int, validator=[instance_of(int), ge(2)])
    b0: float = attrs.field(default=1e-6, converter=float, validator=[ge(0), finite_number])

    @property
    def coupling(self) -> CouplingFacts:
        """ρ, b₀ and ξ; variants may differ in α."""
        stopping = Stopping(self.tol, self.relative, self.max_iter)
        return CouplingFacts(self.rho, self.b0, stopping, ("alpha",))

    @abstractmethod
    def problem(
        self, side: TrainingSide, alphas: Array, row_weights: Array | None = None
    ) -> Subproblem:
        """Return the least-squares problem of one view for several ridges (G,), set up once."""

    @abstractmethod
    def iterate(
        self, problems: Sequence[Subproblem], target: Target, columns: Columns
    ) -> list[Solution]:
        """Return the result of the paper's iteration with one view, one solution per column."""

    def subproblem(
        self, side: TrainingSide, target: Target, variants: Sequence[MarginLearner]
    ) -> Subproblem:
        """Return the least-squares problem of one view, one column per variant's ``alpha``."""
        alphas = np.array([one.alpha for one in variants])
        return self.problem(side, alphas, target.row_weights)

    def fit(self, side: TrainingSide, target: Target) -> LinearDecision:
        """Return the decision function learned from labels −1 and +1; ``history`` is its loss."""
        columns = Columns(np.zeros(1), np.ones(1), self.coupling)
        (solution,) = self.iterate([self.subproblem(side, target, [self])], target, columns)
        (fitted,) = solution.learners
        return LinearDecision(fitted.coefficients, fitted.bias, solution.history)
