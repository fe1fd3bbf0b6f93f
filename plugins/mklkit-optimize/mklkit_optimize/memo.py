"""MEMO: weights with a large margin and a small spectral ratio."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge

from mklkit.plugin import Array, CombinerTraits, finite_number, register
from mklkit_optimize.cuts import least_maximum
from mklkit_optimize.margins import MarginPoint, MarginSearch, MarginWeighting


@register
@attrs.frozen
class MEMO(MarginWeighting):
    """Maximise ρ²(w) + θ/2 wᵀQw: the margin plus the size of the sum, which favours simple sums.

    ρ² = min over γ of γᵀYKYγ is the squared distance of the classes' convex hulls, K = Σ w_m K_m,
    and Q_ml is ⟨K_m, K_l⟩ over the mean of ⟨K_m, K_m⟩. For kernels of equal trace, the spectral
    ratio tr K/‖K‖ of the sum, a measure of its complexity, falls as wᵀQw grows.

    Parameters
    ----------
    theta : float, default=0.0
        θ, 0 or above: 0 for only the largest margin, large for the simplest sum with a margin.
    min_margin : float, default=1e-4
        The least ρ; if uniform weights have less, they are used, with a warning.
    tol : float, default=1e-3
        The relative distance from the maximum at which the search ends, for the objective with its
        second term replaced by the tangent.
    max_iter : int, default=200
        The most weights to try.

    Warns
    -----
    ConvergenceWarning
        If the objective may be farther below after ``max_iter`` weights.

    Notes
    -----
    Cost: one quadratic program in N variables per step, and M Gram matrices of memory.

    ρ² is concave and the second term convex. For θ = 0 the result is the global maximum; otherwise
    a stationary point, reached from uniform weights by steps that replace that term by its tangent
    (convex–concave procedure), each solved by cutting planes. The publication follows the gradient
    with a fixed step. Kernels should have equal traces, as ``rbf`` and ``cosine(...)`` do. M Gram
    matrices of memory, one quadratic program per step. Source: Lauriola, Polato and Aiolli (2018).

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=MEMO(theta=0.01)).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "memo"
    traits: ClassVar[CombinerTraits] = attrs.evolve(
        MarginWeighting.traits, search_space={"theta": (0.1, 0.01, 0.001, 0.0)}
    )

    theta: float = attrs.field(default=0.0, converter=float, validator=and_(ge(0), finite_number))
    min_margin: float = attrs.field(
        default=1e-4, converter=float, validator=and_(ge(0), finite_number)
    )

    @property
    def floor(self) -> float:
        """The least ρ²."""
        return self.min_margin**2

    def search(self, grams: Array, first: MarginPoint) -> MarginSearch:
        """Return the search for the largest objective."""
        flat = grams.reshape(len(grams), -1)
        products = flat @ flat.T
        products *= self.theta / np.diag(products).mean()
        return ObjectiveSearch(grams, first, products, self.floor)


@attrs.define(eq=False)
class ObjectiveSearch(MarginSearch):
    """The search for the largest ρ² + ½wᵀQw, for Q with its factor θ and a least ρ²."""

    products: Array
    floor: float

    def value(self, point: MarginPoint) -> float:
        """Return minus the objective."""
        if point.squared_margin < self.floor:
            return np.inf
        return -point.squared_margin - float(point.weights @ self.products @ point.weights) / 2

    def proposal(self) -> tuple[Array, float]:
        """Return the weights of the largest ρ² that the cuts allow, plus the tangent's value."""
        tangent = self.products @ self.best.weights
        cuts = np.array(self.cuts)
        floors = cuts / self.floor if self.floor else None
        weights, least = least_maximum(-cuts - tangent, floors)
        present = self.best.squared_margin + float(tangent @ self.best.weights)
        return weights, -least / present - 1
