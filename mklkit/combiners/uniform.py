"""Uniform weights, the fixed rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import attrs
import numpy as np

from mklkit.combiners.templates.weighting import WeightingCombiner
from mklkit.protocols import Array, CombinerFacts, Projector, Views
from mklkit.registry.hookspecs import hookimpl, register


@register
@attrs.frozen
class Uniform(WeightingCombiner):
    """Every kernel has the same weight, 1/M.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MKLClassifier(["linear", "rbf"], combiner="uniform").fit(X, y).weights_[0]
    array([0.5, 0.5])
    """

    name: ClassVar[str] = "uniform"
    facts: ClassVar[CombinerFacts] = CombinerFacts(
        tasks=("two classes", "several classes", "numbers", "none"),
        several_targets=True,
        row_weights="throughout",
        from_moments=True,
        weights_are="fixed",
    )

    def weights(self, views: Views, y: Array, row_weights: Array | None = None) -> Array:
        """Return ones."""
        return np.ones(len(views))


@hookimpl
def mklkit_model_types() -> Iterable[type]:
    """Register the types that weighting combiners store in a model file."""
    return [Projector]
