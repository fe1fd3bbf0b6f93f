"""What is computed from the weighted sum of kernels: its columns, a decision, a grid of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from mklkit.numerics.pairwise import row_blocks
from mklkit.numerics.threads import each
from mklkit.protocols import (
    Array,
    FittedLearner,
    Learner,
    Projector,
    Rows,
    Target,
    TrainingView,
    Views,
)
from mklkit.registry.hookspecs import register
from mklkit.views.deciding import BlockDecision, RowBlock, weighted_columns, with_support
from mklkit.views.projections import FEW_ROWS, Projection
from mklkit.views.rows import rows_at

__all__ = ["WeightedColumns", "WeightedDecision", "WeightedGrid", "fit_each"]

BLOCK_ROWS = 512
"""Rows whose columns are made at a time, so that next to the result there is little else."""


@register
@attrs.frozen(eq=False)
class WeightedColumns:
    """Σ w_m k_m(x, training rows) of rows x, or the features √w_m φ_m(x) side by side.

    Attributes
    ----------
    weights : ndarray of shape (M,)
    projectors : list of Projector
        Those of the views with non-zero weight.
    scales : ndarray
        Their weights.
    explicit : bool
    """

    weights: Array
    projectors: list[Projector]
    scales: Array
    explicit: bool

    @classmethod
    def of(cls, views: Views, weights: Array) -> WeightedColumns:
        """Return the columns of the weighted sum of views."""
        used = np.flatnonzero(weights)
        return cls(weights, [views[int(m)].projector for m in used], weights[used], views.explicit)

    def of_block(self, block: RowBlock) -> Array:
        """Return the columns, (n, N) or (n, Σp), of a block of rows."""
        return weighted_columns(block, self.projectors, self.scales, self.explicit)

    def transform(self, rows: Rows) -> Array:
        """Return the columns, (n, N) or (n, Σp), of rows (n, d), block by block."""

        def columns(place: slice) -> Array:
            return self.of_block(RowBlock(rows_at(rows, place)))

        return np.vstack(list(each(columns, row_blocks(len(rows), BLOCK_ROWS))))


@register
@attrs.frozen(eq=False)
class WeightedDecision(WeightedColumns, BlockDecision):
    """One learner on the weighted sum of the kernels.

    Attributes
    ----------
    weights : ndarray of shape (M,)
    projectors : list of Projector
        Those of the views with non-zero weight.
    scales : ndarray
        Their weights.
    explicit : bool
    learner : FittedLearner
    """

    learner: FittedLearner

    @classmethod
    def learn(
        cls, views: Views, weights: Array, target: Target, learner: Learner
    ) -> WeightedDecision:
        """Return the decision of a learner fitted on the weighted sum."""
        fitted = learner.fit(views.weighted(weights), target)
        columns = WeightedColumns.of(views, weights)
        projectors = columns.projectors
        support = None if views.explicit else fitted.support
        if support is not None:
            projectors = with_support(projectors, support)
            fitted = fitted.restricted(support)
        return cls(weights, projectors, columns.scales, views.explicit, fitted)

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values (n,) of one block of rows."""
        coefficients = self.learner.coefficients
        folds = self.explicit and len(block) > FEW_ROWS and not block.shared
        if not folds or coefficients is None:
            return self.learner.decide(self.of_block(block))
        # Of a linear function, without features where maps allow.
        first = dict(RowBlock(block.rows[:1]).columns_of(self.projectors))
        widths = [first[index].shape[1] for index in range(len(first))]
        parts = np.split(coefficients, np.cumsum(widths)[:-1])
        scaled = [root * part for root, part in zip(np.sqrt(self.scales), parts, strict=True)]
        return Projection.of(self.projectors, scaled)(block) + self.learner.bias


def fit_each(
    learners: Sequence[Learner], side: TrainingView, target: Target
) -> list[FittedLearner]:
    """Return each learner fitted on the same training side; on a Gram matrix in several threads."""
    if side.explicit:  # Their sums over blocks of rows use all threads already.
        return [learner.fit(side, target) for learner in learners]
    side.gram()  # computed here, and not in each thread
    return list(each(lambda learner: learner.fit(side, target), learners))


@attrs.frozen(eq=False)
class _Sum:
    """One weighted sum of kernels, and the learners fitted on it, of some points of the grid."""

    weights: Array
    points: list[int]
    learners: list[FittedLearner]


@attrs.frozen(eq=False)
class WeightedGrid(BlockDecision):
    """The decision functions of all points, with each weighted sum computed once.

    Attributes
    ----------
    projectors : list of Projector
        One per view.
    n_points : int
        G.
    """

    projectors: list[Projector]
    sums: list[_Sum]
    explicit: bool
    n_points: int
    n_iter: None = None

    @classmethod
    def learn(
        cls, views: Views, target: Target, prepared: Sequence[tuple[Array, Learner]]
    ) -> WeightedGrid:
        """Return the decisions of learners, each on the kernels' sum with its weights (M,)."""
        points: dict[bytes, list[int]] = {}
        for point, (weights, _) in enumerate(prepared):
            points.setdefault(weights.tobytes(), []).append(point)
        sums = []
        for members in points.values():
            weights = prepared[members[0]][0]
            learners = [prepared[point][1] for point in members]
            sums.append(_Sum(weights, members, fit_each(learners, views.weighted(weights), target)))
        projectors = [view.projector for view in views]
        return cls(projectors, sums, views.explicit, len(prepared))

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values (n, G) of one block of rows."""
        values = np.empty((len(block), self.n_points))
        for group, columns in self._columns(block):
            for point, learner in zip(group.points, group.learners, strict=True):
                values[:, point] = learner.decide(columns)
        return values

    def _columns(self, block: RowBlock) -> Iterator[tuple[_Sum, Array]]:
        """Yield each sum with its similarities (n, N), or scaled features (n, Σp)."""
        if self.explicit:
            of_views = dict(block.columns_of(self.projectors))
            for group in self.sums:
                used = np.flatnonzero(group.weights)
                yield group, np.hstack([np.sqrt(group.weights[m]) * of_views[int(m)] for m in used])
            return
        totals: list[Any] = [0.0] * len(self.sums)
        for index, values in block.columns_of(self.projectors):
            for place, group in enumerate(self.sums):
                if group.weights[index]:
                    totals[place] += values * values.dtype.type(group.weights[index])
        yield from zip(self.sums, totals, strict=True)
