"""DeFIMKL: decision values fused by a Choquet integral whose measure is learned."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, in_
from numpy.typing import NDArray

from mklkit import IncompatibleError
from mklkit.plugin import CombinerTraits, LearnedFusion, as_int, finite_number, register
from mklkit_fusion.choquet import choquet_integral, shapley_values
from mklkit_fusion.fixed import squashed
from mklkit_fusion.measure import Norm, learn_measure

MOST_KERNELS = 10
"""The measure has 2^M values: 1,024 for 10 kernels."""


@register
@attrs.frozen(eq=False)
class ChoquetFusion:
    """The Choquet integral of squashed decision values with a learned measure.

    Attributes
    ----------
    measure : ndarray of shape (2^M,)
        g of every set of kernels; bit m of an index is kernel m.
    """

    measure: NDArray[Any]

    @property
    def view_weights(self) -> NDArray[Any]:
        """Each kernel's Shapley value (M,) in the measure."""
        return shapley_values(self.measure)

    def fuse(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the fused decision values (n,) of the views' decision values (n, M)."""
        return choquet_integral(squashed(scores), self.measure)


@register
@attrs.frozen
class DeFIMKL(LearnedFusion):
    """Decision-level fuzzy-integral MKL: one SVM per kernel, joined by a Choquet integral.

    Decision values are squashed, f/√(1 + f²), and joined by the Choquet integral with respect to
    the fuzzy measure g that minimises Σ_i (C_g(f(x_i)) − y_i)² + λ·Σ_A g(A)^p on the training
    samples. The reported weights are the kernels' Shapley values in g.

    Parameters
    ----------
    alpha : float, default=1.0
        λ, the penalty on g (a ridge for p = 2), 0 or above. A larger one draws the integral towards
        the smallest of the decision values.
    p : {1, 2}, default=2
        The norm of the regulariser.
    cv : int, default=0
        Number of folds for learning the measure from out-of-fold decision values, as in stacking;
        0, as published, for learning it from those of the training samples, which favours kernels
        that overfit.

    Raises
    ------
    IncompatibleError
        With more than 10 kernels: the measure has a value for every set of kernels.

    Notes
    -----
    Cost: one support vector machine per kernel, and one program in the 2ᴹ values of the measure.

    Sources: Price et al. 2022, Algorithms 2 and 3; A. J. Pinar, T. C. Havens, D. T.
    Anderson, L. Hu: Feature and decision level fusion using multiple kernel learning and fuzzy
    integrals. FUZZ-IEEE 2015; A. J. Pinar et al. in IEEE Transactions on Fuzzy Systems 25 (2017).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(combiner=DeFIMKL(alpha=0.5)).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "defimkl"
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        row_weights="learner", search_space={"alpha": (10.0, 1.0, 0.1)}
    )

    alpha: float = attrs.field(default=1.0, converter=float, validator=[ge(0), finite_number])
    p: Norm = attrs.field(default=2, converter=as_int, validator=in_((1, 2)))
    cv: int = attrs.field(default=0, kw_only=True, converter=as_int, validator=ge(0))

    def fit(
        self, views: Any, target: Any, learner: Any, random_state: np.random.RandomState
    ) -> Any:
        """Return the fused decision function of one learner per view."""
        if len(views) > MOST_KERNELS:
            raise IncompatibleError(
                f"defimkl learns a value for each of the 2^M sets of M kernels and takes at most"
                f" {MOST_KERNELS} kernels; there are {len(views)}. Leave some out, or use 'vote' or"
                " 'average-scores'."
            )
        return super().fit(views, target, learner, random_state)

    def learn(
        self, scores: NDArray[Any], y: NDArray[Any], random_state: np.random.RandomState
    ) -> ChoquetFusion:
        """Return the Choquet integral learned from the training samples' scores (N, M)."""
        return ChoquetFusion(learn_measure(squashed(scores), y, self.alpha, self.p))
