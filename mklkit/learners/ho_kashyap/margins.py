"""What MHKS and KMHKS share: their parameters, and the iteration over their own view."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, instance_of, le

from mklkit.combiners.ifsl.rules import Columns, Solution, Stopping
from mklkit.learners.ho_kashyap.one_column import OneColumn
from mklkit.learners.linear_decision import LinearDecision
from mklkit.protocols import Array, TrainingSide
from mklkit.protocols.component import Component, finite, whole

__all__ = ["MarginLearner"]


@attrs.frozen
class MarginLearner(Component, ABC):
    """Least squares to labels with margins that may grow: ‖φ∘f − 1 − b‖² + c‖w‖², b ≥ 0.

    A subclass says what it learns from and writes ``grid_problem``, ``stopping`` and ``iterate``.
    """

    c: float = attrs.field(default=1.0, converter=float, validator=[ge(0), finite])
    rho: float = attrs.field(default=0.99, converter=float, validator=and_(gt(0), le(1)))
    tol: float = attrs.field(default=1e-3, converter=float, validator=gt(0))
    max_iter: int = attrs.field(default=1000, converter=whole, validator=[instance_of(int), ge(2)])
    b0: float = attrs.field(default=1e-6, converter=float, validator=[ge(0), finite])

    @abstractmethod
    def grid_problem(self, side: TrainingSide, ridges: Array) -> Any:
        """Return the least-squares problem of one view for several ridges (G,), set up once."""

    @property
    @abstractmethod
    def stopping(self) -> Stopping:
        """When the iteration ends."""

    @abstractmethod
    def iterate(self, problems: Any, labels: Array, columns: Columns) -> list[Solution]:
        """Return where the paper's iteration ends with one view, a solution a column."""

    def subproblem(self, side: TrainingSide) -> OneColumn:
        """Return the least-squares problem of one view, set up to be solved for many targets."""
        return OneColumn(self.grid_problem(side, np.array([self.c])))

    def fit(self, side: TrainingSide, y: Array) -> LinearDecision:
        """Return the decision function learned from labels −1 and +1; ``history`` is its loss."""
        problem = self.grid_problem(side, np.array([self.c]))
        columns = Columns(np.zeros(1), np.ones(1), self.rho, self.b0)
        solution = self.iterate([problem], y, columns)[0]
        fitted: LinearDecision = problem.finish(solution.coefficients[0])
        return attrs.evolve(fitted, history=solution.history)
