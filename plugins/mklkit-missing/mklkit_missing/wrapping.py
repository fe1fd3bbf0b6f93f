"""The base of combiners that contain another combiner, and which sources samples have."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.plugin import Combiner, CombinerTraits, Learner, Target


@attrs.frozen
class Around(Combiner):
    """A combiner that treats samples by their missing sources, and leaves the rest to another."""

    name: ClassVar[str] = "around"

    combiner: Any

    @property
    def traits(self) -> CombinerTraits:
        """The traits of the inner combiner."""
        traits: CombinerTraits = self.combiner.traits
        return traits

    @abstractmethod
    def fit(
        self, views: Any, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Any:
        """Return a decision."""


def has_sources(missing: Any, n_rows: int, n_views: int) -> NDArray[np.bool_]:
    """Return which samples have each source (n, M), from which miss them, None for no sample."""
    return np.ones((n_rows, n_views), bool) if missing is None else ~missing
