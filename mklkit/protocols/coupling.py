"""Protocols of coupled learners: a subproblem per view, and the parameters of the iteration.

``N`` training rows, ``G`` columns: variants of one learner that are fitted side by side on the
same view, one per grid point of a search and a single one in an ordinary fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.protocols.arrays import Array
from mklkit.protocols.facts import LearnerFacts
from mklkit.protocols.learner import FittedLearner
from mklkit.protocols.target import Target
from mklkit.protocols.training_view import TrainingView

__all__ = [
    "ColumnSelector",
    "CoupledLearner",
    "CouplingFacts",
    "InitialisedSubproblem",
    "LinearFunction",
    "Stopping",
    "Subproblem",
]

ColumnSelector = NDArray[np.intp] | slice
"""The selected columns of a subproblem; ``slice(None)`` is all of them."""


@attrs.frozen
class Stopping:
    """The criterion that ends the iteration.

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

        A NaN counts as reached, as it will not change any more.
        """
        scale = np.abs(previous) if self.relative else 1.0
        return np.asarray(~(np.abs(current - previous) > self.tol * scale))


@attrs.frozen
class CouplingFacts:
    """What a learner states about its coupled fits; every value has a default.

    Attributes
    ----------
    rho : float
        ρ, the step by which the margins grow towards the outputs; 0 keeps them fixed.
    b0 : float
        b₀, the initial margin beyond 1.
    stopping : Stopping
    variants : tuple of str
        The parameters by which the variants given to ``subproblem`` may differ; empty where a
        subproblem has one column only.
    """

    rho: float = 0.0
    b0: float = 0.0
    stopping: Stopping = Stopping()
    variants: tuple[str, ...] = ()


@runtime_checkable
class LinearFunction(FittedLearner, Protocol):
    """A decision function that is linear in the view's columns; ``LinearDecision`` is one."""

    @property
    def coefficients(self) -> Array:
        """The weight of each column, (p,) or (N,)."""
        ...

    @property
    def bias(self) -> float:
        """The constant term."""
        ...


class Subproblem(Protocol):
    """One view's share of a coupled fit: regularised least squares with many targets side by side.

    Coefficients are opaque to the caller: whatever ``solve`` returns, the other methods accept.
    The subproblem is set up once (a factorisation or eigendecomposition of the view) and solved
    many times.
    """

    def solve(
        self, targets: Array, data_weights: Array, columns: ColumnSelector = slice(None)
    ) -> Any:
        """Return the coefficients that minimise ``s·‖f − t/s‖² + penalty``, column by column.

        Targets t are (N, G), data weights s are (G,), and ``f`` are the decision values on the
        training rows; squares of rows with weights are weighted. A learner of its own has s = 1;
        the coupling loss adds a second square in the same ``f``. ``columns`` selects the variants
        to which these G columns belong.
        """
        ...

    def outputs(self, coefficients: Any) -> Array:
        """Return the decision values (N, G) on the training rows."""
        ...

    def penalty(self, coefficients: Any, columns: ColumnSelector = slice(None)) -> Array:
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
        """The number of coefficients per column, the bias included."""
        ...

    def filled(self, values: Array) -> Any:
        """Return coefficients with these values in every column."""
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
        """The parameters of the iteration; ``CouplingFacts()`` where margins stay at 1."""
        ...

    def fit(self, side: TrainingView, target: Target) -> FittedLearner:
        """Return the decision function learned from the training rows and their target."""
        ...

    def subproblem(self, side: TrainingView, target: Target, variants: Sequence[Any]) -> Subproblem:
        """Return the view's subproblem with one column per variant of this learner.

        Of the target it uses the weights of rows, if it can; values come with each ``solve``.

        Variants are copies of the learner that differ only in ``coupling.variants``;
        an ordinary fit has one variant, the learner itself.
        """
        ...
