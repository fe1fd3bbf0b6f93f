"""Weights without labels: the consensus of all kernels (STATIS-UMKL)."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from mklkit.combiners.templates.weighting import WeightingCombiner
from mklkit.protocols import Array, CombinerFacts, Views
from mklkit.registry.hookspecs import register

__all__ = ["Consensus", "consensus_weights"]

EQUAL = 1e-9
"""Eigenvalues closer than this share of the largest are equal."""


@register
@attrs.frozen
class Consensus(WeightingCombiner):
    """Weight a kernel by its agreement with all others, without labels (STATIS-UMKL).

    With C the cosines ⟨HK_mH, HK_lH⟩/(‖HK_mH‖‖HK_lH‖) of the centred Gram matrices
    (H = I − 11ᵀ/N), the weights are the first eigenvector of C over its sum: Σ w_m HK_mH/‖HK_mH‖
    is the matrix that is most like all of them, the largest in sum of squared cosines.

    Notes
    -----
    The cosines do not depend on the kernels' sizes, but the sum Σ w_m K_m that is learned from
    does. mixKernel first divides every kernel by the roots of its diagonal: here
    ``cosine(polynomial)`` does, and ``rbf`` and the default kernels have k(x, x) = 1 anyway. A
    constant kernel gets weight 0. Where several eigenvectors are first, as with kernels that have
    nothing in common, the weights are the projection of equal weights on them.

    Two passes over the tiles, O(N²(d + M²)) and no Gram matrix; on p features O(Np²) per pair of
    kernels.

    References
    ----------
    Mariette and Villa-Vialaneix, "Unsupervised multiple kernel learning for heterogeneous data
    integration", Bioinformatics 34 (2018), section 2.2; the R package mixKernel. STATIS:
    L'Hermier des Plantes (1976).

    Examples
    --------
    >>> from mklkit import MKLTransformer
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> kernels = ["sepals:rbf@0:2", "petals:rbf@2:4", "all:rbf"]
    >>> MKLTransformer(kernels, combiner="consensus").fit(X).weights_[0].round(2)
    array([0.32, 0.34, 0.35])
    """

    name: ClassVar[str] = "consensus"
    searched_as: ClassVar[dict[str, str]] = {"statis": "consensus", "statis-umkl": "consensus"}
    facts: ClassVar[CombinerFacts] = CombinerFacts(
        tasks=("two classes", "several classes", "numbers", "none"),
        row_weights="learner",
        from_moments=True,
    )

    def weights(self, views: Views, y: Array) -> Array:
        """Return the first eigenvector of the cosines."""
        return consensus_weights(views.products().alignments())


def consensus_weights(cosines: Array) -> Array:
    """Return the first eigenvector (M,) of cosines (M, M), not negative; zeros where all are zero.

    Examples
    --------
    >>> consensus_weights(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])).round(2)
    array([0., 1., 1.])
    """
    if not cosines.any():
        return np.zeros(len(cosines))
    values, vectors = np.linalg.eigh(cosines)
    first = vectors[:, values >= (1 - EQUAL) * values[-1]]
    # Negative by rounding only, unless kernels are indefinite.
    return np.maximum(first @ first.sum(axis=0), 0.0)
