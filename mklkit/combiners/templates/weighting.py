"""The weighting template: a weight per kernel, and one learner on the weighted sum."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from inspect import signature
from typing import Any, ClassVar, Self

import attrs
import numpy as np

from mklkit.combiners.templates.weighted_grid import WeightedGrid
from mklkit.display.numbers import significant
from mklkit.errors import WeightsWarning
from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import (
    Array,
    Combiner,
    CombinerTraits,
    FittedLearner,
    Learner,
    Projector,
    Rows,
    Target,
    Views,
    array_of,
    component_error,
    fit_learner,
    learner_parameters,
    learner_variants,
    traits_of,
)
from mklkit.protocols.combiner import RowWeightsCount
from mklkit.protocols.component import FEATURE_MAP, LEARNER, parameter_names
from mklkit.registry.hookspecs import register
from mklkit.views.deciding import (
    FEW_ROWS,
    BlockDecision,
    RowBlock,
    scaled_pairs,
    weighted_columns,
    with_support,
)
from mklkit.views.feature_moments import Projection


@register
@attrs.frozen(eq=False)
class WeightedColumns:
    """Σ w_m k_m(x, training samples) of samples x, or the features √w_m φ_m(x) side by side.

    The projectors are those of the views with non-zero weight, ``scales`` their weights.
    """

    weights: Array
    projectors: list[Projector]
    scales: Array
    explicit: bool

    @classmethod
    def of(cls, views: Views, weights: Array) -> WeightedColumns:
        """Return the columns of the weighted sum of views.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        weights : ndarray of shape (M,)
            The weights of the sum.

        Returns
        -------
        WeightedColumns
            The columns of the views with non-zero weight.
        """
        used = np.flatnonzero(weights)
        return cls(weights, [views[int(m)].projector for m in used], weights[used], views.explicit)

    def transform(self, rows: Rows) -> Array:
        """Return the columns of samples, block by block.

        Parameters
        ----------
        rows : Rows or ndarray of shape (n, d)
            New samples with all columns.

        Returns
        -------
        ndarray of shape (n, N) or (n, Σp)
            Similarities Σ w_m k_m(x, training sample), or the features √w_m φ_m(x) side by side.
        """

        rows = Rows.of(rows)

        def columns(place: slice) -> Array:
            block = RowBlock(rows[place])
            return weighted_columns(block, self.projectors, self.scales, self.explicit)

        # Few samples at a time, to use little memory besides the result.
        return np.vstack(list(each(columns, row_blocks(len(rows), 512))))


@register
@attrs.frozen(eq=False)
class WeightedDecision(WeightedColumns, BlockDecision):
    """The decision of one learner on the weighted sum of the kernels.

    :meth:`fitted` makes it.

    Parameters
    ----------
    weights : ndarray of shape (M,)
        The weights of the kernels.
    projectors : list of Projector
        Those of the views with non-zero weight.
    scales : ndarray
        Their weights.
    explicit : bool
        Whether the views have features; otherwise similarities.
    learner : FittedLearner
        The learner's decision function.
    history : tuple of float, default=()
        The scores of an iterative combiner, one per step.

    Attributes
    ----------
    learners : list of FittedLearner
        The one learner.

    See Also
    --------
    Combiner : Its ``fit`` returns a decision.
    LearnedWeighting : The template that returns this one.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit import MKLClassifier
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    >>> (decision,) = MKLClassifier(["linear", "rbf"], learner="svm(C=1)").fit(X, y).decisions_
    >>> type(decision).__name__, decision.weights.tolist()
    ('WeightedDecision', [0.5, 0.5])
    """

    learner: FittedLearner
    history: tuple[float, ...] = ()

    @property
    def learners(self) -> list[Any]:
        """The one learner."""
        return [self.learner]

    @classmethod
    def fitted(cls, views: Views, weights: Array, fitted: FittedLearner) -> WeightedDecision:
        """Return the decision of a learner that is fitted on the weighted sum.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        weights : ndarray of shape (M,)
            The weights of the sum.
        fitted : FittedLearner
            The learner fitted on ``views.weighted(weights)``.

        Returns
        -------
        WeightedDecision
            The decision, which keeps only the support vectors if the learner states a ``support``.
        """
        columns = WeightedColumns.of(views, weights)
        projectors = columns.projectors
        support = None if views.explicit else fitted.support
        if support is not None:
            projectors = with_support(projectors, support)
            fitted = fitted.restricted(support)
        return cls(weights, projectors, columns.scales, views.explicit, fitted)

    def with_projectors(self, projectors: Sequence[Projector]) -> Self:
        """Return the decision with other projectors of the same columns."""
        return attrs.evolve(self, projectors=list(projectors))

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values (n,) of one block of samples."""
        coefficients = self.learner.coefficients
        folds = self.explicit and len(block) > FEW_ROWS and not block.keep
        if not folds or coefficients is None:
            columns = weighted_columns(block, self.projectors, self.scales, self.explicit)
            return self.learner.decide(columns)
        # A linear function needs no features if the maps allow.
        first = dict(RowBlock(block.rows[:1]).columns_of(self.projectors))
        widths = [first[index].shape[1] for index in range(len(first))]
        parts = np.split(coefficients, np.cumsum(widths)[:-1])
        scaled = [root * part for root, part in zip(np.sqrt(self.scales), parts, strict=True)]
        values = Projection.of(self.projectors, scaled)(block)
        return block.scaled(values, self.projectors, self.scales) + self.learner.bias

    def split_block(self, block: RowBlock) -> Array:
        """Return the part of each kernel and the bias, (n, M + 1), of a linear learner."""
        coefficients = self.learner.coefficients
        if coefficients is None:
            return super().split_block(block)
        parts = np.zeros((len(block), len(self.weights) + 1, *coefficients.shape[1:]))
        columns = dict(block.columns_of(self.projectors))
        widths = [columns[index].shape[1] for index in range(len(columns))]
        shares = [coefficients] * len(columns)
        scales = self.scales
        if self.explicit:
            shares, scales = np.split(coefficients, np.cumsum(widths)[:-1]), np.sqrt(scales)
        for index, place in enumerate(np.flatnonzero(self.weights)):
            if self.explicit:
                scaled = block.scaled(columns[index], self.projectors, self.scales)
            else:
                scaled = scaled_pairs(columns[index], block, self.projectors, self.scales)
            parts[:, place] = scales[index] * (scaled @ shares[index])
        parts[:, -1] = self.learner.bias
        return parts


@attrs.frozen
class LearnedWeighting(Combiner):
    """Template: one weight per kernel, then one learner on the weighted sum Σ w_m K_m.

    A subclass implements :meth:`choose`, which also receives the learner and the random state. The
    weights are divided by their sum; if all are zero or some are not finite, uniform weights are
    used, with a :class:`mklkit.WeightsWarning`.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : CombinerTraits
        By default with ``row_weights="learner"``.
    by_learner : bool
        Whether the weights depend on the learner; by default True. If not, the learners of a grid
        share them.

    See Also
    --------
    WeightingCombiner : The template for weights that depend only on kernels and target.
    out_of_fold : Decision values of samples that a learner was not fitted to.

    Examples
    --------
    Weight each kernel by its number of correct out-of-fold decisions:

    >>> import attrs
    >>> import numpy as np
    >>> from mklkit import MKLClassifier
    >>> from mklkit.plugin import out_of_fold
    >>> @attrs.frozen
    ... class Correct(LearnedWeighting):
    ...     name = "correct"
    ...     def choose(self, views, target, learner, random_state):
    ...         splits = target.folds(2, random_state)
    ...         values = [out_of_fold(view, target, learner, splits) for view in views]
    ...         return np.array([(value * target.values > 0).sum() for value in values])
    >>> X, y = np.array([[0.0, 0.0], [1.0, 3.0], [3.0, 0.0], [4.0, 3.0]]), [0, 0, 1, 1]
    >>> kernels = ["first:linear@0:1", "second:linear@1:2"]
    >>> model = MKLClassifier(kernels, combiner=Correct(), learner="svm(C=1)", random_state=0)
    >>> model.fit(X, y).weights_.tolist()
    [[1.0, 0.0]]
    """

    traits: ClassVar[CombinerTraits] = CombinerTraits(row_weights="learner")
    gives_weights: ClassVar[bool] = True
    by_learner: ClassVar[bool] = True

    @abstractmethod
    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the weights of the kernels.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        target : Target
            What to learn.
        learner : Learner
            The learner that is then fitted on the weighted sum.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        ndarray of shape (M,)
            The weights, none negative, on any scale.
        """

    def prepare(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> tuple[Array, Learner]:
        """Return the weights on the simplex, and the learner for the weighted sum.

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
            The weights, non-negative with sum 1.
        learner : Learner
            The same learner.

        Raises
        ------
        ComponentError
            If :meth:`choose` returned another shape, or a negative weight.

        Warns
        -----
        WeightsWarning
            If all weights are zero or some are not finite; uniform weights are used.
        """
        chosen = self.choose(views, target, learner, random_state)
        raw = array_of(self, "weights", chosen, (len(views),)).astype(np.float64)
        if (raw < 0).any():
            fault = f"weights must be zero or above; it returned {significant(raw.min(), 6)}."
            raise component_error(self, fault)
        return on_simplex(raw, views, self.name), learner

    def fit(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> WeightedDecision:
        """Return the decision of the learner on the weighted sum."""
        weights, learner = self.prepare(views, target, learner, random_state)
        fitted = fit_learner(learner, views.weighted(weights), target)
        return WeightedDecision.fitted(views, weights, fitted)

    def grid_parameters(self, learner: Learner) -> frozenset[str]:
        """Return the learner's parameters: its variants share the weighted sum."""
        return learner_parameters(parameter_names(learner))

    def fit_grid(
        self,
        views: Views,
        target: Target,
        learner: Learner,
        points: Sequence[Mapping[str, Any]],
        random_state: np.random.RandomState,
    ) -> WeightedGrid:
        """Return the decisions of the points' learners, with one matrix per set of weights."""
        learners = learner_variants(learner, points)
        prepared = [
            self.prepare(views, target, variant, deepcopy(random_state))
            for variant in (learners if self.by_learner else learners[:1])
        ]
        if not self.by_learner:
            prepared = [(prepared[0][0], variant) for variant in learners]
        return WeightedGrid.learn(views, target, prepared)


@attrs.frozen
class WeightingCombiner(LearnedWeighting):
    """Template: weights that depend only on the kernels and the target's values.

    A subclass implements :meth:`weights`. If each kernel is scored separately, a plain function is
    enough; see :func:`weighting_rule`.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : CombinerTraits
        By default with ``row_weights="learner"``.

    See Also
    --------
    weighting_rule : A combiner from a function that scores one view.
    LearnedWeighting : The template for weights that depend on the learner or a seed.

    Examples
    --------
    >>> import attrs
    >>> import numpy as np
    >>> from mklkit import MKLClassifier
    >>> @attrs.frozen
    ... class Aligned(WeightingCombiner):
    ...     name = "aligned"
    ...     power: float = 1.0
    ...     def weights(self, views, y):
    ...         alignments = [max(view.label_alignment(y, centered=True), 0.0) for view in views]
    ...         return np.array(alignments) ** self.power
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [3.0, -1.0], [4.0, 1.0]]), [0, 0, 1, 1]
    >>> model = MKLClassifier(["a:linear@0:1", "b:linear@1:2"], combiner=Aligned(power=2.0))
    >>> model.fit(X, y).weights_.tolist()
    [[1.0, 0.0]]
    """

    by_learner: ClassVar[bool] = False

    @abstractmethod
    def weights(self, views: Views, y: Array) -> Array:
        """Return the weights of the kernels.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        y : ndarray of shape (N,)
            The ``response`` of the target: labels −1 and +1, numeric targets minus their mean, or
            what stands for a target of another kind.

        Returns
        -------
        ndarray of shape (M,)
            The weights, none negative, on any scale.

        Notes
        -----
        With ``row_weights="throughout"`` in its traits, the method also takes ``row_weights=None``,
        the sample weights (N,) or None.
        """

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the weights (M,) of :meth:`weights`."""
        y, row_weights = target.response, target.row_weights
        if traits_of(self, CombinerTraits).row_weights == "throughout":
            return self.weights(views, y, row_weights)  # type: ignore[call-arg]
        return self.weights(views, y)


def on_simplex(raw: Array, views: Views, name: str) -> Array:
    """Return weights divided by their sum, or uniform weights where that is impossible."""
    broken = np.flatnonzero(~np.isfinite(raw))
    if len(broken) or not raw.any():
        reason = "gives every kernel the weight zero"
        if len(broken):
            reason = f"has no finite weight for {', '.join(views.labels[k] for k in broken)}"
        warnings.warn(f"{name} {reason}; uniform weights are used.", WeightsWarning, stacklevel=3)
        return np.full(len(raw), 1 / len(raw))
    # First divide by the largest: sums near 1e308 would overflow, sums near 1e-308 underflow.
    scaled = raw / raw.max()
    return scaled / scaled.sum()


def weighting_rule(
    name: str,
    feature_map: str = FEATURE_MAP,
    learner: str = LEARNER,
    from_moments: bool = False,
    learns: tuple[str, ...] = ("two classes",),
    row_weights: RowWeightsCount = "learner",
) -> Callable[[Callable[..., float]], type[WeightingCombiner]]:
    """Make a combiner from a function that scores one view.

    Parameters
    ----------
    name : str
        The name that users type.
    feature_map, learner : str, default="implicit", "svm"
        The feature map and learner used by default.
    from_moments : bool, default=False
        Whether, on features, the rule needs only ``view.class_moments``; as in
        :class:`~mklkit.plugin.CombinerTraits`.
    learns : tuple of str, default=("two classes",)
        What it learns; ``"numbers"`` are centred.
    row_weights : {"refused", "learner", "throughout"}, default="learner"
        Where sample weights count. With ``"throughout"`` the function's third argument is the
        sample weights (N,), or None.

    Returns
    -------
    callable
        A decorator that replaces a function ``rule(view, y)`` by a combiner class. The function
        returns a number, zero or more; the numbers are divided by their sum.

    Raises
    ------
    TypeError
        By the decorator, if the function takes other arguments.

    See Also
    --------
    WeightingCombiner : The template for rules with parameters, or that compare kernels.

    Examples
    --------
    >>> import numpy as np
    >>> @weighting_rule("trace")
    ... def trace(view, y):
    ...     '''Weight each kernel by the trace of its Gram matrix.'''
    ...     return view.kernel.diagonal(view.rows).sum()
    >>> trace()
    trace()
    """
    traits = CombinerTraits(
        feature_map=feature_map,
        learner=learner,
        from_moments=from_moments,
        learns=learns,
        row_weights=row_weights,
    )

    arguments = ("view", "y", "row_weights")[: 3 if row_weights == "throughout" else 2]

    def decorate(rule: Callable[..., float]) -> type[WeightingCombiner]:
        try:
            signature(rule).bind(*arguments)
        except TypeError as error:
            raise TypeError(
                f"the weighting rule {name!r} must take ({', '.join(arguments)}); its function is"
                f" {rule.__name__}{signature(rule)}"
            ) from error

        def weights(
            self: WeightingCombiner, views: Views, y: Array, row_weights: Array | None = None
        ) -> Array:
            target = (y, row_weights) if traits.row_weights == "throughout" else (y,)
            values = [rule(view, *target) for view in views]
            return np.array([array_of(self, "the rule", value, ()) for value in values])

        body = {"__slots__": (), "name": name, "traits": traits, "weights": weights}
        body |= {"__doc__": rule.__doc__, "__module__": rule.__module__}
        body["__qualname__"] = rule.__qualname__
        return type(rule.__name__, (WeightingCombiner,), body)

    return decorate
