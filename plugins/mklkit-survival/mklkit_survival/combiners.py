"""Combiners of log-hazards: one Cox regression per kernel, averaged or stacked."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from scipy.optimize import minimize

from mklkit.plugin import Array, CombinerTraits, FusionCombiner, LearnedFusion, register
from mklkit_survival.risk_sets import RiskSets
from mklkit_survival.times import TIMES

SMOOTHING = 0.1
"""The penalty (b − 1/M)²/2 on stacked coefficients, with which they exist for any few events."""
SHORTEST = 1e-8
"""Weights are uniform if log-hazards differ by no more than this."""


@register
@attrs.frozen
class MeanHazard(FusionCombiner):
    """Average the log-hazards of one Cox regression per kernel: a vote of the kernels.

    Each regression chooses its own penalty, so the log-hazards of a kernel without signal are near
    0 and hardly count.

    See Also
    --------
    StackedHazards : Weights them.

    Notes
    -----
    Cost: one Cox regression per kernel.

    Source: J. Kittler, M. Hatef, R. P. W. Duin, J. Matas: On combining classifiers. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 20 (1998).

    Examples
    --------
    >>> MeanHazard().fuse(np.array([[1.0, 0.0], [-1.0, -2.0]])).tolist()
    [0.5, -1.5]
    """

    name: ClassVar[str] = "mean-hazard"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learns=(TIMES.name,), weights_are="fixed", row_weights="learner"
    )

    def fuse(self, scores: Array) -> Array:
        """Return the mean log-hazards (n,) of the kernels' (n, M)."""
        return scores.mean(axis=1)


@register
@attrs.frozen(eq=False)
class WeightedHazards:
    """The sum of log-hazards, each times its coefficient (M,).

    ``deviations`` (M,) are the standard deviations of the log-hazards that are summed.
    """

    coefficients: Array
    deviations: Array

    @property
    def view_weights(self) -> Array:
        """The standard deviations of the terms of the sum, as weights of sum 1."""
        spread = self.coefficients * self.deviations
        total = spread.sum()
        if total <= SHORTEST:
            return np.full(len(spread), 1 / len(spread))
        return spread / total

    def fuse(self, scores: Array) -> Array:
        """Return the log-hazards (n,) of the kernels' (n, M)."""
        return scores @ self.coefficients


@register
@attrs.frozen
class StackedHazards(LearnedFusion):
    """Stack the kernels: a Cox regression, with coefficients ≥ 0, on their out-of-fold log-hazards.

    Parameters
    ----------
    cv : int, default=5
        The number of folds, and of further fits per kernel; 0 learns from log-hazards of training
        samples, which favours overfitted kernels.

    See Also
    --------
    MeanHazard : The same with equal coefficients.

    Notes
    -----
    Cost: one Cox regression per kernel and fold, and one per kernel on all samples.

    Super learning [1]_ with the partial likelihood: the coefficients b minimise −ℓ(Sb) +
    0.05 Σ(b − 1/M)² for log-hazards S. The small penalty decides where the likelihood does not. The
    weights in results are the standard deviations of the terms of Sb, divided by their sum.

    References
    ----------
    .. [1] M. J. van der Laan, E. C. Polley and A. E. Hubbard, "Super learner", Statistical
       Applications in Genetics and Molecular Biology 6 (2007), 25.

    Examples
    --------
    >>> target = np.array([[1.0, 1], [2.0, 1], [3.0, 1], [4.0, 1]])
    >>> scores = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> fused = StackedHazards().learn(scores, target, np.random.RandomState(0))
    >>> bool(fused.view_weights[0] > 0.9)
    True
    """

    name: ClassVar[str] = "stack-hazards"
    traits: ClassVar[CombinerTraits] = CombinerTraits(learns=(TIMES.name,), row_weights="learner")

    def learn(
        self, scores: Array, y: Array, random_state: np.random.RandomState
    ) -> WeightedHazards:
        """Return the weighted sum learned from log-hazards (n, M), times and events (n, 2)."""
        risk_sets = RiskSets.of(np.asarray(y, np.float64), "efron")
        even = np.full(scores.shape[1], 1 / scores.shape[1])

        def objective(coefficients: Array) -> tuple[float, Array]:
            likelihood = risk_sets.at(scores @ coefficients)
            away = coefficients - even
            gradient = SMOOTHING * away - scores.T @ likelihood.residuals()
            return SMOOTHING / 2 * float(away @ away) - likelihood.log, gradient

        bounds = [(0.0, None)] * len(even)
        stacked = minimize(objective, even, jac=True, method="L-BFGS-B", bounds=bounds)
        return WeightedHazards(np.maximum(stacked.x, 0.0), scores.std(axis=0))
