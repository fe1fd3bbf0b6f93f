"""Combiners that fit a whole grid of parameters at once, for searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mklkit.protocols.arrays import Array
from mklkit.protocols.learner import Learner

__all__ = ["GridCombiner", "GridDecision"]


class GridDecision(Protocol):
    """The decision functions of all grid points."""

    n_iter: Array
    """(G,) the number of iterations of each point."""

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

        Among points of equal score a search takes the largest values, the parameter named last
        first, so larger values must mean a simpler model.

        Raises
        ------
        IncompatibleError
            If fits of this learner can't share work.
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
        """Return the decision functions of all points, each equal to a separate fit up to rounding.

        ``views``, ``y`` and ``random_state`` are those of ``fit``. Parameters that a point does
        not name keep the values of the combiner and the learner.
        """
        ...
