"""CCA+MHKS₂: near-mean CCA, one learner per view's projection, majority vote."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.plugin import BlockDecision, FeatureSide, RowBlock, majority, register
from mklkit_views.correlated import CorrelatedCombiner, CorrelatedViews


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
        return majority(self.scores(block))


@register
@attrs.frozen
class CCAMHKS2(CorrelatedCombiner):
    """CCA+MHKS₂: majority vote of one learner per view's near-mean CCA projection (000, Fig. 2b).

    The decision value is the mean of the signs; the mean of f/√(1 + f²), scaled to less than half
    a vote, breaks ties.

    Parameters
    ----------
    n_components : int, optional
        Components per view; by default as many as the narrowest view has columns.
    alpha : float, default=0.1
        Ridge κ of :class:`NmCCA`, relative to each view's largest eigenvalue.

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
