"""Learners with different parameters on weighted sums of the same kernels, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from mklkit.numerics.threads import each
from mklkit.protocols import (
    Array,
    FittedLearner,
    Learner,
    Projector,
    Target,
    TrainingView,
    Views,
    fit_learner,
)
from mklkit.views.deciding import BlockDecision, RowBlock, scaled_pairs


def fit_each(
    learners: Sequence[Learner], side: TrainingView, target: Target
) -> list[FittedLearner]:
    """Return each learner fitted on the same training side; on a Gram matrix in several threads."""
    if side.explicit:  # Sums over blocks of samples use all threads already.
        return [fit_learner(learner, side, target) for learner in learners]
    side.gram()  # computed here, and not in each thread
    return list(each(lambda learner: fit_learner(learner, side, target), learners))


@attrs.frozen(eq=False)
class _Sum:
    """One weighted sum of kernels, and the learners fitted on it, for some points of the grid."""

    weights: Array
    points: list[int]
    learners: list[FittedLearner]


@attrs.frozen(eq=False)
class WeightedGrid(BlockDecision):
    """The decision functions of all points, with each weighted sum computed once."""

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
        """Return the decision values (n, G), or (n, C, G), of one block of samples."""
        values: list[Any] = [None] * self.n_points
        for group, columns in self._columns(block):
            for point, learner in zip(group.points, group.learners, strict=True):
                values[point] = learner.decide(columns)
        return np.stack(values, axis=-1)

    def _columns(self, block: RowBlock) -> Iterator[tuple[_Sum, Array]]:
        """Yield each sum with its similarities (n, N), or scaled features (n, Σp)."""
        if self.explicit:
            of_views = dict(block.columns_of(self.projectors))
            for group in self.sums:
                used = np.flatnonzero(group.weights)
                parts = [np.sqrt(group.weights[m]) * of_views[int(m)] for m in used]
                yield group, block.scaled(np.hstack(parts), self.projectors, group.weights)
            return
        totals: list[Any] = [0.0] * len(self.sums)
        for index, values in block.columns_of(self.projectors):
            for place, group in enumerate(self.sums):
                if group.weights[index]:
                    totals[place] += values * values.dtype.type(group.weights[index])
        for group, total in zip(self.sums, totals, strict=True):
            yield group, scaled_pairs(total, block, self.projectors, group.weights)
