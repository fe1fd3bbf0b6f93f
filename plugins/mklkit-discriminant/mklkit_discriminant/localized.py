"""Localized MKL: kernels weighed by a gate that depends linearly on the row."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, in_, instance_of
from sklearn.exceptions import ConvergenceWarning

from mklkit import (
    Array,
    GatingCombiner,
    Learner,
    ViewSet,
    finite,
    price_field,
    price_of,
    whole,
)
from mklkit_discriminant.gate_descent import LocalizedProblem, descend
from mklkit_discriminant.gate_functions import GateFunction, gate_values

__all__ = ["Localized", "LocalizedGates"]

SMALL = 0.1


@attrs.frozen(eq=False)
class LocalizedGates:
    """Fitted gates η_m(x) of ⟨v_m, x⟩ + v_m0.

    Attributes
    ----------
    vectors : ndarray of shape (d + 1, M)
        v_m for standardised columns, the last row v_m0.
    centre, spread : ndarray of shape (d,)
        By which the columns are standardised.
    gating : {"softmax", "sigmoid"}
    weights : ndarray of shape (M,)
        Mean gates of the training rows, divided by their sum.
    history : tuple of float
        J at the start and after each accepted step; never increasing. Infinite where no machine
        ended.
    """

    vectors: Array
    centre: Array
    spread: Array
    gating: GateFunction
    weights: Array
    history: tuple[float, ...]

    def gates(self, rows: Array) -> Array:
        """Return each row's weight on each kernel, (n, M), for rows (n, d)."""
        return gate_values(self.gating, _inputs(rows, self.centre, self.spread) @ self.vectors)


@attrs.frozen
class Localized(GatingCombiner):
    """Localized MKL: Σ_m η_m(x) k_m(x, z) η_m(z), gates and machine learned by turns.

    Each turn solves the support vector machine of the present gates and takes a gradient step on
    the gating vectors, halved until the objective falls: it never worsens.

    Parameters
    ----------
    gating : {"softmax", "sigmoid"}, default="softmax"
        Gates that compete, with sum one, or each between 0 and 1 by itself.
    n_init : int, default=1
        Runs from random gating vectors, of which the best objective is kept. The problem is not
        convex; one is the published algorithm.
    tol : float, default=1e-4
        A run ends at a step that gains no more than this share of the objective.
    max_iter : int, default=100
        Steps of a run at most.
    C : float, optional
        Of the inner machines; the learner's own where not given (1 if it has none).

    Notes
    -----
    The gates see all columns, standardised, which changes no gate that can be reached but makes
    step lengths comparable. Weights reported are mean gates divided by their sum. M Gram matrices
    are held; a step costs a few machines, O(MN²) to O(N³) each. The columns must be features:
    with precomputed kernels the gates see row numbers.
    Source: Gönen and Alpaydın (2008); the step length, fixed by line search there, by backtracking.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(["linear", "rbf"], combiner=Localized(), random_state=0)
    >>> model.fit(X[:150], y[:150]).gate_weights(X).shape
    (569, 2)
    """

    name: ClassVar[str] = "localized"

    gating: GateFunction = attrs.field(default="softmax", validator=in_(("softmax", "sigmoid")))
    n_init: int = attrs.field(default=1, converter=whole, validator=[instance_of(int), ge(1)])
    tol: float = attrs.field(default=1e-4, converter=float, validator=and_(gt(0), finite))
    max_iter: int = attrs.field(default=100, converter=whole, validator=[instance_of(int), ge(1)])
    C: float | None = price_field()

    def fit(
        self, views: ViewSet, y: Array, learner: Learner, random_state: np.random.RandomState
    ) -> Any:
        """Return the decision of the learner on the composite kernel."""
        if self.C is None:
            priced = attrs.evolve(self, C=price_of(None, learner))
            return priced.fit(views, y, learner, random_state)
        return super(Localized, self).fit(views, y, learner, random_state)  # noqa: UP008

    def fit_gates(
        self, views: ViewSet, y: Array, random_state: np.random.RandomState
    ) -> LocalizedGates:
        """Return the gates of the run with the best objective."""
        rows = np.asarray(views.rows, dtype=np.float64)
        centre, spread = rows.mean(axis=0), rows.std(axis=0)
        # What is constant but for rounding would become noise of unit size.
        spread[spread <= 1e-12 * np.abs(rows).max(axis=0)] = 1.0
        problem = LocalizedProblem(
            np.stack([view.gram(keep=False) for view in views]),
            _inputs(rows, centre, spread),
            np.asarray(y, dtype=np.float64),
            price_of(self.C, None),
            self.gating,
        )
        shape = rows.shape[1] + 1, len(views)
        starts = [random_state.uniform(-SMALL, SMALL, shape) for _ in range(self.n_init)]
        runs = [descend(problem, start, self.tol, self.max_iter) for start in starts]
        point, history = min(runs, key=lambda run: run[0].objective)
        if not np.isfinite(point.objective):
            warnings.warn(
                "localized could not learn its gates and leaves them as they were drawn: a support"
                " vector machine did not end in a thousand steps per row. Kernel values are very"
                " large, or C is: scale the data, or take a smaller C.",
                ConvergenceWarning,
                stacklevel=4,
            )
        means = point.gates.mean(axis=0)
        return LocalizedGates(
            point.vectors, centre, spread, self.gating, means / means.sum(), history
        )


def _inputs(rows: Array, centre: Array, spread: Array) -> Array:
    return np.column_stack([(rows - centre) / spread, np.ones(len(rows))])
