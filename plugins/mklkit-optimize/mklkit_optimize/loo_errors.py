"""Leave-one-out errors of ridge regression, and the factors of kernels that minimise them."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mklkit.learners import Ridge
from mklkit.plugin import Array, GramSide, Target

STARTS = (3, 30, 300)
"""The first ridges to try, as multiples of the best one for kernels of equal size."""
PRICE = 0.003
"""The penalty, as a share of the error, on growing all kernels e-fold."""
PATIENCE = 3
"""The most steps in a sample without a lower error for one target, each shorter than the last."""
GROUPS = 12
"""The number of factors to try at once for several targets."""
SLOW = 0.1
"""Their search ends at the first step that lowers no target's error by this share."""


@attrs.frozen(eq=False)
class LooError:
    """Leave-one-out errors of ridge regression on targets, as a function of the kernels' factors.

    With A = I + Σ_m η_m K_m, and P = A⁻¹ − A⁻¹11ᵀA⁻¹/(1ᵀA⁻¹1) for the intercept, the error of
    sample i is (Py)_i/P_ii: the ridge is one, and the factors η hold its inverse. For samples of a
    group, which are held out together, the errors solve P_GG e_G = (Py)_G.

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
        dual = errors * np.diagonal(projected)[:, None]
        changes = []
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
    error = LooError(grams, targets, groups)
    n_targets = targets.shape[1]
    n_kernels = len(grams)
    even = sum(gram / size for gram, size in zip(grams, sizes, strict=True))
    together = Ridge().fit(GramSide(even), Target.numbers(targets, groups=groups))
    ridges = np.unique(np.quantile(together.alpha, [0, 0.5, 1], method="nearest"))
    points = -np.log(np.multiply.outer(np.outer(ridges, STARTS).ravel(), sizes))
    best, least = np.tile(points[:1], (n_targets, 1)), np.full(n_targets, np.inf)
    slopes = np.zeros((n_targets, n_kernels))
    curvatures = np.zeros((n_targets, n_kernels, n_kernels))
    damping = np.ones(n_targets)
    idle = 0
    means = least.copy()
    history = []
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
                best[lower] = point
                least[lower] = squares[lower]
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
    centers = placed[:1]
    apart = np.full(len(points), np.inf)
    for _ in range(min(count, len(points)) - 1):
        apart = np.minimum(apart, np.square(placed - centers[-1]).sum(axis=1))
        centers = np.vstack([centers, placed[apart.argmax()]])
    for _ in range(5):
        nearest = np.square(placed[:, None] - centers).sum(axis=2).argmin(axis=1)
        groups = [nearest == k for k in np.unique(nearest)]
        centers = np.array([placed[group].mean(axis=0) for group in groups])
    return np.array([points[group].mean(axis=0) for group in groups])
