"""Views transformed by near-mean CCA, for CCA+MHKS₁ and CCA+MHKS₂."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of, optional
from numpy.typing import NDArray

from mklkit import IncompatibleError
from mklkit.plugin import Combiner, CombinerFacts, RowBlock, as_int, finite_number, register
from mklkit_views.nmcca import NmCCA


@register
@attrs.frozen(eq=False)
class CorrelatedViews:
    """The fitted transformation of rows to projections: the views' maps, then near-mean CCA."""

    projectors: list[Any]
    nmcca: NmCCA

    def project(self, block: RowBlock) -> list[NDArray[Any]]:
        """Return each view's projection (n, q) of a block of rows."""
        features: list[Any] = [None] * len(self.projectors)
        for index, values in block.columns_of(self.projectors):
            features[index] = values
        return self.nmcca.transform(features)


@attrs.frozen
class CorrelatedCombiner(Combiner):
    """Template: near-mean CCA transforms the views' features before the learners see them."""

    facts: ClassVar[CombinerFacts] = CombinerFacts(
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
