"""SimpleMKL: kernel weights by descent on the simplex."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

import attrs
import numpy as np
import scipy.linalg
from scipy.optimize import minimize

from mklkit.plugin import Array, CombinerTraits, register
from mklkit_optimize.base import SaddleWeighting
from mklkit_optimize.saddle import (
    RAISE_LIMIT,
    InnerSolution,
    SaddleProblem,
    relative_gap,
    warn_of_gap,
)

SUFFICIENT = 0.1
"""A step must lower J by this share of the decrease that the slope at its start predicts."""
SEARCH_STEPS = 10
NO_STEP = "no step lowers J: raise tol, or check that all kernels are definite."
ROUNDING = 1e-12
RIDGE = 1e-10


@register
@attrs.frozen
class SimpleMKL(SaddleWeighting):
    """Minimise J(σ) on the simplex, by its gradient and its curvature.

    A step goes to the minimum, on the simplex, of the second-order model of J at σ, or is halved
    until J falls; if that fails, it follows the reduced gradient.

    Parameters
    ----------
    tol : float, default=1e-5
        Relative duality gap at which the iteration ends.
    max_iter : int, default=1000
        The most support vector machines to solve.
    C : float, optional
        C of the inner support vector machines; by default the learner's (1 if it has none). Numbers
        are learned by inner ridge regressions, or by support vector regression for ``svr``.

    Warns
    -----
    ConvergenceWarning
        If the gap is above ``tol`` after ``max_iter`` support vector machines.

    Notes
    -----
    Cost: one or two support vector machines per step, and O(F³ + MF²) for F support vectors with α
    < C.

    M Gram matrices of memory; per step one or two support vector machines, and the Hessian in
    O(F³ + MF²) for F support vectors with α < C. The publication follows only the reduced gradient,
    whose steps are short near an ill-conditioned optimum: on 800 samples with a linear kernel
    and three Gaussian ones it solved 528 support vector machines to reach the same J as 11 here.
    Sources: Rakotomamonjy, Bach, Canu and Grandvalet (2008), Algorithm 1; Chapelle and
    Rakotomamonjy (2008) for the Hessian.

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
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learns=("two classes", "numbers"), row_weights="throughout"
    )

    def solve(self, problem: SaddleProblem) -> Array:
        """Return σ on the simplex."""
        solution = problem.at(np.full(problem.n_kernels, 1 / problem.n_kernels))
        machines = 1
        least = relative_gap(solution)
        bound = _lower_bound(solution)
        # If several machines are optimal at σ, that of another σ may give a better bound at σ.
        while (gap := _gap_to(bound, solution)) > self.tol:
            following = None
            for tried in islice(_tried(problem, solution), self.max_iter - machines):
                machines += 1
                bound = max(bound, _lower_bound(tried))
                if _is_progress(solution, tried, least):
                    following = tried
                    break
            if following is None:
                gap = _gap_to(bound, solution)
                remedy = RAISE_LIMIT if machines == self.max_iter else NO_STEP
                if gap > self.tol:
                    warn_of_gap(self.name, machines, gap, self.tol, solution, remedy)
                break
            solution = following
            least = min(least, relative_gap(solution))
        return solution.weights


def descent_direction(weights: Array, gradient: Array) -> Array:
    """Return the negative reduced gradient on the simplex; its components sum to zero.

    Examples
    --------
    >>> descent_direction(np.array([0.5, 0.5, 0.0]), np.array([-1.0, -3.0, -0.5]))
    array([-2.,  2.,  0.])
    """
    largest = int(np.argmax(weights))
    direction = gradient[largest] - gradient
    direction[(weights <= 0) & (direction < 0)] = 0.0
    direction[largest] = 0.0
    direction[largest] = -direction.sum()
    # Rounding errors in components that should be zero would cause endless tiny steps.
    direction[np.abs(direction) <= ROUNDING * np.abs(direction).max()] = 0.0
    return direction


def newton_direction(problem: SaddleProblem, solution: InnerSolution) -> Array:
    """Return the direction to the minimum, on the simplex, of the second-order model of J."""
    slopes = -0.5 * solution.forms
    size = float(np.abs(slopes).max())
    hessian = curvature(problem, solution) / size
    slopes = slopes / size

    def model(weights: Array) -> tuple[float, Array]:
        moved = weights - solution.weights
        turned = hessian @ moved
        return float(slopes @ moved + 0.5 * moved @ turned), slopes + turned

    optimum = minimize(
        model,
        solution.weights,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(slopes),
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 200},
    )
    target = np.maximum(optimum.x, 0.0)
    target[target <= ROUNDING] = 0.0
    return target / target.sum() - solution.weights


def curvature(problem: SaddleProblem, solution: InnerSolution) -> Array:
    """Return the Hessian of J (M, M).

    It is VᵀPV, where V has the columns K_m(α∘y) at the support vectors with α < C and P = K⁻¹ −
    K⁻¹11ᵀK⁻¹/(1ᵀK⁻¹1): as σ changes, these samples stay on the margin, and the other α at their
    bounds. In ridge regression this holds for all samples, and K has the ridge on its diagonal.
    """
    free = problem.free(solution.signed)
    flat = np.zeros((problem.n_kernels, problem.n_kernels))
    if not len(free):
        return flat
    gram = np.zeros((len(free), len(free)))
    for index in np.flatnonzero(solution.weights):
        gram += solution.weights[index] * problem.grams[index][np.ix_(free, free)]
    rounding = RIDGE * float(np.trace(gram)) / len(free)
    gram.flat[:: len(free) + 1] += np.maximum(problem.ridge[free], rounding)
    columns = np.column_stack([np.ones(len(free)), solution.products[:, free].T])
    try:
        inverse = scipy.linalg.cho_solve(scipy.linalg.cho_factor(gram), columns)
    except scipy.linalg.LinAlgError:  # an indefinite kernel
        return flat
    products = columns.T @ inverse
    return products[1:, 1:] - np.outer(products[1:, 0], products[0, 1:]) / products[0, 0]


def _tried(problem: SaddleProblem, start: InnerSolution) -> Iterator[InnerSolution]:
    """Yield solutions at ever shorter steps, first with the Hessian and then without it."""
    if not start.ended:
        return
    reduced = descent_direction(start.weights, -0.5 * start.forms)
    for direction, longest in ((newton_direction(problem, start), 1.0), (reduced, None)):
        if direction @ start.forms <= 0:
            continue
        falling = direction < 0
        edge = float(np.min(-start.weights[falling] / direction[falling]))
        length = edge if longest is None else longest
        for _ in range(SEARCH_STEPS):
            weights = np.maximum(start.weights + length * direction, 0.0)
            solution = problem.at(weights / weights.sum())
            yield solution
            length /= 2


def _lower_bound(solution: InnerSolution) -> float:
    """Return a lower bound of J over all σ."""
    return solution.linear - 0.5 * float(solution.forms.max())


def _gap_to(bound: float, solution: InnerSolution) -> float:
    return (solution.objective - bound) / max(abs(solution.objective), np.finfo(float).tiny)


def _is_progress(before: InnerSolution, after: InnerSolution, least: float) -> bool:
    """Return whether J fell by a share of its predicted decrease or, near the end, the gap did.

    The gap must halve its least value so far, since J may rise repeatedly.
    """
    promised = 0.5 * float((before.weights - after.weights) @ before.forms)
    fell = before.objective - after.objective
    if promised < 0 and fell >= -SUFFICIENT * promised:
        return True
    return relative_gap(after) <= 0.5 * least
