"""Learners that can be fitted together: what a coupled fit asks of each."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

from mklkit.protocols.arrays import Array
from mklkit.protocols.facts import LearnerFacts
from mklkit.protocols.learner import FittedLearner
from mklkit.protocols.training_side import TrainingSide

__all__ = ["CoupledLearner", "Subproblem"]


class Subproblem(Protocol):
    """One view's share of a coupled fit: a regularised least-squares problem with many targets.

    Coefficients are the subproblem's own affair: whatever ``solve`` returns, the others take.
    It is set up once (a factorisation or eigendecomposition of the view) and solved often.
    """

    def solve(self, target: Array, data_weight: float = 1.0) -> Any:
        """Return the coefficients that minimise ``s·‖f − target/s‖² + penalty`` for s the weight.

        ``f`` (N,) are the decision values on the training rows. One equation covers a learner
        alone (s = 1) and coupled ones, whose loss puts a second square on the same ``f``.
        """
        ...

    def outputs(self, coefficients: Any) -> Array:
        """Return the decision values (N,) on the training rows."""
        ...

    def penalty(self, coefficients: Any) -> float:
        """Return the regularisation term, its constant included."""
        ...

    def finish(self, coefficients: Any) -> FittedLearner:
        """Return the decision function of these coefficients."""
        ...


@runtime_checkable
class CoupledLearner(Protocol):
    """A learner that can also be one of several in a coupled fit.

    Optional attributes: ``rho`` and ``b0``, how far margins grow at a step and where they start
    (0 where absent: margins stay at 1), and ``stopping``, when an iteration ends.
    """

    name: ClassVar[str]

    @property
    def facts(self) -> LearnerFacts:
        """What is true of the learner."""
        ...

    def fit(self, side: TrainingSide, y: Array) -> FittedLearner:
        """Return the decision function learned from labels −1 and +1."""
        ...

    def subproblem(self, side: TrainingSide) -> Subproblem:
        """Return the view's subproblem."""
        ...
