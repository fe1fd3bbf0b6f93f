"""The decision functions of a whole (α, λ) grid of coupled learners, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from mklkit.protocols import Array, FittedLearner, Projector
from mklkit.views.deciding import BlockDecision, RowBlock

__all__ = ["GridMean"]


@attrs.frozen(eq=False)
class GridMean(BlockDecision):
    """The weighted mean of the views' decision functions, at every point of a grid.

    Attributes
    ----------
    projectors : list of Projector
        One per view.
    coefficients : list of ndarray
        (p, G) or (N, G) per view, scaled by the view's weight in the mean.
    biases : ndarray of shape (G,)
    n_iter : ndarray of shape (G,)
        The number of objective evaluations until each point converged.
    """

    projectors: list[Projector]
    coefficients: list[Array]
    biases: Array
    n_iter: Array

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values (n, G) of one block of rows."""
        total = np.repeat(self.biases[None, :], len(block), axis=0)
        for index, values in block.columns_of(self.projectors):
            total += values @ self.coefficients[index]
        return total

    @classmethod
    def of(
        cls,
        weights: Array,
        projectors: list[Projector],
        learners: Sequence[Sequence[FittedLearner]],
        n_iter: Array,
    ) -> GridMean:
        """Return the mean, with the views' weights (M,) of each point's learners, one per view."""
        by_view = zip(weights, zip(*learners, strict=True), strict=True)
        coefficients = [
            weight * np.column_stack([learner.coefficients for learner in of_points])
            for weight, of_points in by_view
        ]
        biases = np.array([[learner.bias for learner in of_views] for of_views in learners])
        return cls(projectors, coefficients, biases @ weights, n_iter)
