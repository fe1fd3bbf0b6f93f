"""A whole (c, λ) grid of coupled learners on one problem, for little more than one fit."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from mklkit.combiners.ifsl.combiner import IFSL, margin_growth, mean_weights, run_rule
from mklkit.combiners.ifsl.rules import Columns
from mklkit.protocols import Array, Projector, Views
from mklkit.views.deciding import BlockDecision, RowBlock

__all__ = ["GridDecision", "fit_grid"]


@attrs.frozen(eq=False)
class GridDecision(BlockDecision):
    """The decision functions of all points of a grid.

    Attributes
    ----------
    projectors : list of Projector
        One a view.
    coefficients : list of ndarray
        (p, G) or (N, G) a view, scaled by the view's weight in the mean.
    biases : ndarray of shape (G,)
    n_iter : ndarray of shape (G,)
        Objective evaluations until each point had converged.
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


def fit_grid(
    views: Views,
    y: Array,
    combiner: IFSL,
    learner: Any,
    ridges: Array,
    lams: Array,
    random_state: np.random.RandomState,
) -> GridDecision:
    """Fit every pair of a ridge and a λ on the same views.

    Parameters
    ----------
    views : Views
    y : ndarray of shape (N,)
        −1 and +1.
    combiner : IFSL
        Its ``lam`` is not used.
    learner : Learner with ``grid_problem``
        ``mhks`` or ``kmhks``; its ``c`` is not used.
    ridges, lams : ndarray of shape (G,)
        c and λ of each point.
    random_state : RandomState
        For ``initial="random"`` only.

    Returns
    -------
    GridDecision
        Of each point what a fit of its own would give, up to rounding.

    Notes
    -----
    One decomposition a view serves all points, and all points iterate abreast, so that features
    are read once an iteration for all of them: matrix products in place of matrix-vector products.
    Warm starts along the grid were tried and left out: they took as long
    and, as margins never shrink, ended elsewhere than the fits that the grid stands for.
    """
    problems = [learner.grid_problem(view, ridges) for view in views]
    mu = mean_weights(combiner.weights, len(views))
    columns = Columns(lams, mu, *margin_growth(learner))
    solutions = run_rule(combiner, problems, y, columns, learner, random_state)
    coefficients, biases = [], np.zeros(len(ridges))
    for index, problem in enumerate(problems):
        finished = [problem.finish(solution.coefficients[index]) for solution in solutions]
        coefficients.append(mu[index] * np.column_stack([f.coefficients for f in finished]))
        biases += mu[index] * np.array([f.bias for f in finished])
    n_iter = np.array([len(solution.history) for solution in solutions])
    return GridDecision([view.projector for view in views], coefficients, biases, n_iter)
