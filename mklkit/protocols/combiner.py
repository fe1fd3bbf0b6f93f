"""Combiners: many views and a learner become one decision."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from mklkit.protocols.arrays import Array
from mklkit.protocols.learner import Learner
from mklkit.protocols.views import Views

__all__ = ["Combiner", "Decision", "RowWeights"]


class Decision(Protocol):
    """What a combiner leaves behind: one decision function over all views."""

    weights: Array
    """(M,) the weight of each kernel in the decision, on the simplex or as the combiner says."""

    def decide(self, rows: Array) -> Array:
        """Return the decision values (n,) of new rows (n, d)."""
        ...


@runtime_checkable
class RowWeights(Protocol):
    """A decision in which each row has its own kernel weights."""

    weights: Array

    def decide(self, rows: Array) -> Array:
        """Return the decision values (n,) of new rows (n, d)."""
        ...

    def gate_weights(self, rows: Array) -> Array:
        """Return each row's weight on each kernel, (n, M)."""
        ...


class Combiner(Protocol):
    """Joins the views and the learner into one decision.

    Optional: ``facts``, a :class:`mklkit.CombinerFacts`, where its defaults do not hold.
    """

    name: ClassVar[str]

    def fit(
        self,
        views: Views,
        y: Array,
        learner: Learner,
        random_state: np.random.RandomState,
    ) -> Decision:
        """Return the decision learned from labels −1 and +1."""
        ...
