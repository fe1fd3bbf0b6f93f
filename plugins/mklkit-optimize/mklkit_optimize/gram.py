"""GRAM: the weights of the least ratio of radius to margin."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from mklkit.plugin import Array, register
from mklkit_optimize.cuts import least_maximum
from mklkit_optimize.margins import MarginPoint, MarginSearch, MarginWeighting


@register
@attrs.frozen
class GRAM(MarginWeighting):
    """Minimise R²(w)/ρ²(w), the radius of all samples over the margin between the classes.

    R² = max over α of Σ_i α_i K_ii − αᵀKα is the squared radius of the smallest ball around the
    samples, and ρ² = min over γ of γᵀYKYγ the squared distance of the classes' convex hulls, for
    K = Σ w_m K_m, α a distribution on all samples and γ one on each class.

    Parameters
    ----------
    tol : float, default=1e-3
        The relative excess of the ratio over its minimum at which the search ends.
    max_iter : int, default=200
        The most weights to try.

    Warns
    -----
    ConvergenceWarning
        If the ratio may be farther above its minimum after ``max_iter`` weights.

    Notes
    -----
    Cost: two quadratic programs in N variables per step, and M Gram matrices of memory.

    The publication follows the gradient with a fixed step. R² is a maximum of functions that are
    linear in w, and ρ² a minimum of such: each α and each γ is a cut, and a linear program over all
    cuts proposes weights and bounds the ratio from below, so the result is the global minimum.
    The sizes of the kernels don't matter. M Gram matrices of memory, and per step two quadratic
    programs. If the hulls meet under every sum, weights are uniform, with a warning. Source:
    Lauriola, Polato and Aiolli (2017).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=GRAM()).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "gram"

    def search(self, grams: Array, first: MarginPoint) -> MarginSearch:
        """Return the search for the least ratio."""
        return RatioSearch(grams, first)


@attrs.define(eq=False)
class RatioSearch(MarginSearch):
    """The search for the least R²/ρ²: R²(w) is at least each cut of ``radii``·w."""

    radii: list[Array] = attrs.field(factory=list, init=False)

    def value(self, point: MarginPoint) -> float:
        """Return the ratio."""
        from mklkit.evaluation import ball_center  # slow to import

        alpha = ball_center(point.gram, tol=1e-5)
        diagonals = np.diagonal(self.grams, axis1=1, axis2=2)
        self.radii.append(diagonals @ alpha - self.grams @ alpha @ alpha)
        margin = point.squared_margin
        return float(point.weights @ self.radii[-1]) / margin if margin > 0 else np.inf

    def proposal(self) -> tuple[Array, float]:
        """Return the weights of the least ratio that no cut forbids."""
        weights, bound = least_maximum(np.array(self.radii), np.array(self.cuts), on_simplex=False)
        return weights, 1 - bound / self.least
