"""The base of combiners that contain another combiner, and which sources rows lack."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.plugin import Combiner, CombinerFacts, Learner, SourceRows, Target


@attrs.frozen
class Around(Combiner):
    """A combiner that treats rows by their missing sources, and leaves the rest to another one."""

    name: ClassVar[str] = "around"

    combiner: Any

    @property
    def facts(self) -> CombinerFacts:
        """The facts of the inner combiner."""
        facts: CombinerFacts = self.combiner.facts
        return facts

    @abstractmethod
    def fit(
        self, views: Any, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Any:
        """Return a decision."""


def lacking(rows: Sequence[Any], n_rows: int) -> NDArray[np.bool_]:
    """Return which rows lack each source, (n, M), from the rows that each kernel reads."""
    every = np.zeros(n_rows, bool)
    return np.column_stack([s.lacks if isinstance(s, SourceRows) else every for s in rows])
