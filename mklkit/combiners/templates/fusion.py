"""The late-fusion template: one learner per view, with fused decision values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import attrs
import numpy as np
from attrs.validators import ge, instance_of

from mklkit.protocols import (
    Array,
    Combiner,
    CombinerTraits,
    Learner,
    Projector,
    Target,
    TrainingView,
    Views,
    array_of,
    fit_learner,
    result_of,
)
from mklkit.protocols.component import as_int
from mklkit.protocols.results import TRIAL_ROWS
from mklkit.protocols.splits.split import Split
from mklkit.registry.hookspecs import register
from mklkit.views.deciding import BlockDecision, RowBlock
from mklkit.views.out_of_fold import folds_or_warning, out_of_fold
from mklkit.views.sides import GramSide


@runtime_checkable
class Fusion(Protocol):
    """A rule that joins the decision values of views."""

    def fuse(self, scores: Array) -> Array:
        """Return one decision value (n,) from the views' decision values (n, M)."""
        ...


@runtime_checkable
class WeightedFusion(Fusion, Protocol):
    """A late fusion that states a weight per view, (M,)."""

    view_weights: Array


@register
@attrs.frozen(eq=False)
class FusedDecision(BlockDecision):
    """One learner per view, and the rule that joins their decision values.

    The weights (M,) are those that the late fusion states, uniform if it states none.
    """

    weights: Array
    projectors: list[Projector]
    learners: list[Any]
    fusion: Fusion

    def with_projectors(self, projectors: Sequence[Projector]) -> Self:
        """Return the decision with other projectors of the same columns."""
        return attrs.evolve(self, projectors=list(projectors))

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values (n,) of one block of samples."""
        return np.asarray(self.fusion.fuse(self._scores(block)))

    def split_block(self, block: RowBlock) -> Array:
        """Return the fused value of each view alone, and that of no view, (n, M + 1).

        Rules that are not a sum over views, such as an integral of the larger values, raise an
        error.
        """
        scores = self._scores(block)
        parts = np.zeros((len(block), len(self.learners) + 1))
        parts[:, -1] = self.fusion.fuse(np.zeros_like(scores))
        for index in range(len(self.learners)):
            alone = np.zeros_like(scores)
            alone[:, index] = scores[:, index]
            parts[:, index] = self.fusion.fuse(alone) - parts[:, -1]
        if not np.allclose(parts.sum(axis=1), self.fusion.fuse(scores)):
            return super().split_block(block)
        return parts

    def _scores(self, block: RowBlock) -> Array:
        return block.scores(self.projectors, self.learners)


@attrs.frozen
class LearnedFusion(Combiner):
    """Template: each view has its own learner; a rule that joins their decision values is learned.

    A subclass implements :meth:`learn`.

    Parameters
    ----------
    cv : int, default=5
        The number of folds, and of further fits per kernel: the rule learns from out-of-fold
        decision values. With 0, it learns from those of training samples, which favours overfitted
        kernels.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : CombinerTraits
        By default with ``row_weights="learner"``.

    See Also
    --------
    FusionCombiner : The template for rules that learn nothing.
    out_of_fold : The decision values that it learns from.

    Examples
    --------
    Weight each learner by its share of correct out-of-fold decisions:

    >>> from mklkit import MKLClassifier
    >>> @attrs.frozen
    ... class Weighted:
    ...     view_weights: np.ndarray
    ...     def fuse(self, scores):
    ...         return scores @ self.view_weights
    >>> @attrs.frozen
    ... class ByAccuracy(LearnedFusion):
    ...     name = "by-accuracy"
    ...     def learn(self, scores, y, random_state):
    ...         correct = (scores * y[:, None] > 0).mean(axis=0)
    ...         return Weighted(correct / correct.sum())
    >>> X = np.array([[k % 2, k // 2 % 2] for k in range(20)], dtype=float)
    >>> kernels = ["first:linear@0:1", "second:linear@1:2"]
    >>> model = MKLClassifier(kernels, combiner=ByAccuracy(), random_state=0).fit(X, X[:, 0])
    >>> bool(model.weights_[0, 0] > model.weights_[0, 1])
    True
    """

    traits: ClassVar[CombinerTraits] = CombinerTraits(row_weights="learner")

    cv: int = attrs.field(
        default=5, kw_only=True, converter=as_int, validator=[instance_of(int), ge(0)]
    )

    @abstractmethod
    def learn(self, scores: Array, y: Array, random_state: np.random.RandomState) -> Fusion:
        """Return the rule learned from the views' decision values.

        Parameters
        ----------
        scores : ndarray of shape (n, M)
            Decision values of samples, each from learners that were not fitted to the sample,
            unless ``cv=0``.
        y : ndarray of shape (n,)
            Their labels −1 and +1.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        object
            With ``fuse(scores)``, which returns decision values (n,) for scores (n, M). If it has
            ``view_weights``, (M,), they are reported as the kernel weights; otherwise these are
            uniform.
        """

    def fit(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> FusedDecision:
        """Return the decision of one learner per view, fused.

        Parameters
        ----------
        views : Views
            The M kernels on the training samples.
        target : Target
            What to learn.
        learner : Learner
            The learner that is fitted to each view.
        random_state : RandomState
            The source of all random draws.

        Returns
        -------
        FusedDecision
            The decision.

        Raises
        ------
        ComponentError
            If :meth:`learn` or its result returned something else.

        Warns
        -----
        WeightsWarning
            If a class has fewer samples than there are folds.
        """
        splits: Sequence[Split] = []
        if self.cv:
            instead = "learns from decision values of training samples"
            splits = folds_or_warning(target, self.cv, random_state, self.name, instead)
        learners = []
        scores = np.zeros((len(target), len(views)))
        projectors = [view.projector for view in views]
        for index, whole in enumerate(views):
            view = whole
            members = np.arange(len(target))
            folds = splits
            if whole.members is not None and len(np.unique(target.values[whole.members])) > 1:
                # For samples that miss its source, a view has the value 0.
                view, members = whole.present, whole.members
                projectors[index] = view.projector
                among = [[np.flatnonzero(np.isin(members, r)) for r in split] for split in splits]
                folds = [Split(train, test) for train, test in among]
            # The matrix is not kept, so one is in memory at a time.
            side: TrainingView = view if view.explicit else GramSide(view.gram(keep=False))
            told = target.take(members)
            resolved = learner.resolved(side, told)
            learners.append(fit_learner(resolved, side, told))
            if folds:
                scores[members, index] = out_of_fold(side, told, resolved, folds)
            else:
                scores[members, index] = side.map_features(learners[-1].decide)
        scored = np.sort(
            np.concatenate([split.test for split in splits] or [np.arange(len(target))])
        )
        learned = self.learn(scores[scored], target.values[scored], random_state)
        fusion = result_of(self, "learn", learned, Fusion, "an object with 'fuse'")
        some = scores[scored][:TRIAL_ROWS]
        array_of(self, "fuse", fusion.fuse(some), (len(some),))
        weights = np.full(len(views), 1 / len(views))
        if isinstance(fusion, WeightedFusion):
            weights = fusion.view_weights
        return FusedDecision(weights, projectors, learners, fusion)


@attrs.frozen
class FusionCombiner(LearnedFusion):
    """Template: each view has its own learner; their decision values are fused by a rule.

    A subclass implements :meth:`fuse`.

    Attributes
    ----------
    name : str
        The name that users type.
    traits : CombinerTraits
        By default with ``row_weights="learner"``.

    See Also
    --------
    LearnedFusion : The template for rules that learn from decision values.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> @attrs.frozen
    ... class Largest(FusionCombiner):
    ...     name = "largest"
    ...     def fuse(self, scores):
    ...         return np.take_along_axis(scores, abs(scores).argmax(axis=1)[:, None], 1)[:, 0]
    >>> X, y = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, 1.0], [4.0, 1.0]]), [0, 0, 1, 1]
    >>> kernels = ["first:linear@0:1", "second:linear@1:2"]
    >>> model = MKLClassifier(kernels, combiner=Largest(), learner="svm(C=1)").fit(X, y)
    >>> model.predict(X).tolist()
    [0, 0, 1, 1]
    """

    cv: int = attrs.field(default=0, init=False, repr=False)  # nothing is learned

    @abstractmethod
    def fuse(self, scores: Array) -> Array:
        """Return one decision value per sample from the views' decision values.

        Parameters
        ----------
        scores : ndarray of shape (n, M)
            The decision values of the M learners; 0 where a sample misses the source.

        Returns
        -------
        ndarray of shape (n,)
            The fused values: above 0 for the positive class.
        """

    def learn(self, scores: Array, y: Array, random_state: np.random.RandomState) -> Fusion:
        """Return this object, which has nothing to learn."""
        return self
