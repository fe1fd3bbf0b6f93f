"""Combiners that fit a whole grid of parameters at once, as a search asks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mklkit.protocols.arrays import Array
from mklkit.protocols.learner import Learner

__all__ = ["GridCombiner", "GridDecision"]


class GridDecision(Protocol):
    """The decision functions of all points of a grid."""

    n_iter: Array
    """(G,) the iterations that each point took."""

    def decide(self, rows: Array) -> Array:
        """Return the decision values (n, G) of new rows (n, d)."""
        ...


@runtime_checkable
class GridCombiner(Protocol):
    """A combiner that fits many values of its own and the learner's parameters on the same views.

    Parameters have scikit-learn's nested names: ``combiner__lam``, ``learner__alpha``.
    """

    def search_space(self, learner: Learner) -> dict[str, tuple[Any, ...]]:
        """Return the parameters that ``fit_grid`` varies, each with the values to try by default.

        Of points that score the same a search takes the one of largest values, the parameter named
        last first, so that larger has to be simpler.

        Raises
        ------
        IncompatibleError
            If the learner's fits can't share their work.
        """
        ...

    def fit_grid(
        self,
        views: Any,
        y: Array,
        learner: Learner,
        points: Sequence[Mapping[str, Any]],
        random_state: np.random.RandomState,
    ) -> GridDecision:
        """Return of each point what a fit of its own would give, up to rounding.

        ``views``, ``y`` and ``random_state`` are those of ``fit``. What a point does not name is
        as the combiner and the learner have it.
        """
        ...
