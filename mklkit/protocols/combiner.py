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
from mklkit.protocols.target import Target
from mklkit.protocols.target_kind import LEARNS
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
    """The traits of a combiner: its default parts, what it learns, and what its weights mean.

    Parameters
    ----------
    search_space : mapping of str to tuple, default={}
        Parameters worth tuning, each with the values to try from the simplest model to the most
        complex. If scores are tied, a search takes the first; a short search tries the values in
        the middle.
    feature_map, learner : str
        The spec strings used by default: ``"implicit"`` and ``"svm"``.
    weight_range : (low, high), optional
        The range of the weights, if they are not on the simplex (non-negative with sum 1).
    n_kernels : int, optional
        The exact number of kernels that it takes; by default any number.
    for_learners : tuple of str, default=()
        The names of the learners that it works with; empty for all learners.
    learns : tuple of str, default=("two classes",)
        The kinds of targets that it takes: ``"two classes"``, ``"several classes"`` in one fit,
        ``"numbers"``, ``"none"`` (samples without labels), or a kind of a package's task. With
        ``"any"`` it takes all kinds of packages: it reads only ``Target.response``,
        ``Target.losses`` and ``Target.folds``.
    several_targets : bool, default=False
        Whether several numeric targets can share its kernel weights.
    row_weights : {"refused", "learner", "throughout"}, default="refused"
        Where sample weights count: nowhere, so that they raise an error; only in the learner;
        or in the kernel weights too.
    from_moments : bool, default=False
        Whether, on features, its weights need only counts, sums and products per class, so that
        they can be learned without keeping the samples (``partial_fit``).
    weights_are : {"learned", "fixed", "choice"}, default="learned"
        Where the weights come from: ``"learned"`` from the samples; ``"fixed"`` before any sample
        is read, so that they do not depend on the data; ``"choice"`` of one kernel, which has
        weight 1 no matter how close the others are.

    Raises
    ------
    TypeError
        If a value is not of the type above.
    ValueError
        If a word is unknown, ``n_kernels`` is below 1, or ``weight_range`` does not have
        two numbers.

    See Also
    --------
    Combiner : The base of the components that have them.

    Examples
    --------
    A template's traits, with a search space:

    >>> import attrs
    >>> from mklkit.plugin import WeightingCombiner
    >>> traits = attrs.evolve(WeightingCombiner.traits, search_space={"power": (0.5, 1.0, 2.0)})
    >>> traits.row_weights, traits.learner
    ('learner', 'svm')
    """

    feature_map: str = attrs.field(default=FEATURE_MAP, validator=SPEC)
    learner: str = attrs.field(default=LEARNER, validator=SPEC)
    weight_range: tuple[float, float] | None = attrs.field(default=None, validator=_RANGE)
    n_kernels: int | None = attrs.field(default=None, validator=optional([instance_of(int), ge(1)]))
    for_learners: tuple[str, ...] = attrs.field(default=(), validator=NAMES)
    learns: tuple[str, ...] = attrs.field(default=("two classes",), validator=LEARNS)
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
        """Return the decision values (n,) of new samples (n, d)."""


@runtime_checkable
class GatedDecision(Decision, Protocol):
    """A decision in which each sample has its own kernel weights."""

    def gate_weights(self, rows: Array) -> Array:
        """Return each sample's weight on each kernel, (n, M)."""


class Combiner(Component, ABC):
    """A rule that joins the views and the learner into one decision function.

    A subclass is an ``@attrs.frozen`` class with a ``name``. It implements :meth:`fit`, which
    returns a decision: an object with ``weights`` (M,) and ``decide(rows)``, which returns (n,)
    values. The templates leave less to write: :class:`mklkit.plugin.WeightingCombiner`,
    :class:`~mklkit.plugin.GatingCombiner`, :class:`~mklkit.plugin.CouplingCombiner` and
    :class:`~mklkit.plugin.FusionCombiner`.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : CombinerTraits
        Its default parts and what it learns, if the defaults do not hold.
    gives_weights : bool
        Whether it fits one learner on Σ w_m K_m, with weights that come from :meth:`prepare` alone;
        by default False.
    joins_targets : bool
        Whether :meth:`fit_targets` learns several numeric targets faster than one after another; by
        default False.

    See Also
    --------
    CombinerTraits : The traits and their defaults.
    BlockDecision : A base for decisions.
    WeightedDecision : The decision of one learner on a weighted sum.

    Examples
    --------
    The weights of ``uniform`` without a template:

    >>> from mklkit import MKLClassifier
    >>> from mklkit.plugin import WeightedDecision
    >>> @attrs.frozen
    ... class Even(Combiner):
    ...     name = "even"
    ...     traits = CombinerTraits()
    ...     def fit(self, views, target, learner, random_state):
    ...         weights = np.full(len(views), 1 / len(views))
    ...         return WeightedDecision.fitted(
    ...             views, weights, learner.fit(views.weighted(weights), target)
    ...         )
    >>> X, y = np.array([[0.0, 1.0], [1.0, 2.0], [3.0, 3.0], [4.0, 5.0]]), [0, 0, 1, 1]
    >>> MKLClassifier(["linear", "rbf"], combiner=Even()).fit(X, y).weights_.tolist()
    [[0.5, 0.5]]
    """

    __slots__ = ()

    gives_weights: ClassVar[bool] = False

    joins_targets: ClassVar[bool] = False

    @abstractmethod
    def fit(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Decision:
        """Return the decision learned from the training samples and their target.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        target : Target
            What to learn, with the sample weights unless ``traits.row_weights`` is
            ``"refused"``.
        learner : Learner
            The learner to fit, on a view or a weighted sum of them.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        Decision
            An object with ``weights``, (M,), on the simplex unless the traits differ, and
            ``decide(rows)``, which returns the decision values (n,) of new samples (n, d).
        """

    def fit_targets(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Sequence[Decision]:
        """Return a decision for each of several numeric targets.

        Override it, and set ``joins_targets``, if several targets can share work. By default
        :meth:`fit` is called for each.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        target : Target
            Numeric targets, with values of shape (N, T).
        learner : Learner
            The learner to fit.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        sequence of Decision
            T decisions.
        """
        columns = [attrs.evolve(target, values=values) for values in np.transpose(target.values)]
        return [self.fit(views, column, learner, random_state) for column in columns]

    def prepare(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> tuple[Array, Learner]:
        """Return the weights of the kernels, and the learner for the weighted sum.

        It is called instead of :meth:`fit` where only weights are needed, if ``gives_weights``.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        target : Target
            What to learn.
        learner : Learner
            The learner as requested.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        weights : ndarray of shape (M,)
            The weights, none negative.
        learner : Learner
            The learner to fit on the weighted sum, such as a copy with another parameter.

        Raises
        ------
        NotImplementedError
            By default; combiners with ``gives_weights`` implement it.
        """
        raise NotImplementedError

    def on_kernels(self, learner: Learner) -> bool:
        """Return whether kernels can replace features that reproduce them.

        Parameters
        ----------
        learner : Learner
            The learner to fit.

        Returns
        -------
        bool
            By default False: the views are as requested. If True, and the feature map's traits
            state ``reproduces``, the views have the map that its traits name ``instead``.
        """
        return False

    def grid_parameters(self, learner: Learner) -> frozenset[str]:
        """Return the parameters that :meth:`fit_grid` varies.

        Parameters
        ----------
        learner : Learner
            The learner to fit.

        Returns
        -------
        frozenset of str
            Nested names as in scikit-learn, such as ``combiner__lam`` and ``learner__alpha``;
            empty, the default, if fits can't share work.
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
        """Return the decisions of all points of a grid, each equal to a separate fit.

        They are equal up to rounding.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        target : Target
            What to learn.
        learner : Learner
            The learner to fit.
        points : sequence of mapping of str to object
            G points: values of parameters by nested name. Parameters that a point does not name
            keep the values of the combiner and the learner.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        object
            With ``decide(rows)``, which returns the values (n, G) of new samples, and ``n_iter``,
            the number of iterations of each point (G,), or None without iterations.

        Raises
        ------
        NotImplementedError
            By default; combiners with ``grid_parameters`` implement it.
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
