"""What MHKS and KMHKS share: their parameters, and the loop over their own subproblem."""

from __future__ import annotations

from abc import ABC, abstractmethod

import attrs
from attrs.validators import and_, ge, gt, instance_of, le

from mklkit.components import Component
from mklkit.learners.base import LinearDecision
from mklkit.numerics.ho_kashyap import Stopping, ho_kashyap
from mklkit.protocols import Array, Subproblem, TrainingSide

__all__ = ["MarginLearner", "RidgeCoefficients"]


@attrs.frozen(eq=False)
class RidgeCoefficients:
    """Weights (p,) or row coefficients (N,), and the bias."""

    weights: Array
    bias: float


@attrs.frozen
class MarginLearner(Component, ABC):
    """Least squares to labels with margins that may grow: ‖φ∘f − 1 − b‖² + c‖w‖², b ≥ 0.

    A subclass says what it learns from and writes ``subproblem``.
    """

    c: float = attrs.field(default=1.0, converter=float, validator=ge(0))
    rho: float = attrs.field(default=0.99, converter=float, validator=and_(gt(0), le(1)))
    tol: float = attrs.field(default=1e-3, converter=float, validator=gt(0))
    max_iter: int = attrs.field(default=1000, validator=[instance_of(int), ge(1)])
    b0: float = attrs.field(default=1e-6, converter=float, validator=ge(0))

    @abstractmethod
    def subproblem(self, side: TrainingSide) -> Subproblem:
        """Return the least-squares problem of one view, set up to be solved for many targets."""

    @property
    @abstractmethod
    def stopping(self) -> Stopping:
        """When the iteration ends."""

    def fit(self, side: TrainingSide, y: Array) -> LinearDecision:
        """Return the decision function learned from labels −1 and +1; ``history`` is its loss."""
        problem = self.subproblem(side)
        coefficients, history = ho_kashyap(
            problem.solve,
            problem.outputs,
            problem.penalty,
            y,
            self.rho,
            self.b0,
            self.stopping,
        )
        fitted = problem.finish(coefficients)
        assert isinstance(fitted, LinearDecision)
        return attrs.evolve(fitted, history=tuple(history))
