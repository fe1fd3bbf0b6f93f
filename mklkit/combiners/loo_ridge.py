"""Kernel weights of least leave-one-out error of ridge regression."""

from __future__ import annotations

import warnings
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of
from sklearn.exceptions import ConvergenceWarning

from mklkit.combiners.templates.weighting import LearnedWeighting
from mklkit.numerics.loo_weights import least_loo_error
from mklkit.numerics.ridge import GramRidge, WeightedRows
from mklkit.protocols import Array, CombinerFacts, Learner, Target, Views
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register

__all__ = ["LooRidge"]

STARTS = (10.0, 100.0, 1000.0)
"""Times the best ridge of the even sum, which explains with irrelevant kernels what others can."""
USUAL_START = 30.0
NEGLIGIBLE = 1e-8
"""Of the largest share in the sum, below which a kernel is left out."""
FEW_ROWS = 150
"""Rows on which several starts are tried."""


@register
@attrs.frozen
class LooRidge(LearnedWeighting):
    """Descend the leave-one-out error of ridge regression in the kernel weights and the ridge.

    The error of each row predicted from all others is exact and has a closed form, and so has its
    gradient. The learner is then fitted on the weighted sum with a ridge of its own choice. Two
    classes are learned as numbers −1 and +1.

    Parameters
    ----------
    rows : int, default=500
        The weights are learned on so many of the training rows, drawn at random, where there are
        more; more rows make them more exact.
    max_iter : int, default=50
        Steps from each start at most, one or two inversions of a matrix each.
    tol : float, default=1e-4
        The share of the error by which a step must lower it, or the descent ends.

    Warns
    -----
    ConvergenceWarning
        If the error still fell after ``max_iter`` steps.

    Notes
    -----
    For n rows O(n³ + Mn²) per step and M Gram matrices of n rows in memory. The error need not be
    convex in the weights: on 150 of the rows the descent starts three times, from kernels of equal
    size and 10, 100 and 1000 times the best ridge for these. On all n it starts from 30 times that
    ridge, and from the lowest end on the few if the error is lower there than at its own end.
    Source: Cawley and Talbot (2007), for the parameters of one kernel.

    Examples
    --------
    >>> from mklkit import MKLRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = MKLRegressor(["linear", "rbf(sigma='0.1*mean')"], combiner=LooRidge(rows=100))
    >>> bool(model.fit(X, y).weights_[0, 0] > 0.5)
    True
    """

    name: ClassVar[str] = "loo-ridge"
    facts: ClassVar[CombinerFacts] = CombinerFacts(
        learner="ridge", tasks=("two classes", "numbers"), row_weights="learner"
    )

    rows: int = attrs.field(default=500, converter=as_int, validator=[instance_of(int), ge(10)])
    max_iter: int = attrs.field(default=50, converter=as_int, validator=[instance_of(int), ge(1)])
    tol: float = attrs.field(default=1e-4, converter=float, validator=[gt(0), finite_number])

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the weights, up to a common factor."""
        n_rows = len(target)
        if len(views) == 1:
            return np.ones(1)
        some = np.arange(n_rows)
        if n_rows > self.rows:
            some = np.sort(random_state.permutation(n_rows)[: self.rows])
        grams = []
        for view in views:
            seen = view.restricted(some) if len(some) < n_rows else view
            grams.append(np.asarray(seen.gram(keep=False), np.float64))
        values = np.asarray(target.values, np.float64)[some]
        spread = float(values.std()) or 1.0
        sizes = np.array([np.trace(gram) / len(some) - gram.mean() for gram in grams])
        # A kernel that is constant on these rows can say nothing about them.
        varies = sizes > np.finfo(np.float64).eps * np.array([np.abs(g).max() for g in grams])
        used = np.flatnonzero(varies)
        if not len(used):
            return np.ones(len(views))
        kept = [grams[m] for m in used]
        centred = (values - values.mean())[:, None] / spread
        few = np.arange(len(some))
        if len(some) > FEW_ROWS:
            few = random_state.permutation(len(some))[:FEW_ROWS]
        starts = self._starts([gram[np.ix_(few, few)] for gram in kept], centred[few], sizes[used])
        factors, ended = least_loo_error(
            kept, centred, starts, self.max_iter, self.tol, only_if_lower=True
        )
        if not ended:
            warnings.warn(
                f"loo-ridge stopped after max_iter={self.max_iter} steps while the error still"
                " fell; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        weights = np.zeros(len(views))
        shares = factors * sizes[used]
        weights[used] = np.where(shares > NEGLIGIBLE * shares.max(), factors, 0)
        return weights

    def _starts(self, grams: list[Array], targets: Array, sizes: Array) -> list[Array]:
        """Return where to start: equal sizes, and the lowest end of descents on a few rows."""
        even = sum(gram / size for gram, size in zip(grams, sizes, strict=True))
        rows = WeightedRows.of(len(targets), None, True)
        ridge = GramRidge(even, rows).best_ridges(targets)
        tried = [1 / (sizes * ridge * times) for times in STARTS]
        lowest = least_loo_error(grams, targets, tried, self.max_iter, self.tol)[0]
        return [1 / (sizes * ridge * USUAL_START), lowest]
