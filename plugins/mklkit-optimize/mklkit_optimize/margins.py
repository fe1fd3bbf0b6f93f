"""Template: weights from the margin between the classes under the weighted sum."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, instance_of
from sklearn.exceptions import ConvergenceWarning

from mklkit.plugin import (
    Array,
    CombinerTraits,
    Views,
    WeightingCombiner,
    as_int,
    finite_number,
)
from mklkit_optimize.class_hulls import HardMargin
from mklkit_optimize.easymkl import NO_MARGIN
from mklkit_optimize.gram_sums import gram_stack

INNER = 0.1
"""The tolerance of the inner programs, as a share of that of the weights."""


@attrs.frozen(eq=False)
class MarginPoint:
    """The weights w (M,), their sum K, and the slopes γᵀYK_mYγ of ρ², γ the nearest points."""

    weights: Array
    gram: Array
    slopes: Array

    @property
    def squared_margin(self) -> float:
        """ρ², the squared distance of the hulls."""
        return float(self.weights @ self.slopes)


@attrs.define(eq=False)
class MarginSearch(ABC):
    """The best weights so far, and bounds for all others: ρ²(w) is at most each slopes·w."""

    grams: Array
    best: MarginPoint
    cuts: list[Array] = attrs.field(factory=list, init=False)
    least: float = attrs.field(default=np.inf, init=False)

    def take(self, point: MarginPoint) -> None:
        """Add a point, which becomes the best one if its value is the least."""
        self.cuts.append(point.slopes)
        value = self.value(point)
        if value < self.least:
            self.best, self.least = point, value

    @abstractmethod
    def value(self, point: MarginPoint) -> float:
        """Return the value to minimise."""

    @abstractmethod
    def proposal(self) -> tuple[Array, float]:
        """Return new weights (M,), and a bound on the best value's excess over the minimum."""


@attrs.frozen
class MarginWeighting(WeightingCombiner):
    """Template: weights from the margin of hard-margin machines on a sequence of weighted sums.

    ρ²(w) is the minimum of linear functions of w: each γ is a cut that bounds it from above
    everywhere. Linear programs over all cuts propose weights, and bound the error of the best ones.
    """

    traits: ClassVar[CombinerTraits] = CombinerTraits(row_weights="learner")

    tol: float = attrs.field(default=1e-3, converter=float, validator=and_(gt(0), finite_number))
    max_iter: int = attrs.field(
        default=200, converter=as_int, validator=and_(instance_of(int), ge(1))
    )

    @property
    def floor(self) -> float:
        """The least ρ² that weights must have."""
        return 0.0

    def weights(self, views: Views, y: Array) -> Array:
        """Return the best weights (M,), zeros if the classes' hulls meet under every sum."""
        if len(views) == 1:
            return np.ones(1)
        grams, hulls = gram_stack(views), HardMargin(y.astype(np.float64), INNER * self.tol)

        def at(weights: Array) -> MarginPoint:
            gram = np.tensordot(weights, grams, 1)
            signed = hulls.points(gram) * hulls.y
            return MarginPoint(weights, gram, np.maximum(grams @ signed @ signed, 0.0))

        first = at(np.full(len(views), 1 / len(views)))
        none = NO_MARGIN * float(np.trace(first.gram)) / len(y)
        if first.squared_margin <= max(none, self.floor):
            return np.zeros(len(views))
        search = self.search(grams, first)
        search.take(first)
        for _ in range(self.max_iter - 1):
            proposal, gap = search.proposal()
            if gap <= self.tol:
                break
            # Half way, since proposals from few cuts overshoot.
            search.take(at((search.best.weights + proposal) / 2))
        else:
            warnings.warn(
                f"{self.name} stopped after {self.max_iter} weights with a relative gap of"
                f" {gap:.2g}, above tol={self.tol:g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return search.best.weights

    @abstractmethod
    def search(self, grams: Array, first: MarginPoint) -> MarginSearch:
        """Return the search among weights of the Gram matrices (M, N, N), from a first point."""
