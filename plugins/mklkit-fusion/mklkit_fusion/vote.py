"""The majority of the views' signs."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
from numpy.typing import NDArray

from mklkit.plugin import CombinerFacts, FusionCombiner, majority, register


@register
@attrs.frozen
class Vote(FusionCombiner):
    """Majority vote: one learner per kernel votes by its sign; scores break ties.

    The decision value is the mean of the signs plus the mean of f/√(1 + f²) over 2M. The second
    term is less than half a vote: it breaks the ties of an even number of kernels and ranks rows
    with equally many votes, but never outweighs a majority.

    Notes
    -----
    A decision value of zero, or within rounding of it, abstains. If all views abstain the row is
    assigned to the negative class, as everywhere in mklkit.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.2, -9.0], [1.0, -2.0, 0.0]])
    >>> Vote().fuse(scores) > 0
    array([ True, False])
    """

    name: ClassVar[str] = "vote"
    facts: ClassVar[CombinerFacts] = CombinerFacts(weights_are="fixed", row_weights="learner")

    def fuse(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the fused decision values (n,) of the views' decision values (n, M)."""
        return majority(scores)
