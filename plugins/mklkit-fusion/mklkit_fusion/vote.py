"""The majority of the views' signs."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
from numpy.typing import NDArray

from mklkit import FusionCombiner, majority

__all__ = ["Vote"]


@attrs.frozen
class Vote(FusionCombiner):
    """Majority vote: one learner a kernel, each decides by its sign; scores break ties.

    The decision value is the mean of the signs plus the mean of f/√(1 + f²) over 2M. The second
    part is worth less than half a vote: it settles the ties of an even number of kernels and ranks
    rows with as many votes, and never outweighs a majority.

    Notes
    -----
    A decision value of zero, or within rounding of it, abstains.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.2, -9.0], [1.0, -2.0, 0.0]])
    >>> Vote().fuse(scores) > 0
    array([ True, False])
    """

    name: ClassVar[str] = "vote"

    def fuse(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the fused decision values (n,) of the views' (n, M)."""
        return majority(scores)
