"""What couples learners: a subproblem per view, and what a learner says of the iteration.

``N`` training rows, ``G`` columns: variants of one learner that are fitted side by side on the
same view, as many as a grid has points and one in a fit of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols.arrays import Array
from mklkit.protocols.facts import LearnerFacts
from mklkit.protocols.learner import FittedLearner
from mklkit.protocols.training_side import TrainingSide

__all__ = [
    "CoupledLearner",
    "CouplingFacts",
    "InitialisedSubproblem",
    "LinearFunction",
    "Stopping",
    "Subproblem",
    "Which",
]

Which = NDArray[np.intp] | slice
"""Which of a subproblem's columns are meant; ``slice(None)`` is all of them."""


@attrs.frozen
class Stopping:
    """When the iteration ends.

    Attributes
    ----------
    tol : float
        Paper symbol ξ.
    relative : bool
        Whether the change of the objective is divided by the objective (002) or not (000).
    max_iter : int
    """

    tol: float = 1e-3
    relative: bool = False
    max_iter: int = 1000

    def reached(self, previous: Array, current: Array) -> NDArray[np.bool_]:
        """Return where the objective has changed by no more than the tolerance.

        One that is no number any more will not change either.
        """
        scale = np.abs(previous) if self.relative else 1.0
        return np.asarray(~(np.abs(current - previous) > self.tol * scale))


@attrs.frozen
class CouplingFacts:
    """What a learner says of a coupled fit; every value has a default.

    Attributes
    ----------
    rho : float
        How far the margins grow towards the outputs at each step; 0: they stay.
    b0 : float
        What the margins have beyond 1 at the start.
    stopping : Stopping
    search_space : mapping of str to tuple
        The parameters by which the variants given to ``subproblem`` may differ, each with the
        values that a search tries; empty where a subproblem has one column only. Of variants that
        score the same a search takes the one of largest values, so that larger has to be simpler.
    """

    rho: float = 0.0
    b0: float = 0.0
    stopping: Stopping = Stopping()
    search_space: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict)


class LinearFunction(FittedLearner, Protocol):
    """A decision function that is linear in the view's columns; ``LinearDecision`` is one."""

    @property
    def coefficients(self) -> Array:
        """The weight of each column, (p,) or (N,)."""
        ...

    @property
    def bias(self) -> float:
        """What is added."""
        ...


class Subproblem(Protocol):
    """One view's share of a coupled fit: regularised least squares, many targets side by side.

    Coefficients are the subproblem's own affair: whatever ``solve`` returns, the others take. It
    is set up once (a factorisation or eigendecomposition of the view) and solved often.
    """

    def solve(self, targets: Array, data_weights: Array, columns: Which = slice(None)) -> Any:
        """Return the coefficients that minimise ``s·‖f − t/s‖² + penalty``, column by column.

        Targets t are (N, G), data weights s are (G,), and ``f`` are the decision values on the
        training rows. One equation covers a learner alone (s = 1) and coupled ones, whose loss
        puts a second square on the same ``f``. ``columns`` says which variants these G are.
        """
        ...

    def outputs(self, coefficients: Any) -> Array:
        """Return the decision values (N, G) on the training rows."""
        ...

    def penalty(self, coefficients: Any, columns: Which = slice(None)) -> Array:
        """Return the regularisation terms (G,), their constants included."""
        ...

    def finish(self, coefficients: Any, column: int = 0) -> LinearFunction:
        """Return the decision function of one column of these coefficients."""
        ...


@runtime_checkable
class InitialisedSubproblem(Subproblem, Protocol):
    """A subproblem that can start from given coefficients, not only from a function of zeros."""

    @property
    def n_coefficients(self) -> int:
        """How many numbers a column's coefficients are, the bias included."""
        ...

    def filled(self, values: Array) -> Any:
        """Return these numbers as the coefficients of every column."""
        ...


@runtime_checkable
class CoupledLearner(Protocol):
    """A learner that can also be one of several in a coupled fit."""

    name: ClassVar[str]

    @property
    def facts(self) -> LearnerFacts:
        """What is true of the learner."""
        ...

    @property
    def coupling(self) -> CouplingFacts:
        """What it says of the iteration; ``CouplingFacts()`` where margins stay at 1."""
        ...

    def fit(self, side: TrainingSide, y: Array) -> FittedLearner:
        """Return the decision function learned from labels −1 and +1."""
        ...

    def subproblem(self, side: TrainingSide, variants: Sequence[Any]) -> Subproblem:
        """Return the view's subproblem with one column per variant of this learner.

        Variants are copies of the learner that differ in the parameters of its search space alone;
        for one fit there is one, the learner itself.
        """
        ...
