"""Kernel weights that minimise the leave-one-out error of ridge regression."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of
from sklearn.exceptions import ConvergenceWarning

from mklkit.plugin import (
    Array,
    CombinerTraits,
    LearnedWeighting,
    Learner,
    Target,
    Views,
    WeightedDecision,
    as_int,
    finite_number,
    register,
)
from mklkit_optimize.loo_errors import least_loo_errors


@register
@attrs.frozen
class LooRidge(LearnedWeighting):
    """Minimise the leave-one-out error of ridge regression over the kernel weights and the ridge.

    The error of each sample predicted from all others has an exact closed form, and so has its
    gradient. The learner is then fitted on the weighted sum and chooses its own ridge. Two
    classes are learned as numbers −1 and +1.

    Parameters
    ----------
    rows : int, default=500
        The most training samples for learning the weights, drawn at random; more samples make them
        more exact.
    max_iter : int, default=50
        The most steps.
    tol : float, default=1e-3
        The search ends if none of three steps lowers the error by this share; for several targets,
        if a step does not by at least 0.1.

    Warns
    -----
    ConvergenceWarning
        If the error still fell after ``max_iter`` steps.

    Notes
    -----
    Cost: O(MN³) per step, and M Gram matrices of memory.

    Levenberg–Marquardt steps from kernels of equal size and 3, 30 and 300 times the best ridge for
    these; O(Mn³) for n samples and M kernels, and M Gram matrices in memory. Several targets are
    learned at once: each step tries twelve points near the goals of most targets, and targets that
    end at the same point have the same weights. The error need not be convex in the weights. The
    decision's ``history`` has its mean square after each step; since a small penalty on the
    kernels' size is minimised too, it may rise by 0.3 % per step.
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
    joins_targets: ClassVar[bool] = True
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learner="ridge", learns=("two classes", "numbers"), row_weights="learner"
    )

    rows: int = attrs.field(default=500, converter=as_int, validator=[instance_of(int), ge(10)])
    max_iter: int = attrs.field(default=50, converter=as_int, validator=[instance_of(int), ge(1)])
    tol: float = attrs.field(default=1e-3, converter=float, validator=[gt(0), finite_number])

    def choose(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Array:
        """Return the weights, up to a common factor."""
        return self._weights(views, target, random_state)[0][0]

    def fit(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> WeightedDecision:
        """Return the decision of the learner on the weighted sum, with the errors by step."""
        raw, (path,) = self._weights(views, target, random_state)
        shares = raw[0] / raw[0].sum()
        fitted = learner.fit(views.weighted(shares), target)
        return attrs.evolve(WeightedDecision.fitted(views, shares, fitted), history=path)

    def fit_targets(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> list[WeightedDecision]:
        """Return a decision for each column of numbers (N, T); similar targets share their weights.

        They share the search, in which each target takes the best of all points tried.
        """
        weights, paths = self._weights(views, target, random_state)
        groups, group_of = np.unique(weights, axis=0, return_inverse=True)
        # Decisions on all samples share the kernels and quantities computed from them.
        whole: Sequence[Any] = ()
        decisions: dict[int, WeightedDecision] = {}
        for place, raw in enumerate(groups):
            members = np.flatnonzero(group_of.ravel() == place)
            shares = raw / raw.sum()
            part = attrs.evolve(target, values=target.values[:, members])
            learned = learner.fit_targets(views.weighted(shares), part)
            for member, fitted in zip(members.tolist(), learned, strict=True):
                decision = WeightedDecision.fitted(views, shares, fitted)
                on_all = fitted.support is not None and len(fitted.support) == len(target)
                if on_all and not views.explicit:
                    even = np.ones(len(views))
                    whole = whole or WeightedDecision.fitted(views, even, fitted).projectors
                    used = [whole[m] for m in np.flatnonzero(shares).tolist()]
                    decision = attrs.evolve(decision, projectors=used)
                decisions[member] = attrs.evolve(decision, history=paths[member])
        return [decisions[member] for member in range(len(weights))]

    def _weights(
        self, views: Views, target: Target, random_state: np.random.RandomState
    ) -> tuple[Array, list[tuple[float, ...]]]:
        """Return the weights of each target (T, M), each up to a factor, and its errors by step."""
        n_rows = len(target)
        some = np.arange(n_rows)
        if n_rows > self.rows:
            some = np.sort(random_state.permutation(n_rows)[: self.rows])
        known = [view.restricted(some) if len(some) < n_rows else view for view in views]
        grams = [np.asarray(view.gram(keep=False), np.float64) for view in known]
        values = np.asarray(target.values, np.float64)[some].reshape(len(some), -1)
        spread = values.std(axis=0)
        sizes = np.array([np.trace(gram) / len(some) - gram.mean() for gram in grams])
        # A kernel that is constant on these samples has no information about them.
        varies = sizes > np.finfo(np.float64).eps * np.array([np.abs(g).max() for g in grams])
        used = np.flatnonzero(varies)
        weights = np.ones((values.shape[1], len(views)))
        paths: list[tuple[float, ...]] = [()] * len(weights)
        if len(used) < 2:
            weights[:, ~varies] = 0 if len(used) else 1
            return weights, paths
        # A constant target keeps its initial weights.
        learned = np.flatnonzero(spread > 0)
        targets = (values - values.mean(axis=0))[:, learned] / spread[learned]
        logarithms = np.tile(-np.log(sizes[used]), (len(weights), 1))
        ended = True
        if len(learned):
            groups = None if target.groups is None else target.groups[some]
            logarithms[learned], errors, ended = least_loo_errors(
                [grams[m] for m in used], targets, sizes[used], self.max_iter, self.tol, groups
            )
            for place, path in zip(learned, (errors * spread[learned] ** 2).T, strict=True):
                paths[place] = tuple(path.tolist())
        if not ended:
            warnings.warn(
                f"loo-ridge stopped after max_iter={self.max_iter} steps while the error still"
                " fell; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        factors = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
        shares = factors * sizes[used]
        least = 1e-8 * shares.max(axis=1, keepdims=True)
        weights[:] = 0
        weights[:, used] = np.where(shares > least, factors, 0)
        return weights, paths
