"""KOMD: a learner between the hard margin and the class means."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge, le

from mklkit.plugin import Learner, LearnerTraits, LinearDecision, Target, TrainingView, register
from mklkit_optimize.class_hulls import nearest_points

TOLERANCE = 1e-5
"""libsvm's tolerance: decisions depend on all γ, weights only on their sums."""


@register
@attrs.frozen
class KOMD(Learner):
    """Optimise the distribution of the margins: the nearest distributions on the two classes.

    γ minimises (1 − λ)γᵀYKYγ + λ n₊n₋/(n₊ + n₋) ‖γ‖² over the probability distributions on each
    class's samples; a sample belongs to the class whose point Σ γ_i φ(x_i) is nearer.

    Parameters
    ----------
    alpha : float, default=0.1
        λ, the ridge on γ, from 0 (hard margin) to 1 (nearest class mean).

    Notes
    -----
    Cost: one quadratic program in N variables, at most O(N³).

    The program and solver of ``easymkl``. A sample of weight v counts as v samples, over which its
    γ spreads. With a ridge all samples contribute to the decision. Source: Aiolli, Da San Martino
    and Sperduti (2008); the ridge times n₊n₋/(n₊ + n₋), which makes it independent of the number of
    samples, as in the authors' code.

    Examples
    --------
    >>> from mklkit.plugin import GramSide
    >>> rows = np.array([[-3.0], [-1.0], [1.0], [4.0]])
    >>> target = Target.two_classes(np.sign(rows[:, 0]))
    >>> fitted = KOMD(alpha=0).fit(GramSide(rows @ rows.T), target)
    >>> fitted.decide(np.array([[0.5], [-0.5]]) @ rows.T).round(3)
    array([ 1., -1.])
    """

    name: ClassVar[str] = "komd"
    traits: ClassVar[LearnerTraits] = LearnerTraits(
        on_features=True,
        on_gram=True,
        takes_row_weights=True,
        search_space={"alpha": (1.0, 0.5, 0.1, 0.01)},
    )

    alpha: float = attrs.field(default=0.1, converter=float, validator=and_(ge(0), le(1)))

    def fit(self, side: TrainingView, target: Target) -> LinearDecision:
        """Return the decision function learned from labels −1 and +1."""
        y = target.values.astype(np.float64)
        counts = target.counts
        gram = np.array(side.gram(), dtype=np.float64)
        positive, negative = float(counts[y > 0].sum()), float(counts[y < 0].sum())
        ridge = self.alpha * positive * negative / (positive + negative)
        share = ridge / (1 - self.alpha + ridge)
        signed = y * nearest_points(gram.copy(), y, share, counts, TOLERANCE)
        # Half the difference of the points' squared lengths: the value where both are equally near.
        bias = -float(np.abs(signed) @ gram @ signed) / 2
        if side.explicit:
            return LinearDecision(side.project_back(signed), bias)
        return LinearDecision(signed, bias)
