"""EasyMKL: kernels weighted by the distance of the classes' nearest distributions."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge, instance_of, le

from mklkit.plugin import Array, CombinerTraits, Views, WeightingCombiner, register
from mklkit_optimize.class_hulls import NEARLY_SINGULAR, nearest_points
from mklkit_optimize.gram_sums import quadratic_forms

NO_MARGIN = 1e-7
"""Hulls closer than this share of the kernel's size meet, within rounding errors."""


@register
@attrs.frozen
class EasyMKL(WeightingCombiner):
    """Weight each kernel by γᵀYK_mYγ, where γ are the nearest class distributions under ΣK_m.

    γ minimises (1 − λ)γᵀY(ΣK_m)Yγ + λ‖γ‖² over the probability distributions on each class's
    samples.

    Parameters
    ----------
    alpha : float, default=0.1
        λ, the ridge on γ, from 0 (nearest points of the hulls, hard margin) to 1 (class means).
    normalize : bool, default=True
        Whether each kernel is divided by t_m, the mean of its Gram matrix's diagonal, as in the
        authors' code: K_m/t_m has the weight d_m = γᵀYK_mYγ/t_m, so that K_m has d_m/t_m.

    Notes
    -----
    Cost: O(MN²) for two passes over the kernels' tiles, and one quadratic program of at most O(N³).

    A single quadratic program, solved by libsvm, or by Clarabel in O(N³) if λ < 1e-3, or if λ is
    negligible against the kernels' values and libsvm does not converge in 300 N steps. Two passes
    over the kernels' tiles and one matrix of memory, whatever M. If the hulls meet (λ = 0, classes
    that no kernel separates) all weights are zero; uniform ones are then used, with a warning.
    Source: Aiolli and Donini (2015).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=EasyMKL(alpha=0.2)).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "easymkl"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        row_weights="learner", search_space={"alpha": (1.0, 0.5, 0.1, 0.01)}
    )

    alpha: float = attrs.field(default=0.1, converter=float, validator=and_(ge(0), le(1)))
    normalize: bool = attrs.field(default=True, validator=instance_of(bool))

    def weights(self, views: Views, y: Array) -> Array:
        """Return the weights (M,) of the kernels before division by t_m."""
        if len(views) == 1:
            return np.ones(1)
        diagonals = views.learner_kernels.diagonals()
        sizes = np.array([diagonal.mean(dtype=np.float64) for diagonal in diagonals])
        # A kernel without a positive mean diagonal is not an inner product: its weight is zero.
        scales = np.divide(1.0, sizes, where=sizes > 0, out=np.zeros(len(views)))
        if not self.normalize:
            scales = np.sign(scales)
        if not scales.any():
            return scales
        labels = y.astype(np.float64)
        total = np.asarray(views.weighted(scales).gram(keep=False), dtype=np.float64)
        gamma = nearest_points(total, labels, self.alpha)
        distances = scales * np.maximum(quadratic_forms(views, gamma * labels), 0.0)
        if self.alpha < NEARLY_SINGULAR and distances.sum() <= NO_MARGIN * float(scales @ sizes):
            return np.zeros(len(views))
        return distances * scales
