"""CKA: the weights that maximise the centred alignment of the combined kernel with the labels."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from scipy.optimize import nnls

from mklkit.plugin import Array, CombinerTraits, Views, WeightingCombiner, register

RANK_TOLERANCE = 1e-12


@register
@attrs.frozen
class CKA(WeightingCombiner):
    """Maximise the centred alignment of Σ w_kK_k with the labels or numbers, w ≥ 0.

    The weights solve min over v ≥ 0 of vᵀMv − 2vᵀa, M_kl = ⟨HK_kH, HK_lH⟩, a_k = ⟨HK_kH, yyᵀ⟩.
    If M⁻¹a has no negative entry it is the solution; otherwise the problem is solved as
    non-negative least squares.

    Notes
    -----
    Cost: two passes over the kernels' tiles, O(N²(d + M²)), without storing a Gram matrix.

    Two passes over the kernels' tiles, O(N²(d + M²)) time, without storing a Gram matrix. The
    weights are divided by their sum (the publication's ‖v‖ = 1 is the same kernel, rescaled).
    Source: Cortes, Mohri and Rostamizadeh (2012).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=CKA()).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "cka"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learns=("two classes", "numbers", "any"), row_weights="learner"
    )

    def weights(self, views: Views, y: Array) -> Array:
        """Return the weights (M,), all zero if no kernel is aligned with the labels."""
        if len(views) == 1:
            return np.ones(1)
        pairs = views.products(y)
        # The products are of kernels divided by their sizes; undo that, up to a common factor.
        scaled = best_aligned(pairs.products, pairs.with_labels)
        return np.asarray(scaled * (pairs.sizes.min() / pairs.sizes))


def best_aligned(products: Array, with_labels: Array) -> Array:
    """Return the v ≥ 0 that minimises vᵀMv − 2vᵀa, for a positive semi-definite M.

    Examples
    --------
    >>> best_aligned(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 3.0])).round(6)
    array([1., 1.])
    >>> best_aligned(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([4.0, 1.0])).round(6)
    array([2., 0.])
    """
    if not (np.isfinite(products).all() and np.isfinite(with_labels).all()):
        return np.full(len(with_labels), np.nan)
    root, target, sizes = _as_least_squares(products, with_labels)
    scaled = np.linalg.lstsq(root, target, rcond=None)[0]
    if (scaled < 0).any():
        scaled, _ = nnls(root, target)
    return np.divide(scaled, sizes, where=sizes > 0, out=np.zeros(len(sizes)))


def _as_least_squares(products: Array, with_labels: Array) -> tuple[Array, Array, Array]:
    """Return R, t and the kernels' norms; ‖R(norms·v) − t‖² is the objective plus a constant."""
    sizes = np.sqrt(np.diag(products))
    inverse = np.divide(1.0, sizes, where=sizes > 0, out=np.zeros(len(sizes)))
    values, vectors = np.linalg.eigh(products * np.outer(inverse, inverse))
    kept = values > RANK_TOLERANCE * max(float(values[-1]), 0.0)
    roots = np.sqrt(values[kept])
    root = roots[:, None] * vectors[:, kept].T
    return root, vectors[:, kept].T @ (inverse * with_labels) / roots, sizes
