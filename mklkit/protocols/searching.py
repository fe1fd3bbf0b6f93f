"""Combiners that fit several points of a grid at once, for searches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mklkit.protocols.arrays import Array
from mklkit.protocols.learner import Learner
from mklkit.protocols.target import Target

__all__ = ["GridCombiner", "GridDecision", "learner_parameters", "learner_variants"]

OF_LEARNER = "learner__"


class GridDecision(Protocol):
    """The decision functions of all grid points."""

    @property
    def n_iter(self) -> Array | None:
        """(G,) the number of iterations of each point; None where nothing is iterated."""
        ...

    def decide(self, rows: Array) -> Array:
        """Return the decision values (n, G) of new rows (n, d)."""
        ...


@runtime_checkable
class GridCombiner(Protocol):
    """A combiner that fits many values of its own and the learner's parameters on the same views.

    Parameters have scikit-learn's nested names: ``combiner__lam``, ``learner__alpha``.
    """

    def grid_parameters(self, learner: Learner) -> frozenset[str]:
        """Return the parameters that ``fit_grid`` varies; empty where fits can't share work."""
        ...

    def fit_grid(
        self,
        views: Any,
        target: Target,
        learner: Learner,
        points: Sequence[Mapping[str, Any]],
        random_state: np.random.RandomState,
    ) -> GridDecision:
        """Return the decision functions of all points, each equal to a separate fit up to rounding.

        ``views``, ``target`` and ``random_state`` are those of ``fit``. Parameters that a point
        does not name keep the values of the combiner and the learner.
        """
        ...


def learner_parameters(names: Iterable[str]) -> frozenset[str]:
    """Return the nested names of some parameters of a learner."""
    return frozenset(f"{OF_LEARNER}{name}" for name in names)


def learner_variants(learner: Any, points: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the learner of each point: a copy with the parameters that are named ``learner__…``.

    Examples
    --------
    >>> from mklkit import SVM
    >>> learner_variants(SVM(), [{"learner__C": 2.0}, {"combiner__lam": 1.0}])
    [SVM(C=2.0, tol=0.001, max_iter=1000000), SVM(C='auto', tol=0.001, max_iter=1000000)]
    """
    own = [
        {n.removeprefix(OF_LEARNER): v for n, v in point.items() if n.startswith(OF_LEARNER)}
        for point in points
    ]
    return [learner.with_params(**params) if params else learner for params in own]
