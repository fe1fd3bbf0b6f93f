"""SimpleMKL: kernel weights by reduced gradient steps on the simplex."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from mklkit_optimize.base import SaddleWeighting
from mklkit_optimize.gram_sums import Array
from mklkit_optimize.saddle import (
    RAISE_LIMIT,
    InnerSolution,
    SaddleProblem,
    relative_gap,
    warn_of_gap,
)

__all__ = ["SimpleMKL", "descent_direction"]

SLOPE_LEFT = 0.1
"""A line search ends where this share of the slope at its start is left."""
SEARCH_STEPS = 30
ROUNDING = 1e-12


@attrs.frozen
class SimpleMKL(SaddleWeighting):
    """Descend J(σ) along its reduced gradient, each step as far as the simplex and J allow.

    A direction is followed to the edge of the simplex as long as J falls there, the component that
    has reached zero being taken out each time; then a line search finds the minimum before the
    edge.

    Parameters
    ----------
    tol : float, default=1e-5
        Relative duality gap at which the iteration ends.
    max_iter : int, default=1000
    C : float, optional
        Of the inner machines; the learner's own where not given (1 if it has none).

    Warns
    -----
    ConvergenceWarning
        If the gap is above ``tol`` after ``max_iter`` steps.

    Notes
    -----
    M Gram matrices of memory; a few machines a step. The line search reads the slope (the machine
    gives it for nothing) where the publication's golden section reads J.
    Source: Rakotomamonjy, Bach, Canu and Grandvalet (2008), Algorithm 1.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=SimpleMKL(tol=1e-3)).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "simplemkl"

    def solve(self, problem: SaddleProblem) -> Array:
        """Return σ on the simplex."""
        solution = problem.at(np.full(problem.n_kernels, 1 / problem.n_kernels))
        steps, remedy = 0, RAISE_LIMIT
        while (gap := relative_gap(solution)) > self.tol:
            following = solution if steps == self.max_iter else _step(problem, solution)
            if following is solution:
                if steps < self.max_iter:
                    remedy = "no step lowers the objective: raise tol, or are all kernels definite?"
                warn_of_gap(self.name, steps, gap, self.tol, remedy)
                break
            solution, steps = following, steps + 1
        return solution.weights


def descent_direction(weights: Array, gradient: Array) -> Array:
    """Return the negative reduced gradient on the simplex; its components sum to zero.

    Parameters
    ----------
    weights, gradient : ndarray of shape (M,)

    Examples
    --------
    >>> descent_direction(np.array([0.5, 0.5, 0.0]), np.array([-1.0, -3.0, -0.5]))
    array([-2.,  2.,  0.])
    """
    largest = int(np.argmax(weights))
    direction = gradient[largest] - gradient
    direction[(weights <= 0) & (direction < 0)] = 0.0
    return _balanced(direction, largest)


def _balanced(direction: Array, largest: int) -> Array:
    """Return the direction with its sum brought to zero by the largest weight's component."""
    direction[largest] = 0.0
    direction[largest] = -direction.sum()
    # What rounding leaves of a component that should be zero would make steps without end.
    direction[np.abs(direction) <= ROUNDING * np.abs(direction).max()] = 0.0
    return direction


def _step(problem: SaddleProblem, start: InnerSolution) -> InnerSolution:
    """Return the solution after one step; the start itself where no step lowers J."""
    solution = start
    direction = descent_direction(start.weights, -0.5 * start.forms)
    largest = int(np.argmax(start.weights))
    while (direction < 0).any():
        edge = _to_the_edge(problem, solution.weights, direction)
        if edge.objective >= solution.objective:
            break
        out = int(np.flatnonzero((direction < 0) & (edge.weights == 0))[0])
        solution, direction = edge, direction.copy()
        if out == largest:
            return solution
        direction[out] = 0.0
        direction = _balanced(direction, largest)
    if not (direction < 0).any():
        return solution
    return _search(problem, solution, direction)


def _furthest(weights: Array, direction: Array) -> tuple[float, int]:
    falling = np.flatnonzero(direction < 0)
    steps = -weights[falling] / direction[falling]
    first = int(np.argmin(steps))
    return float(steps[first]), int(falling[first])


def _to_the_edge(problem: SaddleProblem, weights: Array, direction: Array) -> InnerSolution:
    length, out = _furthest(weights, direction)
    edge = np.maximum(weights + length * direction, 0.0)
    edge[out] = 0.0
    return problem.at(edge / edge.sum())


def _search(problem: SaddleProblem, start: InnerSolution, direction: Array) -> InnerSolution:
    """Return the lowest solution found between the start and the edge, J being convex there."""
    slope = -0.5 * float(direction @ start.forms)
    longest, _ = _furthest(start.weights, direction)
    if slope >= 0 or longest == 0:
        return start
    low, high, best = 0.0, longest, start
    for _ in range(SEARCH_STEPS):
        middle = (low + high) / 2
        weights = np.maximum(start.weights + middle * direction, 0.0)
        seen = problem.at(weights / weights.sum())
        best = min(best, seen, key=lambda solution: solution.objective)
        here = -0.5 * float(direction @ seen.forms)
        if best is seen and abs(here) <= SLOPE_LEFT * abs(slope):
            break
        low, high = (middle, high) if here < 0 else (low, middle)
    return best
