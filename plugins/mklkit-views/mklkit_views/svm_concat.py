"""An SVM on the concatenation of all empirical maps (SVM₂)."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np

from mklkit.plugin import Combiner, CombinerTraits, WeightedDecision, register


@register
@attrs.frozen
class SVMConcat(Combiner):
    """SVM on the concatenated features of all kernels' empirical maps (SVM₂).

    By default it is solved on Gram matrices, which is equivalent: the inner products of
    concatenated full maps are Σ_m K_m. Unlike ``uniform`` it does not divide the sum by M, as if C
    were M times as large. ``feature_map="empirical(subset=0.1)"`` concatenates features.

    Notes
    -----
    Cost: O(MN²) for the sum, and one support vector machine, between O(N²) and O(N³).

    The reported weights, 1/M, are the kernels' shares in the sum. Source: Wang, Chen
    and Sun 2008, section 3.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(MKLClassifier(combiner="svm-concat").fit(X, y).score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "svm-concat"
    traits: ClassVar[CombinerTraits] = CombinerTraits(weights_are="fixed", row_weights="learner")

    def fit(
        self, views: Any, target: Any, learner: Any, random_state: np.random.RandomState
    ) -> Any:
        """Return the learner's decision function on all features."""
        even = np.ones(len(views))
        fitted = learner.fit(views.weighted(even), target)
        decision = WeightedDecision.fitted(views, even, fitted)
        return attrs.evolve(decision, weights=np.full(len(views), 1 / len(views)))
