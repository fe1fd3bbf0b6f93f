"""Weights by alignment with the kernel of the target, yyᵀ."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from mklkit.combiners.templates.weighting import WeightingCombiner
from mklkit.protocols import Array, CombinerTraits, Views
from mklkit.registry.hookspecs import register


@register
@attrs.frozen
class Alignment(WeightingCombiner):
    """Weight a kernel by its alignment with the labels, max(0, ⟨K, yyᵀ⟩/(‖K‖‖yyᵀ‖)).

    Numeric targets are centred first, because their zero is arbitrary. It is the alignment of
    Cristianini et al. 2001 [1]_; Wang and Chen 2009 [2]_ have it as equation 14.

    See Also
    --------
    CenteredAlignment : The same after centring.
    mklkit.alignment_matrix : The alignments of all pairs of kernels.

    Notes
    -----
    Cost: O(N²) per kernel, one pass over its tiles.

    References
    ----------
    .. [1] N. Cristianini, J. Shawe-Taylor, A. Elisseeff and J. Kandola, "On kernel-target
       alignment", Advances in Neural Information Processing Systems 14 (2001).
    .. [2] Z. Wang and S. Chen, "Multi-view kernel machine on single-view data", Neurocomputing 72
       (2009).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [3.0, -1.0], [4.0, 1.0]], [0, 0, 1, 1]
    >>> kernels = ["first:linear@0:1", "second:linear@1:2"]
    >>> MKLClassifier(kernels, combiner=Alignment()).fit(X, y).weights_.tolist()
    [[1.0, 0.0]]
    """

    name: ClassVar[str] = "alignment"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learns=("two classes", "numbers", "any"), from_moments=True, row_weights="throughout"
    )
    centered: ClassVar[bool] = False

    def weights(self, views: Views, y: Array, row_weights: Array | None = None) -> Array:
        """Return the alignments, 0 where negative."""
        alignments = [view.label_alignment(y, self.centered, row_weights) for view in views]
        return np.maximum(alignments, 0.0)


@register
@attrs.frozen
class CenteredAlignment(Alignment):
    """Weight a kernel by its centred alignment with the target, ⟨HKH, yyᵀ⟩/(‖HKH‖‖HyyᵀH‖).

    Centring (H = I − 11ᵀ/N) removes the mean in feature space, which unbalanced classes would
    otherwise reward. The rule is that of Cortes, Mohri and Rostamizadeh 2012 [1]_.

    See Also
    --------
    Alignment : The same without centring.

    Notes
    -----
    Cost: O(N²) per kernel, two passes over its tiles.

    References
    ----------
    .. [1] C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for learning kernels based on
       centered alignment", Journal of Machine Learning Research 13 (2012), 795–828.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [3.0, -1.0], [4.0, 1.0]], [0, 0, 1, 1]
    >>> kernels = ["first:linear@0:1", "second:linear@1:2"]
    >>> MKLClassifier(kernels, combiner=CenteredAlignment()).fit(X, y).weights_.tolist()
    [[1.0, 0.0]]
    """

    name: ClassVar[str] = "centered-alignment"
    centered: ClassVar[bool] = True
