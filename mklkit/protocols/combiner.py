"""Combiners: many views and a learner become one decision."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from mklkit.protocols.arrays import Array
from mklkit.protocols.learner import Learner
from mklkit.protocols.target import Target
from mklkit.protocols.views import Views

__all__ = ["Combiner", "Decision", "GatedDecision", "GivesWeights"]


@runtime_checkable
class Decision(Protocol):
    """The fitted result of a combiner: one decision function over all views."""

    weights: Array
    """(M,) the weight of each kernel in the decision, on the simplex unless its facts differ."""

    def decide(self, rows: Array) -> Array:
        """Return the decision values (n,) of new rows (n, d)."""
        ...


@runtime_checkable
class GatedDecision(Protocol):
    """A decision in which each row has its own kernel weights."""

    weights: Array

    def decide(self, rows: Array) -> Array:
        """Return the decision values (n,) of new rows (n, d)."""
        ...

    def gate_weights(self, rows: Array) -> Array:
        """Return each row's weight on each kernel, (n, M)."""
        ...


@runtime_checkable
class GivesWeights(Protocol):
    """A combiner of one learner on Σ w_m K_m, whose weights can be had without its decision."""

    name: ClassVar[str]

    def prepare(
        self,
        views: Views,
        target: Target,
        learner: Learner,
        random_state: np.random.RandomState,
    ) -> tuple[Array, Learner]:
        """Return the weights (M,), none negative, and the learner for the weighted sum."""
        ...


class Combiner(Protocol):
    """Joins the views and the learner into one decision function.

    Optional: ``facts``, a :class:`mklkit.CombinerFacts`, where the defaults do not hold.
    """

    name: ClassVar[str]

    def fit(
        self,
        views: Views,
        target: Target,
        learner: Learner,
        random_state: np.random.RandomState,
    ) -> Decision:
        """Return the decision learned from the training rows and their target."""
        ...
