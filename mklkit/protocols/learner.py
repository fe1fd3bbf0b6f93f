"""Learners: one decision function from one view."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mklkit.protocols.arrays import Array
from mklkit.protocols.facts import LearnerFacts
from mklkit.protocols.target import Target
from mklkit.protocols.training_view import TrainingView

__all__ = ["FittedLearner", "Learner", "SupportedDecision"]


@runtime_checkable
class FittedLearner(Protocol):
    """A decision function on a view's columns."""

    def decide(self, columns: Array) -> Array:
        """Return the decision values (n,) for features (n, p) or similarities (n, N)."""
        ...


@runtime_checkable
class SupportedDecision(Protocol):
    """A fitted learner that needs only some of its columns, the similarities to support vectors."""

    @property
    def support(self) -> NDArray[np.intp]:
        """The indices of the columns that it needs."""
        ...

    def restricted(self, support: NDArray[np.intp]) -> Self:
        """Return the same function on those columns only."""
        ...

    def decide(self, columns: Array) -> Array:
        """Return the decision values (n,)."""
        ...


class Learner(Protocol):
    """Learns one decision function from one view."""

    name: ClassVar[str]

    @property
    def facts(self) -> LearnerFacts:
        """The properties of the learner, such as the kinds of view that it accepts."""
        ...

    def fit(self, side: TrainingView, target: Target) -> FittedLearner:
        """Return the decision function learned from the training rows and their target."""
        ...
