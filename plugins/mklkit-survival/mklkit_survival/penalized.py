"""Newton's method for the penalised partial likelihood, in coordinates of one decomposition.

In these coordinates f = Φw, the penalty is α‖w‖²/2, and ΦᵀUΦ = diag(λ) where U are the curvatures
at f = 0. So the matrix diag(λ + α) is close to the Hessian for every α and every part of the
samples, and conjugate gradients with it solve Newton's equations in a few products with Φ.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mklkit.plugin import Array
from mklkit_survival.risk_sets import PartialLikelihood, RiskSets

MOST_STEPS, MOST_PRODUCTS, MOST_HALVINGS = 100, 200, 40
"""Newton steps, conjugate gradients in one, and halvings of one: far more than are needed."""
EXACT, ROUGH = 1e-8, 1e-3
"""Newton decrements, relative to the root of the objective, at which a fit and one of those that
choose a penalty end. The objective is then at its minimum up to half of their square."""
SUFFICIENT = 1e-4
"""The share of the predicted decrease with which a step is accepted."""
ROUNDING = 1e-13
"""The decrease of the objective, relative to it, below which only rounding is left."""


@attrs.frozen(eq=False)
class Coordinates:
    """The features Φ of samples by their products, and the curvature λ (r,) of each column."""

    project: Callable[[Array], Array]
    project_back: Callable[[Array], Array]
    curvatures: Array

    @classmethod
    def of(cls, features: Array, curvatures: Array) -> Coordinates:
        """Return those of features (N, r) in memory."""
        return cls(lambda w: features @ w, lambda values: features.T @ values, curvatures)


@attrs.frozen(eq=False)
class Minimum:
    """The minimiser w (r,), its log-hazards f = Φw (N,), and the objective after each step."""

    coefficients: Array
    log_hazards: Array
    history: tuple[float, ...]


@attrs.frozen(eq=False)
class Objective:
    """−ℓ(Φw) + α‖w‖²/2, and its minimum by Newton steps with a line search."""

    coordinates: Coordinates
    risk_sets: RiskSets
    alpha: float

    def minimum(self, start: Array, tolerance: float = EXACT) -> Minimum:
        """Return the minimum, found from coefficients (r,)."""
        project, project_back = self.coordinates.project, self.coordinates.project_back
        w, f = start, project(start)
        likelihood = self.risk_sets.at(f)
        value = self._value(likelihood, w)
        history = [value]
        first = np.inf
        for _ in range(MOST_STEPS):
            gradient = self.alpha * w - project_back(likelihood.residuals())
            size = self._size(gradient)
            if size <= tolerance * np.sqrt(1 + abs(value)):
                return Minimum(w, f, tuple(history))
            first = min(first, size)
            step = self._newton_step(likelihood, gradient, min(0.1, size / (1 + first)))
            along = project(step)
            length, reached = self._line_search(value, w, f, step, along, float(gradient @ step))
            if reached is None:
                return Minimum(w, f, tuple(history))
            w, f = w + length * step, f + length * along
            likelihood, value = reached
            history.append(value)
            if history[-2] - value <= ROUNDING * (1 + abs(value)):
                return Minimum(w, f, tuple(history))
        warnings.warn(
            f"cox stopped after {MOST_STEPS} steps, before its objective was at its minimum: use a"
            " larger alpha, or scale the data.",
            ConvergenceWarning,
            stacklevel=2,
        )
        return Minimum(w, f, tuple(history))

    def _value(self, likelihood: PartialLikelihood, w: Array) -> float:
        return -likelihood.log + self.alpha / 2 * float(w @ w)

    def _size(self, gradient: Array) -> float:
        """Return the norm of a gradient by the approximate Hessian, about the Newton decrement."""
        return float(np.sqrt(np.sum(gradient**2 / (self.coordinates.curvatures + self.alpha))))

    def _newton_step(
        self, likelihood: PartialLikelihood, gradient: Array, tolerance: float
    ) -> Array:
        """Return the solution of Newton's equations by preconditioned conjugate gradients."""
        coordinates = self.coordinates
        scale = coordinates.curvatures + self.alpha
        step, residual = np.zeros_like(gradient), -gradient
        preconditioned = residual / scale
        direction, size = preconditioned, float(residual @ preconditioned)
        enough = tolerance**2 * size
        for _ in range(MOST_PRODUCTS):
            curved = likelihood.curved(coordinates.project(direction))
            product = coordinates.project_back(curved) + self.alpha * direction
            length = size / float(direction @ product)
            step = step + length * direction
            residual = residual - length * product
            preconditioned = residual / scale
            size, former = float(residual @ preconditioned), size
            if not size > enough:
                break
            direction = preconditioned + size / former * direction
        return step

    def _line_search(
        self, value: float, w: Array, f: Array, step: Array, along: Array, slope: float
    ) -> tuple[float, tuple[PartialLikelihood, float] | None]:
        """Return the length of a step that lowers the objective enough, None within rounding."""
        length = 1.0
        for _ in range(MOST_HALVINGS):
            with np.errstate(over="ignore", under="ignore"):
                likelihood = self.risk_sets.at(f + length * along)
                reached = self._value(likelihood, w + length * step)
            if reached <= value + SUFFICIENT * length * slope:
                return length, (likelihood, reached)
            if abs(length * slope) <= ROUNDING * (1 + abs(value)):
                return 0.0, None
            length /= 2
        return 0.0, None


def cross_validated(
    features: Array,
    curvatures: Array,
    target: Array,
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    alphas: Array,
    ties: str,
    row_weights: Array | None = None,
    patience: int = 3,
) -> Array:
    """Return the cross-validated log partial likelihood of each penalty, the largest first.

    It is Σ_k [ℓ(w_k) − ℓ_k(w_k)] over folds k, where w_k is fitted without the fold, ℓ is of all
    samples and ℓ_k of those without the fold (Verweij and van Houwelingen 1993). Penalties after
    ``patience`` in succession that were not the best so far are not tried, and have −∞.

    Parameters
    ----------
    features : ndarray of shape (N, r)
        The samples in the coordinates of this module.
    curvatures : ndarray of shape (r,)
        The curvatures λ of its columns.
    target : ndarray of shape (N, 2)
        Times and events.
    splits : list of (training, held-out) positions
        The folds.
    alphas : ndarray of shape (A,)
        The penalties, in falling order.
    ties : {"efron", "breslow"}
        How deaths at the same time count.
    row_weights : ndarray of shape (N,), optional
        The sample weights.
    patience : int, default=3
        As above.

    Returns
    -------
    ndarray of shape (A,)
        The values.
    """
    whole = RiskSets.of(target, ties, row_weights)
    n_events = target[:, 1].sum()
    folds = []
    for train, _ in splits:
        weights = None if row_weights is None else row_weights[train]
        part = np.ascontiguousarray(features[train])
        share = target[train, 1].sum() / n_events
        coordinates = Coordinates.of(part, share * curvatures)
        folds.append((coordinates, RiskSets.of(target[train], ties, weights)))
    starts: list[Array] = [np.zeros(features.shape[1]) for _ in folds]
    values = np.full(len(alphas), -np.inf)
    for place, alpha in enumerate(alphas):
        total = 0.0
        for fold, (coordinates, risk_sets) in enumerate(folds):
            fitted = Objective(coordinates, risk_sets, alpha).minimum(starts[fold], ROUGH)
            starts[fold] = fitted.coefficients
            everyone = whole.at(features @ fitted.coefficients)
            total += everyone.log - risk_sets.at(fitted.log_hazards).log
        values[place] = total
        if place - int(np.argmax(values[: place + 1])) >= patience:
            break
    return values
