"""Fusions that learn nothing: the majority of the signs, the mean of the decision values."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import instance_of
from numpy.typing import NDArray

from mklkit.plugin import CombinerTraits, FusionCombiner, register

EVEN = 1e-12
"""A decision value up to this size is zero up to rounding, which depends on the order of a sum."""


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

    Notes
    -----
    Cost: one fit of the learner per kernel.

    Source: J. Kittler, M. Hatef, R. P. W. Duin, J. Matas: On combining classifiers. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 20 (1998).

    Examples
    --------
    >>> scores = np.array([[1.0, 0.5, -9.0]])
    >>> AverageScores().fuse(scores), AverageScores(squash=True).fuse(scores).round(3)
    (array([-2.5]), array([0.053]))
    """

    name: ClassVar[str] = "average-scores"
    traits: ClassVar[CombinerTraits] = CombinerTraits(weights_are="fixed", row_weights="learner")

    squash: bool = attrs.field(default=False, validator=instance_of(bool))

    def fuse(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the fused decision values (n,) of the views' decision values (n, M)."""
        return (squashed(scores) if self.squash else scores).mean(axis=1)


@register
@attrs.frozen
class Vote(FusionCombiner):
    """Majority vote: one learner per kernel votes by its sign; scores break ties.

    The decision value is the mean of the signs plus the mean of f/√(1 + f²) over 2M. The second
    term is less than half a vote: it breaks the ties of an even number of kernels and ranks samples
    with equally many votes, but never outweighs a majority.

    Notes
    -----
    Cost: one fit of the learner per kernel.

    A decision value of zero, or within rounding of it, abstains. If all views abstain the sample is
    assigned to the negative class, as everywhere in mklkit.

    Source: J. Kittler, M. Hatef, R. P. W. Duin, J. Matas: On combining classifiers. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 20 (1998).

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2, -9.0], [1.0, -2.0, 0.0]])
    >>> Vote().fuse(scores) > 0
    array([ True, False])
    """

    name: ClassVar[str] = "vote"
    traits: ClassVar[CombinerTraits] = CombinerTraits(weights_are="fixed", row_weights="learner")

    def fuse(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the fused decision values (n,) of the views' decision values (n, M)."""
        tie_break = squashed(scores).mean(axis=1) / (2 * scores.shape[1])
        votes = np.where(np.abs(scores) > EVEN, np.sign(scores), 0.0)
        return np.asarray(votes.mean(axis=1) + tie_break)
