"""Kernel weights that minimise the leave-one-out error of ridge regression."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
import scipy.linalg
from attrs.validators import ge, gt, instance_of
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mklkit.learners import Ridge
from mklkit.plugin import (
    Array,
    CombinerFacts,
    GramSide,
    LearnedWeighting,
    Learner,
    Target,
    Views,
    WeightedDecision,
    as_int,
    finite_number,
    register,
)

STARTS = (3, 30, 300)
"""The first ridges to try, as multiples of the best one for kernels of equal size."""
PRICE = 0.003
"""The penalty, as a share of the error, on growing all kernels e-fold."""
PATIENCE = 3
"""The most steps in a row without a lower error for one target, each shorter than the last."""
GROUPS = 12
"""The number of factors to try at once for several targets."""
SLOW = 0.1
"""Their search ends at the first step that lowers no target's error by this share."""


@register
@attrs.frozen
class LooRidge(LearnedWeighting):
    """Minimise the leave-one-out error of ridge regression over the kernel weights and the ridge.

    The error of each row predicted from all others has an exact closed form, and so has its
    gradient. The learner is then fitted on the weighted sum and chooses its own ridge. Two
    classes are learned as numbers −1 and +1.

    Parameters
    ----------
    rows : int, default=500
        The most training rows for learning the weights, drawn at random; more rows make them more
        exact.
    max_iter : int, default=50
        The most steps.
    tol : float, default=1e-3
        The search ends if none of three steps lowers the error by this share; for several targets,
        if a step does not by at least 0.01.

    Warns
    -----
    ConvergenceWarning
        If the error still fell after ``max_iter`` steps.

    Notes
    -----
    Levenberg–Marquardt steps from kernels of equal size and 3, 30 and 300 times the best ridge for
    these; O(Mn³) for n rows and M kernels, and M Gram matrices in memory. Several targets are
    learned at once: each step tries twelve points near the goals of most targets, and targets that
    end at the same point have the same weights. The error need not be convex in the weights. The
    decision's ``history`` has its mean square after each step; since a small penalty on the
    kernels' size is minimised too, it may rise by 0.3 per cent per step.
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
    facts: ClassVar[CombinerFacts] = CombinerFacts(
        learner="ridge", tasks=("two classes", "numbers"), row_weights="learner"
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
        # Decisions on all rows share the kernels and quantities computed from them.
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
        # A kernel that is constant on these rows has no information about them.
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
        logarithms, ended = np.tile(-np.log(sizes[used]), (len(weights), 1)), True
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


@attrs.frozen(eq=False)
class LooError:
    """Leave-one-out errors of ridge regression on targets, as a function of the kernels' factors.

    With A = I + Σ_m η_m K_m, and P = A⁻¹ − A⁻¹11ᵀA⁻¹/(1ᵀA⁻¹1) for the intercept, the error of row i
    is (Py)_i/P_ii: the ridge is one, and the factors η hold its inverse. For the rows of a group,
    which are left out together, the errors solve P_GG e_G = (Py)_G.

    O(N³ + (M + T)N²) for the errors, of M kernels (N, N) and targets (N, T), and O(MN³) for their
    derivatives. Source: Cawley and Talbot, "Preventing over-fitting during model selection via
    Bayesian regularisation of the hyper-parameters", JMLR 8 (2007), for one kernel.
    """

    grams: Sequence[Array]
    targets: Array
    groups: NDArray[np.intp] | None = None

    def projected(self, factors: Array) -> Array | None:
        """Return P (N, N), or None if A is not positive definite."""
        matrix = np.eye(len(self.targets))
        for factor, gram in zip(factors, self.grams, strict=True):
            matrix += factor * gram
        factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1)
        if not failed:
            inverse, failed = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
        if failed:
            return None
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        sums = inverse.sum(axis=0)
        inverse -= np.outer(sums, sums / sums.sum())
        return inverse

    def errors(self, projected: Array) -> Array:
        """Return the errors (N, T)."""
        return self._divided(projected @ self.targets, projected)

    def _divided(self, values: Array, projected: Array) -> Array:
        """Return values (N, T) divided by the diagonal of P, or by its blocks of groups."""
        if self.groups is None:
            return values / np.diagonal(projected)[:, None]
        return scipy.linalg.solve(self._blocks(projected), values, assume_a="pos")

    def _blocks(self, matrix: Array) -> Array:
        groups = np.asarray(self.groups)
        return np.where(groups[:, None] == groups, matrix, 0)

    def changes(self, factors: Array, projected: Array, errors: Array) -> Array:
        """Return the derivatives (T, N, M) of some targets' errors (N, T) by log η.

        P changes by −η_m P K_m P, which takes one matrix product per kernel.
        """
        dual, changes = errors * np.diagonal(projected)[:, None], []
        if self.groups is not None:
            dual = self._blocks(projected) @ errors
        for factor, gram in zip(factors, self.grams, strict=True):
            product = projected @ gram
            if self.groups is None:
                change = errors * np.einsum("ij,ij->i", product, projected)[:, None]
            else:
                change = self._blocks(product @ projected) @ errors
            changes.append(factor * self._divided(change - product @ dual, projected))
        return np.transpose(changes, (2, 1, 0))


def least_loo_errors(
    grams: Sequence[Array],
    targets: Array,
    sizes: Array,
    max_iter: int,
    tol: float,
    groups: NDArray[np.intp] | None = None,
) -> tuple[Array, Array, bool]:
    """Return log η (T, M) of low leave-one-out errors, these by step (n, T), and whether it ended.

    A Levenberg–Marquardt step in log η from its best point gives a goal for each target. Only a few
    points near the goals are tried, for all targets, so a step takes as many inversions as there
    are points. The search starts from kernels of equal size.
    """
    error, n_targets, n_kernels = LooError(grams, targets, groups), targets.shape[1], len(grams)
    even = sum(gram / size for gram, size in zip(grams, sizes, strict=True))
    together = Ridge().fit(GramSide(even), Target("numbers", targets, groups=groups))
    ridges = np.unique(np.quantile(together.alpha, [0, 0.5, 1], method="nearest"))
    points = -np.log(np.multiply.outer(np.outer(ridges, STARTS).ravel(), sizes))
    best, least = np.tile(points[:1], (n_targets, 1)), np.full(n_targets, np.inf)
    slopes = np.zeros((n_targets, n_kernels))
    curvatures = np.zeros((n_targets, n_kernels, n_kernels))
    damping, idle, means, history = np.ones(n_targets), 0, least.copy(), []
    # With several targets, some target nearly always gains, but late gains are small.
    slow, patience = (tol, PATIENCE) if n_targets == 1 else (max(tol, SLOW), 1)
    for _ in range(max_iter):
        before = least.copy()
        for point in points:
            factors = np.exp(point)
            projected = error.projected(factors)
            if projected is None:
                continue
            errors = error.errors(projected)
            spreads = factors * sizes
            squares = np.sum(errors**2, axis=0) * np.exp(PRICE * np.log1p(spreads).mean())
            lower = np.flatnonzero(squares < least)
            if len(lower):
                changes = error.changes(factors, projected, errors[:, lower])
                best[lower], least[lower] = point, squares[lower]
                means[lower] = np.mean(errors[:, lower] ** 2, axis=0)
                slopes[lower] = np.einsum("tnm,nt->tm", changes, errors[:, lower])
                push = spreads / (1 + spreads) / n_kernels
                slopes[lower] += PRICE / 2 * np.outer(np.sum(errors[:, lower] ** 2, axis=0), push)
                curvatures[lower] = np.einsum("tnm,tnk->tmk", changes, changes, optimize=True)
        history.append(means.copy())
        idle = 0 if (least < (1 - slow) * before).any() else idle + 1
        if idle == patience:
            return best, np.array(history), True
        damping *= np.where(least < before, 0.25, 4)
        scales = np.einsum("tmm->tm", curvatures)
        scales = np.maximum(scales, 0.1 * scales.mean(axis=1, keepdims=True))
        ridges = np.maximum(damping[:, None] * scales, np.finfo(np.float64).tiny)
        damped = curvatures + ridges[:, :, None] * np.eye(n_kernels)
        steps = np.linalg.solve(damped, slopes[:, :, None])[:, :, 0]
        moved = best - np.clip(steps, -3, 3)
        gains = np.einsum("tm,tm->t", steps, slopes) / np.maximum(least, np.finfo(np.float64).tiny)
        # Points near the goals of most targets, and the goals of those that would gain most.
        ahead = np.argsort(-gains, kind="stable")[: GROUPS // 3]
        points = np.vstack([moved[ahead], spread_points(moved, GROUPS - len(ahead))])
    return best, np.array(history), False


def spread_points(points: Array, count: int) -> Array:
    """Return at most ``count`` cluster means of points (T, M): k-means from the furthest points."""
    # If both are far below the largest factor, the distance does not matter.
    placed = np.maximum(points, points.max(axis=1, keepdims=True) - 6)
    centres, apart = placed[:1], np.full(len(points), np.inf)
    for _ in range(min(count, len(points)) - 1):
        apart = np.minimum(apart, np.square(placed - centres[-1]).sum(axis=1))
        centres = np.vstack([centres, placed[apart.argmax()]])
    for _ in range(5):
        nearest = np.square(placed[:, None] - centres).sum(axis=2).argmin(axis=1)
        groups = [nearest == k for k in np.unique(nearest)]
        centres = np.array([placed[group].mean(axis=0) for group in groups])
    return np.array([points[group].mean(axis=0) for group in groups])
