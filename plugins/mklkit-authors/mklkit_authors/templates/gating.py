"""Kernel weights that depend on the sample, from the training samples nearby."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from mklkit.plugin import GatingCombiner, Views, as_int, finite_number, register
from scipy.spatial import cKDTree
from scipy.special import softmax


@register
@attrs.frozen
class Sketch(GatingCombiner):
    """Weight kernels by how well they separate the classes of the training samples nearby.

    Parameters
    ----------
    neighbors : int, default=10
        Number of nearest training samples; all of them if there are fewer.
    sharpness : float, default=2.0
        0 for equal weights; large values select the best kernel.
    """

    name: ClassVar[str] = "sketch"

    neighbors: int = attrs.field(default=10, converter=as_int, validator=[instance_of(int), ge(1)])
    sharpness: float = attrs.field(default=2.0, converter=float, validator=[ge(0), finite_number])

    def fit_gates(
        self, views: Views, y: np.ndarray, random_state: np.random.RandomState
    ) -> FittedSketch:
        """Return the fitted gates, learned from labels −1 and +1."""
        scores = [agreement(view.gram(keep=False), y) for view in views]
        gates = softmax(self.sharpness * np.column_stack(scores), axis=1)
        return FittedSketch(views.rows, gates, min(self.neighbors, len(y)))


@register
@attrs.frozen(eq=False)
class FittedSketch:
    """Gates at the training samples (N, M), averaged over the nearest ones for any sample."""

    rows: np.ndarray
    training_gates: np.ndarray
    neighbors: int

    def gates(self, rows: np.ndarray) -> np.ndarray:
        """Return each sample's weight of each kernel (n, M), zero or above."""
        _, nearest = cKDTree(self.rows).query(rows, k=np.arange(1, self.neighbors + 1))
        return self.training_gates[nearest].mean(axis=1)


def agreement(gram: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return per sample the similarity to its own class minus that to the other, −1 to 1, (N,)."""
    scale = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    cosines = gram / np.outer(scale, scale)
    return y * (cosines[:, y > 0].mean(axis=1) - cosines[:, y < 0].mean(axis=1)) / 2
