"""Combiners turn many views and a learner into one decision, or one per point of a grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, get_args, runtime_checkable

import attrs
import numpy as np
from attrs.validators import and_, deep_iterable, ge, in_, instance_of, max_len, min_len, optional

from mklkit.protocols.component import FEATURE_MAP, FLAG, LEARNER, NAMES, SPEC, Component, Facts
from mklkit.protocols.learner import Learner
from mklkit.protocols.rows import Array
from mklkit.protocols.target import TASKS, Target, Task
from mklkit.protocols.views import Views

__all__ = [
    "Combiner",
    "CombinerTraits",
    "Decision",
    "GatedDecision",
    "learner_parameters",
    "learner_variants",
]

OF_LEARNER = "learner__"

WeightsAre = Literal["learned", "fixed", "choice"]
RowWeightsCount = Literal["refused", "learner", "throughout"]
_COUNTING, _ORIGIN = in_(get_args(RowWeightsCount)), in_(get_args(WeightsAre))
_RANGE = optional(
    deep_iterable(instance_of((int, float)), and_(instance_of(tuple), min_len(2), max_len(2)))
)


@attrs.frozen(kw_only=True)
class CombinerTraits(Facts):
    """The properties of a combiner.

    Attributes
    ----------
    feature_map, learner : str
        The spec strings used by default.
    weight_range : (low, high), optional
        The range of the weights, if they are not on the simplex (non-negative with sum 1).
    n_kernels : int, optional
        The exact number of kernels that it takes; by default any number.
    for_learners : tuple of str, default=()
        The names of the learners that it works with; empty for all learners.
    tasks : tuple of str, default=("two classes",)
        The targets that it takes: ``"two classes"``, ``"several classes"`` in one fit,
        ``"numbers"``, or ``"none"``, rows without labels.
    several_targets : bool, default=False
        Whether several columns of numbers can share its kernel weights.
    row_weights : {"refused", "learner", "throughout"}, default="refused"
        Where weights of rows count: nowhere, so that they are refused; only in the learner; or in
        the kernel weights too.
    from_moments : bool, default=False
        Whether, on features, its weights need only counts, sums and products per class, so that
        they can be learned without keeping the rows (``partial_fit``).
    weights_are : {"learned", "fixed", "choice"}, default="learned"
        Where the weights come from: ``"learned"`` from the rows; ``"fixed"`` before any row is
        seen, so that they say nothing about the kernels; ``"choice"`` of one kernel, which has
        weight 1 no matter how close the others are.
    """

    feature_map: str = attrs.field(default=FEATURE_MAP, validator=SPEC)
    learner: str = attrs.field(default=LEARNER, validator=SPEC)
    weight_range: tuple[float, float] | None = attrs.field(default=None, validator=_RANGE)
    n_kernels: int | None = attrs.field(default=None, validator=optional([instance_of(int), ge(1)]))
    for_learners: tuple[str, ...] = attrs.field(default=(), validator=NAMES)
    tasks: tuple[Task, ...] = attrs.field(default=("two classes",), validator=TASKS)
    several_targets: bool = attrs.field(default=False, validator=FLAG)
    row_weights: RowWeightsCount = attrs.field(default="refused", validator=_COUNTING)
    from_moments: bool = attrs.field(default=False, validator=FLAG)
    weights_are: WeightsAre = attrs.field(default="learned", validator=_ORIGIN)


@runtime_checkable
class Decision(Protocol):
    """The fitted result of a combiner: one decision function over all views."""

    @property
    def weights(self) -> Array:
        """The weight of each kernel (M,), on the simplex unless its combiner's traits differ."""

    def decide(self, rows: Array) -> Array:
        """Return the decision values (n,) of new rows (n, d)."""


@runtime_checkable
class GatedDecision(Decision, Protocol):
    """A decision in which each row has its own kernel weights."""

    def gate_weights(self, rows: Array) -> Array:
        """Return each row's weight on each kernel, (n, M)."""


class Combiner(Component, ABC):
    """Joins the views and the learner into one decision function.

    Optional: ``traits``, a :class:`mklkit.plugin.CombinerTraits`, if the defaults do not hold.
    """

    __slots__ = ()

    gives_weights: ClassVar[bool] = False
    """Whether it fits one learner on Σ w_m K_m, with weights that come from ``prepare`` alone."""

    joins_targets: ClassVar[bool] = False
    """Whether ``fit_targets`` learns several columns of numbers faster than one after another."""

    @abstractmethod
    def fit(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Decision:
        """Return the decision learned from the training rows and their target."""

    def fit_targets(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Sequence[Decision]:
        """Return a decision for each column of numbers (N, T)."""
        columns = [attrs.evolve(target, values=values) for values in np.transpose(target.values)]
        return [self.fit(views, column, learner, random_state) for column in columns]

    def prepare(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> tuple[Array, Learner]:
        """Return the weights (M,), none negative, and the learner for the weighted sum."""
        raise NotImplementedError

    def on_kernels(self, learner: Learner) -> bool:
        """Return whether kernels can replace features that reproduce them."""
        return False

    def grid_parameters(self, learner: Learner) -> frozenset[str]:
        """Return the parameters that ``fit_grid`` varies; empty if fits can't share work.

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
    ) -> Any:
        """Return the decision functions of all points, each equal to a separate fit up to rounding.

        Its ``decide`` returns the values (n, G) of new rows, ``n_iter`` is the number of iterations
        of each point (G,), or None without iterations. Parameters that a point
        does not name keep the values of the combiner and the learner.
        """
        raise NotImplementedError


def learner_parameters(names: Iterable[str]) -> frozenset[str]:
    """Return the nested names of some parameters of a learner."""
    return frozenset(f"{OF_LEARNER}{name}" for name in names)


def learner_variants(learner: Any, points: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the learner of each point: a copy with the parameters named ``learner__…``.

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
