"""Kernel weights of least leave-one-out error of ridge regression."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
import scipy.linalg
from attrs.validators import ge, gt, instance_of
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from mklkit.combiners.templates.weighting import LearnedWeighting, WeightedDecision, on_simplex
from mklkit.numerics.ridge import GramRidge, WeightedRows
from mklkit.protocols import Array, CombinerFacts, Learner, Target, Views
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register

FEW_ROWS = 150
"""Rows on which several starts are tried."""
GROUPS = 8
"""Factors that are tried at once for several targets."""
SLOW = 0.01
"""Their search ends with the first step that lowers the mean error by less than this share."""


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
    joins_targets: ClassVar[bool] = True
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
        if len(views) == 1:
            return np.ones(1)
        used, grams, sizes, targets = self._on_some_rows(views, target, random_state)
        if not len(used):
            return np.ones(len(views))
        few = np.arange(len(targets))
        if len(few) > FEW_ROWS:
            few = random_state.permutation(len(few))[:FEW_ROWS]
        starts = self._starts([gram[np.ix_(few, few)] for gram in grams], targets[few], sizes)
        factors, ended = least_loo_error(
            grams, targets, starts, self.max_iter, self.tol, only_if_lower=True
        )
        self._warn_unless(ended)
        weights = np.zeros(len(views))
        weights[used] = _without_traces(factors, sizes)
        return weights

    def fit_targets(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> list[WeightedDecision]:
        """Return a decision for each column of numbers (N, T), of targets alike the same weights.

        They share the search, in which each takes the best of what is tried for all.
        """
        used, grams, sizes, targets = self._on_some_rows(views, target, random_state)
        weights = np.ones((targets.shape[1], len(views)))
        if len(used):
            logarithms, ended = least_loo_errors(grams, targets, sizes, self.max_iter)
            self._warn_unless(ended)
            weights[:] = 0
            factors = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
            weights[:, used] = _without_traces(factors, sizes)
        groups, group_of = np.unique(weights, axis=0, return_inverse=True)
        decisions: dict[int, WeightedDecision] = {}
        for place, raw in enumerate(groups):
            members = np.flatnonzero(group_of.ravel() == place)
            shares = on_simplex(raw, views.labels, self.name)
            part = attrs.evolve(target, values=target.values[:, members])
            learned = learner.fit_targets(views.weighted(shares), part)
            for member, fitted in zip(members.tolist(), learned, strict=True):
                decisions[member] = WeightedDecision.fitted(views, shares, fitted)
        return [decisions[member] for member in range(len(weights))]

    def _on_some_rows(
        self, views: Views, target: Target, random_state: np.random.RandomState
    ) -> tuple[NDArray[np.intp], list[Array], Array, Array]:
        """Return the kernels that vary on some rows (n,), their Gram matrices and sizes there, and
        the targets (n, T), of mean zero and standard deviation one.
        """
        n_rows = len(target)
        some = np.arange(n_rows)
        if n_rows > self.rows:
            some = np.sort(random_state.permutation(n_rows)[: self.rows])
        known = [view.restricted(some) if len(some) < n_rows else view for view in views]
        grams = [np.asarray(view.gram(keep=False), np.float64) for view in known]
        values = np.asarray(target.values, np.float64)[some]
        values = values.reshape(len(some), -1)
        spread = values.std(axis=0)
        sizes = np.array([np.trace(gram) / len(some) - gram.mean() for gram in grams])
        # A kernel that is constant on these rows can say nothing about them.
        varies = sizes > np.finfo(np.float64).eps * np.array([np.abs(g).max() for g in grams])
        used = np.flatnonzero(varies)
        targets = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1)
        return used, [grams[m] for m in used], sizes[used], targets

    def _warn_unless(self, ended: bool) -> None:
        if not ended:
            warnings.warn(
                f"loo-ridge stopped after max_iter={self.max_iter} steps while the error still"
                " fell; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _starts(self, grams: list[Array], targets: Array, sizes: Array) -> list[Array]:
        """Return where to start: equal sizes, and the lowest end of descents on a few rows.

        Each has many times the best ridge of the even sum, which explains with irrelevant kernels
        what others can.
        """
        even = sum(gram / size for gram, size in zip(grams, sizes, strict=True))
        rows = WeightedRows.of(len(targets), None, True)
        ridge = GramRidge(even, rows).best_ridges(targets)
        tried = [1 / (sizes * ridge * times) for times in (10, 100, 1000)]
        lowest = least_loo_error(grams, targets, tried, self.max_iter, self.tol)[0]
        return [1 / (sizes * ridge * 30), lowest]


@attrs.frozen(eq=False)
class LooError:
    """The mean squared leave-one-out error of targets, as a function of the kernels' factors.

    With A = I + Σ_m η_m K_m, and P = A⁻¹ − A⁻¹11ᵀA⁻¹/(1ᵀA⁻¹1) for the intercept, the error of row i
    is (Py)_i/P_ii: the ridge is one, and the factors η hold its inverse. In the logarithms of η the
    gradient takes one more product of matrices for all kernels together.

    O(N³ + (M + T)N²) for a value with its gradient, of M kernels (N, N) and targets (N, T). Source:
    Cawley and Talbot, "Preventing over-fitting during model selection via Bayesian regularisation
    of the hyper-parameters", JMLR 8 (2007), for one kernel.
    """

    grams: Sequence[Array]
    targets: Array

    def __call__(self, logarithms: Array) -> tuple[float, Array]:
        """Return the error and its gradient (M,) for log η (M,)."""
        factors = np.exp(logarithms)
        projected = self.projected(factors)
        if projected is None:
            return np.inf, np.zeros(len(factors))
        dual = projected @ self.targets
        diagonal = np.diagonal(projected)[:, None]
        errors = dual / diagonal
        size = errors.size
        slopes = 2 * errors / diagonal
        middle = np.sqrt(np.sum(slopes * errors, axis=1))
        scaled = projected * middle
        # Of symmetric matrices only products with K_m are taken.
        change = scaled @ scaled.T - (projected @ slopes) @ dual.T
        gradient = np.array([np.vdot(gram, change) for gram in self.grams])
        return float(np.sum(errors**2) / size), factors * gradient / size

    def changes(self, factors: Array, projected: Array, errors: Array, of: Any) -> Array:
        """Return the derivatives (t, N, M) by log η of the errors (N, T) of targets ``of`` (t,).

        As P changes by −η_m P K_m P, in a product of matrices for each kernel.
        """
        diagonal = np.diagonal(projected)[:, None]
        dual, changes = errors[:, of] * diagonal, []
        for factor, gram in zip(factors, self.grams, strict=True):
            product = projected @ gram
            change = errors[:, of] * np.einsum("ij,ij->i", product, projected)[:, None]
            changes.append(factor * (change - product @ dual) / diagonal)
        return np.transpose(changes, (2, 1, 0))

    def projected(self, factors: Array) -> Array | None:
        """Return P, or None where A is not positive definite."""
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


def least_loo_error(
    grams: Sequence[Array],
    targets: Array,
    starts: Sequence[Array],
    max_iter: int,
    tol: float,
    only_if_lower: bool = False,
) -> tuple[Array, bool]:
    """Return the factors η (M,) of least leave-one-out error, and whether the descent ended.

    By L-BFGS in log η, until the error's logarithm falls by less than ``tol``; of several starts
    the lowest end is taken, of later ones only from where the error is below the lowest end so far
    if ``only_if_lower``. Targets (N, T) are of about the same size, as all count the same.
    """
    error = LooError(grams, targets)

    def logarithm(at: Array) -> tuple[float, Array]:
        value, gradient = error(at)
        least = max(value, np.finfo(np.float64).tiny)
        return np.log(least), gradient / least

    best: Any = None
    for start in starts:
        logarithms = np.log(np.maximum(start, np.finfo(np.float64).tiny))
        if only_if_lower and best is not None and logarithm(logarithms)[0] >= best.fun:
            continue
        # Bounds on one side only: between two, the first step has the gradient's own length.
        descent = minimize(
            logarithm,
            logarithms,
            jac=True,
            method="L-BFGS-B",
            bounds=[(None, value + 15) for value in logarithms],
            options={"maxiter": max_iter, "ftol": tol},
        )
        if best is None or descent.fun < best.fun:
            best = descent
    return np.exp(best.x), bool(best.status != 1)


def least_loo_errors(
    grams: Sequence[Array], targets: Array, sizes: Array, max_iter: int
) -> tuple[Array, bool]:
    """Return log η (T, M) of low leave-one-out error of each target, and whether the search ended.

    A Gauss–Newton step in log η from its best point, damped as by Levenberg and Marquardt, says
    where each target would go. Few points among these are tried for all targets, so that a step of
    all takes as many inversions as there are points. Starts from kernels of equal size.
    """
    error, n_targets, n_kernels = LooError(grams, targets), targets.shape[1], len(grams)
    even = sum(gram / size for gram, size in zip(grams, sizes, strict=True))
    rows = WeightedRows.of(len(targets), None, True)
    ridge = float(np.median(GramRidge(even, rows).best_ridges(targets)))
    points = -np.log(3 * ridge * sizes)[None]
    best, least = np.tile(points, (n_targets, 1)), np.full(n_targets, np.inf)
    slopes, curvatures = (
        np.zeros((n_targets, n_kernels)),
        np.zeros((n_targets, n_kernels, n_kernels)),
    )
    damping = np.ones(n_targets)
    for _ in range(max_iter):
        before = least.copy()
        for point in points:
            factors = np.exp(point)
            projected = error.projected(factors)
            if projected is None:
                continue
            errors = projected @ targets / np.diagonal(projected)[:, None]
            squares = np.mean(errors**2, axis=0)
            lower = np.flatnonzero(squares < least)
            if len(lower):
                changes = error.changes(factors, projected, errors, lower)
                best[lower], least[lower] = point, squares[lower]
                slopes[lower] = np.einsum("tnm,nt->tm", changes, errors[:, lower])
                curvatures[lower] = np.einsum("tnm,tnk->tmk", changes, changes, optimize=True)
        if not least.sum() < (1 - SLOW) * before.sum():
            return best, True
        damping *= np.where(least < before, 0.25, 4)
        own = np.einsum("tmm->tm", curvatures)
        ridges = damping[:, None] * np.maximum(own, 1e-3 * own.mean(axis=1, keepdims=True))
        ridges = np.maximum(ridges, np.finfo(np.float64).tiny)
        damped = curvatures + ridges[:, :, None] * np.eye(n_kernels)
        steps = np.linalg.solve(damped, slopes[:, :, None])[:, :, 0]
        points = spread_points(best - np.clip(steps, -3, 3), GROUPS)
    return best, False


def spread_points(points: Array, count: int) -> Array:
    """Return at most ``count`` means of near points (T, M): k-means from those furthest apart."""
    # A factor far below the largest is as good as none.
    points = np.maximum(points, points.max(axis=1, keepdims=True) - 6)
    centres, apart = points[:1], np.full(len(points), np.inf)
    for _ in range(min(count, len(points)) - 1):
        apart = np.minimum(apart, np.square(points - centres[-1]).sum(axis=1))
        centres = np.vstack([centres, points[apart.argmax()]])
    for _ in range(5):
        nearest = np.square(points[:, None] - centres).sum(axis=2).argmin(axis=1)
        centres = np.array([points[nearest == k].mean(axis=0) for k in np.unique(nearest)])
    return centres


def _without_traces(factors: Array, sizes: Array) -> Array:
    """Return the factors (…, M), zero where a kernel's share is next to nothing."""
    shares = factors * sizes
    return np.where(shares > 1e-8 * shares.max(axis=-1, keepdims=True), factors, 0)
