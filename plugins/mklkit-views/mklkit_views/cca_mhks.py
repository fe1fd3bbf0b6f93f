"""Learners on near-mean CCA projections of the views.

CCA+MHKS₁ is one learner on all of them, CCA+MHKS₂ the majority vote of one learner on each.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of, optional
from numpy.typing import NDArray

from mklkit import IncompatibleError
from mklkit.plugin import (
    BlockDecision,
    Combiner,
    CombinerTraits,
    FeatureSide,
    RowBlock,
    as_int,
    finite_number,
    register,
)
from mklkit_views.nmcca import NmCCA


@register
@attrs.frozen(eq=False)
class CorrelatedViews:
    """The fitted transformation of samples to projections: the views' maps, then near-mean CCA."""

    projectors: list[Any]
    nmcca: NmCCA

    def project(self, block: RowBlock) -> list[NDArray[Any]]:
        """Return each view's projection (n, q) of a block of samples."""
        features: list[Any] = [None] * len(self.projectors)
        for index, values in block.columns_of(self.projectors):
            features[index] = values
        return self.nmcca.transform(features)


@attrs.frozen
class CorrelatedCombiner(Combiner):
    """Template: near-mean CCA transforms the views' features before the learners see them."""

    traits: ClassVar[CombinerTraits] = CombinerTraits(
        feature_map="empirical",
        learner="mhks",
        weights_are="fixed",
        row_weights="learner",
        search_space={"alpha": (1.0, 0.1, 0.01)},
    )

    n_components: int | None = attrs.field(
        default=None, converter=as_int, validator=optional([instance_of(int), ge(1)])
    )
    alpha: float = attrs.field(default=0.1, converter=float, validator=[ge(0), finite_number])

    def fit(
        self, views: Any, target: Any, learner: Any, random_state: np.random.RandomState
    ) -> Any:
        """Return the decision function learned from the views' projections."""
        if not views.explicit:
            raise IncompatibleError(
                f"{self.name} transforms features: use feature_map='empirical' with a learner such"
                " as 'mhks' or 'svm'."
            )
        nmcca = NmCCA(self.n_components, self.alpha)
        projections = nmcca.fit_transform([view.features() for view in views])
        correlated = CorrelatedViews([view.projector for view in views], nmcca)
        return self.decide_on(correlated, projections, target, learner)

    @abstractmethod
    def decide_on(
        self, views: CorrelatedViews, projections: list[NDArray[Any]], target: Any, learner: Any
    ) -> Any:
        """Return the decision function learned from each view's training projections (N, q)."""


@register
@attrs.frozen(eq=False)
class ConcatenatedDecision(BlockDecision):
    """One learner on the concatenated projections of all views."""

    weights: NDArray[Any]
    views: CorrelatedViews
    learner: Any

    def decide_block(self, block: RowBlock) -> NDArray[Any]:
        """Return the decision values (n,) of one block of samples."""
        return np.asarray(self.learner.decide(np.hstack(self.views.project(block))))


@register
@attrs.frozen
class CCAMHKS1(CorrelatedCombiner):
    """CCA+MHKS₁: one learner on the views' concatenated near-mean CCA projections.

    Parameters
    ----------
    n_components : int, optional
        Components per view; by default as many as the narrowest view has columns.
    alpha : float, default=0.1
        Ridge κ of :class:`NmCCA`, relative to each view's largest eigenvalue.

    Notes
    -----
    Cost: O(Np² + p³) per view of p features for the projections, and one fit of the learner.

    The reported weights are uniform: each view contributes the same number of features.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(combiner=CCAMHKS1(alpha=0.05)).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    name: ClassVar[str] = "cca-mhks1"

    def decide_on(
        self, views: CorrelatedViews, projections: list[NDArray[Any]], target: Any, learner: Any
    ) -> ConcatenatedDecision:
        """Return the decision function learned from each view's training projections (N, q)."""
        even = np.full(len(projections), 1 / len(projections))
        fitted = learner.fit(FeatureSide(np.hstack(projections)), target)
        return ConcatenatedDecision(even, views, fitted)


@register
@attrs.frozen(eq=False)
class VotedDecision(BlockDecision):
    """One learner per view's projection; the majority of their signs."""

    weights: NDArray[Any]
    views: CorrelatedViews
    learners: list[Any]

    def scores(self, block: RowBlock) -> NDArray[Any]:
        """Return each view's decision values (n, M)."""
        pairs = zip(self.learners, self.views.project(block), strict=True)
        return np.column_stack([learner.decide(columns) for learner, columns in pairs])

    def decide_block(self, block: RowBlock) -> NDArray[Any]:
        """Return the decision values (n,) of one block: mean vote plus a smaller tie-breaker."""
        scores = self.scores(block)
        # Values that are zero up to rounding abstain; f/√(1 + f²) counts for less than half a vote.
        votes = np.where(np.abs(scores) > 1e-12, np.sign(scores), 0.0)
        squashed = scores / np.hypot(1.0, scores)
        return np.asarray((votes + squashed / (2 * scores.shape[1])).mean(axis=1))


@register
@attrs.frozen
class CCAMHKS2(CorrelatedCombiner):
    """CCA+MHKS₂: majority vote of one learner per view's near-mean CCA projection.

    The decision value is the mean of the signs; the mean of f/√(1 + f²), scaled to less than half
    a vote, breaks ties.

    Parameters
    ----------
    n_components : int, optional
        Components per view; by default as many as the narrowest view has columns.
    alpha : float, default=0.1
        Ridge κ of :class:`NmCCA`, relative to each view's largest eigenvalue.

    Notes
    -----
    Cost: O(Np² + p³) per view of p features for the projections, and one fit of the learner each.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(combiner=CCAMHKS2(alpha=0.05)).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    name: ClassVar[str] = "cca-mhks2"

    def decide_on(
        self, views: CorrelatedViews, projections: list[NDArray[Any]], target: Any, learner: Any
    ) -> VotedDecision:
        """Return the decision function learned from each view's training projections (N, q)."""
        even = np.full(len(projections), 1 / len(projections))
        fitted = [learner.fit(FeatureSide(columns), target) for columns in projections]
        return VotedDecision(even, views, fitted)
