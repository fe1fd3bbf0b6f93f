"""The support vector machine on features, solved by sums over blocks of samples.

Newton's method on a smooth upper bound of the hinge loss that is quadratic within h of the margin
(Chapelle 2007, "Training a support vector machine in the primal"), for decreasing h. Slopes of the
bound are dual variables, so each step bounds its distance from the optimum.
"""

from __future__ import annotations

import attrs
import numpy as np
import scipy.linalg

from mklkit.display.numbers import significant
from mklkit.errors import DataError
from mklkit.numerics.least_squares import cholesky_or_none
from mklkit.protocols import Array, TrainingView

STEEPEST, FLATTEST = 0.1, 0.4
"""The range of factors by which the width h decreases from one problem to the next."""


@attrs.frozen(eq=False)
class SVMSolution:
    """Coefficients of the training samples (N,), 0 except for support vectors, or of features (p,).

    ``ended`` is false if the solver was stopped before it reached its tolerance.
    """

    coefficients: Array
    bias: float
    ended: bool


def solve_smoothed(
    side: TrainingView,
    y: Array,
    C: float,
    tol: float,
    most_passes: int,
    row_weights: Array | None = None,
) -> SVMSolution:
    """Return the w and b of min ½‖w‖² + CΣ v_i max(0, 1 − y(wᵀφ + b)) on features.

    The objective is at most the fraction ``tol`` above the optimum, unless it took ``most_passes``
    over the samples. Sample weights v are above 0. A step costs two passes over the samples,
    O(Np + np² + p³) for the n samples within h of the margin, and a few vectors of N numbers;
    fifteen to forty steps are taken.
    """
    labels = np.asarray(y, dtype=np.float64)
    costs = np.full(len(labels), C) if row_weights is None else C * row_weights
    outputs = np.zeros(len(labels))
    bias = 0.0
    weights: Array | None = None
    best = SVMSolution(np.zeros(0), 0.0, False)
    upper = np.inf
    lower = 0.0
    width = 1.0
    for _ in range(0, most_passes, 2):
        slack = 1 - labels * outputs
        alphas = costs * np.clip((slack + width) / (2 * width), 0, 1)
        curvature = np.where(np.abs(slack) <= width, costs / (2 * width), 0.0)
        signed = labels * alphas
        both = np.column_stack([curvature, np.maximum(signed, 0), np.maximum(-signed, 0)])
        products, sums = side.weighted_products(curvature, both)
        weights = np.zeros(len(products)) if weights is None else weights
        objective = 0.5 * float(weights @ weights) + float(costs @ np.maximum(slack, 0))
        if not (np.isfinite(objective) and np.isfinite(sums).all()):
            raise too_large(np.sqrt(np.abs(products).max()))
        if objective < upper:
            best = SVMSolution(weights, bias, False)
            upper = objective
        lower = max(lower, _dual_objective(both[:, 1].sum(), both[:, 2].sum(), sums[:, 1:]))
        if upper - lower <= tol * upper:
            return _with_best_bias(side, labels, costs, best)
        smoothed = width * float(alphas @ (1 - alphas / costs))
        # Close to its minimum, the distance of the bound from the hinge loss depends on its width.
        if objective - lower <= 2 * smoothed:
            wanted = tol * upper / max(smoothed, np.finfo(float).tiny)
            width *= float(np.clip(wanted, STEEPEST, FLATTEST))
            if width < 1e-9:
                break
            continue
        stiffness = curvature.sum() or costs.max() / width
        move, shift = _newton_step(products, sums, weights, stiffness, signed)
        moved = np.asarray(side.project(move), dtype=np.float64) + shift
        length = _line_search(weights, move, labels * moved, slack, width, costs)
        if length == 0:
            width *= FLATTEST
        weights, bias = weights + length * move, bias + length * shift
        outputs += length * moved
    return attrs.evolve(_with_best_bias(side, labels, costs, best), ended=False)


def _dual_objective(positive: float, negative: float, sums: Array) -> float:
    """Return a lower bound of the optimum from Σα and Σαφ of each class, α between 0 and C.

    α is feasible once the larger class's is scaled down to the smaller one's sum.
    """
    both = min(positive, negative)
    if not both > 0:
        return 0.0
    vector = sums[:, 0] * (both / positive) - sums[:, 1] * (both / negative)
    length = float(vector @ vector)
    scale = min(1.0, 2 * both / length) if length > 0 else 1.0
    return scale * (2 * both - scale * length / 2)


def _newton_step(
    products: Array, sums: Array, weights: Array, stiffness: float, signed: Array
) -> tuple[Array, float]:
    """Return the step of the weights (p,) and of the bias, which is eliminated first."""
    slope = weights - sums[:, 1] + sums[:, 2]
    slope_of_bias = -float(signed.sum())
    border = sums[:, 0]
    matrix = products - np.outer(border, border / stiffness)
    diagonal = np.diag_indices_from(matrix)
    matrix[diagonal] += 1
    factor = cholesky_or_none(matrix.copy())
    if factor is None:
        # For features far from zero, differences are lost in rounding.
        matrix[diagonal] += 1e-10 * float(np.trace(products))
        factor = scipy.linalg.cholesky(matrix, lower=True, check_finite=False)
    right = border * (slope_of_bias / stiffness) - slope
    move = scipy.linalg.cho_solve((factor, True), right, check_finite=False)
    return move, -(slope_of_bias + float(border @ move)) / stiffness


def _line_search(
    weights: Array, move: Array, moved: Array, slack: Array, width: float, costs: Array
) -> float:
    """Return the length of a step that minimises the smoothed objective along it.

    The slope along the line increases and is piecewise linear: Newton's steps, kept in an interval.
    """
    inner, length_of_move = float(weights @ move), float(move @ move)

    def slope_at(length: float) -> tuple[float, Array]:
        now = slack - length * moved
        alphas = costs * np.clip((now + width) / (2 * width), 0, 1)
        return inner + length * length_of_move - float(alphas @ moved), now

    first, _ = slope_at(0.0)
    if not first < 0:
        return 0.0
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(30):  # most need two or three
        slope, now = slope_at(length)
        if abs(slope) <= 1e-2 * abs(first):
            break
        low, high = (length, high) if slope < 0 else (low, length)
        near = np.abs(now) <= width
        curvature = float(costs[near] @ moved[near] ** 2) / (2 * width)
        length -= slope / (length_of_move + curvature or np.inf)
        if not low < length < high:
            length = (low + high) / 2 if high < np.inf else 2 * low
    return length if length != high or low == 0 else low


def _with_best_bias(
    side: TrainingView, labels: Array, costs: Array, plane: SVMSolution
) -> SVMSolution:
    outputs = np.asarray(side.project(plane.coefficients), dtype=np.float64)
    return SVMSolution(plane.coefficients, best_bias(outputs, labels, costs), True)


def best_bias(outputs: Array, y: Array, row_weights: Array | None = None) -> float:
    """Return the b that minimises Σ v max(0, 1 − y(f + b)) for outputs f (N,); O(N log N).

    If an interval does, return its midpoint. The weights v default to 1.
    """
    # The sum is convex and piecewise linear: its slope starts at minus the weight of the positive
    # samples and rises by a sample's weight where the sample reaches its margin.
    weights = np.ones(len(y)) if row_weights is None else row_weights
    order = np.argsort(y - outputs)
    slopes = np.cumsum(weights[order]) - weights[y > 0].sum()
    level = np.finfo(float).eps * len(y) * slopes[-1]
    place = int(np.argmax(slopes >= -level))
    last = place + 1 if slopes[place] <= level else place
    return float((y - outputs)[order[[place, last]]].mean())


def too_large(size: float) -> DataError:
    """Return the error for kernel values or features that the solvers can't take."""
    extent = f"as large as {significant(size, 2)}" if np.isfinite(size) else "that are not finite"
    return DataError(
        f"The support vector machine can't be solved with kernel values or features {extent}:"
        f" scale the data (mklkit fit --scale, or StandardScaler), or use kernels"
        " with bounded values, such as 'rbf' or 'cosine(polynomial)'."
    )
