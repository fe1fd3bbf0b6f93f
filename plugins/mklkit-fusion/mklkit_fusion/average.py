"""The mean of the views' decision values."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import instance_of
from numpy.typing import NDArray

from mklkit.plugin import CombinerFacts, FusionCombiner, register


def squashed(scores: NDArray[Any]) -> NDArray[Any]:
    """Return f / √(1 + f²) of each decision value, between −1 and 1 (Pinar et al. 2015)."""
    # hypot does not overflow where f² would.
    return np.asarray(scores / np.hypot(1.0, scores))


@register
@attrs.frozen
class AverageScores(FusionCombiner):
    """Mean of the decision values of one learner per kernel.

    Parameters
    ----------
    squash : bool, default=False
        Average f/√(1 + f²), so that no kernel's large values outweigh the others.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[1.0, 0.5, -9.0]])
    >>> AverageScores().fuse(scores), AverageScores(squash=True).fuse(scores).round(3)
    (array([-2.5]), array([0.053]))
    """

    name: ClassVar[str] = "average-scores"
    facts: ClassVar[CombinerFacts] = CombinerFacts(weights_are="fixed", row_weights="learner")

    squash: bool = attrs.field(default=False, validator=instance_of(bool))

    def fuse(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the fused decision values (n,) of the views' decision values (n, M)."""
        return (squashed(scores) if self.squash else scores).mean(axis=1)
