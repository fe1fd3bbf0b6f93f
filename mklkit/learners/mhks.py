"""MHKS: the modified Ho–Kashyap classifier on features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import attrs
import numpy as np

from mklkit.hookspecs import hookimpl
from mklkit.learners.base import LinearDecision
from mklkit.learners.margins import MarginLearner, RidgeCoefficients
from mklkit.numerics.ho_kashyap import Stopping
from mklkit.numerics.least_squares import ArrowheadSystem, SpectralSystem
from mklkit.protocols import Array, TrainingSide

__all__ = ["MHKS"]


@attrs.frozen
class MHKS(MarginLearner):
    """Ho–Kashyap classifier with squared approximation of the errors, on explicit features.

    Minimises ‖φ∘f − 1 − b‖² + c‖w‖² over f = Φw + w₀ and margins b ≥ 0 by turns: a ridge
    regression towards the margins, then b ← b + ρ(e + |e|) for the error e.

    Parameters
    ----------
    c : float, default=1.0
        Ridge on the weights (not on the bias), in the units of the squared error; 0 or above.
    rho : float, default=0.99
        ρ, how far the margins grow towards the outputs at each step; above 0, up to 1.
    tol : float, default=1e-3
        ξ: stop when the objective changes by no more than this (absolute).
    max_iter : int, default=1000
        Stop with a ``ConvergenceWarning`` after this many solves.
    b0 : float, default=1e-6
        The margins at the start.

    Notes
    -----
    The map's normal matrix is diagonal on a full empirical map and each solve O(p); on other maps
    it is decomposed once, O(Np² + p³). Each iteration reads the features twice, O(Np). Source:
    Łęski (2003); paper 000, section 2.1.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier("rbf", feature_map="empirical", learner=MHKS(c=0.5)).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    name: ClassVar[str] = "mhks"
    on_features: ClassVar[bool] = True
    on_gram: ClassVar[bool] = False

    def subproblem(self, side: TrainingSide) -> FeatureSubproblem:
        """Return the ridge regression on the view's features."""
        return FeatureSubproblem(side, self.c)

    @property
    def stopping(self) -> Stopping:
        """Absolute change of the objective, as paper 000 has it."""
        return Stopping(self.tol, relative=False, max_iter=self.max_iter)


class FeatureSubproblem:
    """Ridge regression with a free bias on a view's features, set up once.

    Parameters
    ----------
    side : TrainingSide
        Reached through its block operations only.
    ridge : float
        c.
    """

    def __init__(self, side: TrainingSide, ridge: float) -> None:
        self._side = side
        self._ridge = ridge
        self._normal = side.normal_matrix()
        self._system: ArrowheadSystem | SpectralSystem
        if self._normal.is_diagonal and ridge > 0:
            self._system = ArrowheadSystem(self._normal, ridge)
        else:
            self._system = SpectralSystem(side.spectrum(), self._normal.sums, ridge)

    def solve(self, target: Array, data_weight: float = 1.0) -> RidgeCoefficients:
        """Return the minimiser of ``s·‖f − target/s‖² + c‖w‖²``."""
        mean = float(target.mean())
        weights = self._system.solve(self._side.project_back(target), mean, data_weight)
        bias = mean / data_weight - float(self._normal.sums @ weights) / self._normal.n_rows
        return RidgeCoefficients(weights, bias)

    def outputs(self, coefficients: RidgeCoefficients) -> Array:
        """Return the decision values on the training rows."""
        return self._side.project(coefficients.weights) + coefficients.bias

    def penalty(self, coefficients: RidgeCoefficients) -> float:
        """Return c‖w‖²."""
        return self._ridge * float(np.dot(coefficients.weights, coefficients.weights))

    def finish(self, coefficients: RidgeCoefficients) -> LinearDecision:
        """Return the decision function."""
        return LinearDecision(coefficients.weights, coefficients.bias)


@hookimpl
def mklkit_learners() -> Iterable[type]:
    """Register the learner."""
    return [MHKS]
