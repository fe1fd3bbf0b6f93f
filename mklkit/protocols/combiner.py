"""Combiners: many views and a learner become one decision, or one for each point of a grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from mklkit.protocols.component import Component
from mklkit.protocols.learner import Learner
from mklkit.protocols.rows import Array, Target
from mklkit.protocols.views import Views

__all__ = [
    "Combiner",
    "Decision",
    "GatedDecision",
    "GridDecision",
    "learner_parameters",
    "learner_variants",
]

OF_LEARNER = "learner__"


@runtime_checkable
class Decision(Protocol):
    """The fitted result of a combiner: one decision function over all views."""

    @property
    def weights(self) -> Array:
        """The weight of each kernel (M,), on the simplex unless its combiner's facts differ."""
        ...

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


class GridDecision(Protocol):
    """The decision functions of all grid points."""

    @property
    def n_iter(self) -> Array | None:
        """(G,) the number of iterations of each point; None where nothing is iterated."""
        ...

    def decide(self, rows: Array) -> Array:
        """Return the decision values (n, G) of new rows (n, d)."""
        ...


class Combiner(Component, ABC):
    """Joins the views and the learner into one decision function.

    Optional: ``facts``, a :class:`mklkit.plugin.CombinerFacts`, where the defaults do not hold.
    """

    __slots__ = ()

    gives_weights: ClassVar[bool] = False
    """Whether it fits one learner on Σ w_m K_m, with weights that ``prepare`` gives alone."""

    @abstractmethod
    def fit(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Decision:
        """Return the decision learned from the training rows and their target."""

    def prepare(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> tuple[Array, Learner]:
        """Return the weights (M,), none negative, and the learner for the weighted sum."""
        raise NotImplementedError

    def grid_parameters(self, learner: Learner) -> frozenset[str]:
        """Return the parameters that ``fit_grid`` varies; empty where fits can't share work.

        They have scikit-learn's nested names: ``combiner__lam``, ``learner__alpha``.
        """
        return frozenset()

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
        raise NotImplementedError


def learner_parameters(names: Iterable[str]) -> frozenset[str]:
    """Return the nested names of some parameters of a learner."""
    return frozenset(f"{OF_LEARNER}{name}" for name in names)


def learner_variants(learner: Any, points: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the learner of each point: a copy with the parameters that are named ``learner__…``.

    Examples
    --------
    >>> from mklkit.learners import SVM
    >>> learner_variants(SVM(), [{"learner__C": 2.0}, {"combiner__lam": 1.0}])
    [SVM(C=2.0, tol=0.001, max_iter=1000000), SVM(C='auto', tol=0.001, max_iter=1000000)]
    """
    nested = [
        {n.removeprefix(OF_LEARNER): v for n, v in point.items() if n.startswith(OF_LEARNER)}
        for point in points
    ]
    return [learner.with_params(**params) if params else learner for params in nested]
