"""CCA+MHKS₁: one learner on the concatenated near-mean CCA projections."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.plugin import BlockDecision, FeatureSide, RowBlock, register
from mklkit_views.correlated import CorrelatedCombiner, CorrelatedViews


@register
@attrs.frozen(eq=False)
class ConcatenatedDecision(BlockDecision):
    """One learner on the concatenated projections of all views."""

    weights: NDArray[Any]
    views: CorrelatedViews
    learner: Any

    def decide_block(self, block: RowBlock) -> NDArray[Any]:
        """Return the decision values (n,) of one block of rows."""
        return np.asarray(self.learner.decide(np.hstack(self.views.project(block))))


@register
@attrs.frozen
class CCAMHKS1(CorrelatedCombiner):
    """CCA+MHKS₁: one learner on the views' concatenated near-mean CCA projections (000, Fig. 2a).

    Parameters
    ----------
    n_components : int, optional
        Components per view; by default as many as the narrowest view has columns.
    alpha : float, default=0.1
        Ridge κ of :class:`NmCCA`, relative to each view's largest eigenvalue.

    Notes
    -----
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
