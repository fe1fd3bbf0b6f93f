"""Another combiner's weights, combined with kernels that have a fixed share of the sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

from mklkit.combiners.templates.weighting import LearnedWeighting
from mklkit.protocols import Array, Learner, Target


@attrs.frozen
class FixedShares(LearnedWeighting):
    """Another combiner's weights for the kernels without a share (None), with the remaining sum."""

    name: ClassVar[str] = "fixed-share"

    combiner: Any
    shares: Sequence[float | None]

    @property
    def by_learner(self) -> bool:  # type: ignore[override]
        """Whether the combiner's weights depend on the learner."""
        return not isinstance(self.combiner, LearnedWeighting) or self.combiner.by_learner

    def choose(
        self, views: Any, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the shares, and the combiner's weights."""
        weights = np.array([share or 0.0 for share in self.shares])
        others = np.flatnonzero(weights == 0)
        if len(others):
            learned, _ = self.combiner.prepare(views.only(others), target, learner, random_state)
            weights[others] = (1 - weights.sum()) * learned
        return weights
