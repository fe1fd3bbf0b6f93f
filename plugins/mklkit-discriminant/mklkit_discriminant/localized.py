"""Localized MKL: kernels weighted by gates that are functions of a linear form of the sample."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, in_, instance_of, optional
from sklearn.exceptions import ConvergenceWarning

from mklkit.plugin import (
    Array,
    GatingCombiner,
    Learner,
    Target,
    Views,
    as_int,
    finite_number,
    register,
)
from mklkit_discriminant.gate_descent import (
    GateFunction,
    LocalizedProblem,
    descend,
    gate_values,
)

SMALL = 0.1


@register
@attrs.frozen(eq=False)
class LocalizedGates:
    """Fitted gates η_m(x) of ⟨v_m, x⟩ + v_m0.

    Attributes
    ----------
    vectors : ndarray of shape (d + 1, M)
        v_m for standardised columns, the last row v_m0.
    centre, spread : ndarray of shape (d,)
        Means and standard deviations by which the columns are standardised.
    gating : {"softmax", "sigmoid"}
    weights : ndarray of shape (M,)
        Mean gates of the training samples, divided by their sum.
    history : tuple of float
        J at the start and after each accepted step, decreasing. Infinite if the support vector
        machine at the start did not converge.
    """

    vectors: Array
    center: Array
    spread: Array
    gating: GateFunction
    weights: Array
    history: tuple[float, ...]

    def gates(self, rows: Array) -> Array:
        """Return each sample's weight of each kernel (n, M), for samples (n, d)."""
        return gate_values(self.gating, _inputs(rows, self.center, self.spread) @ self.vectors)


@register
@attrs.frozen
class Localized(GatingCombiner):
    """Localized MKL: Σ_m η_m(x) k_m(x, z) η_m(z), gates and SVM learned alternately.

    Each iteration solves the support vector machine for the current gates and takes a gradient step
    on the gating vectors, halved until the objective falls: it never increases.

    Parameters
    ----------
    gating : {"softmax", "sigmoid"}, default="softmax"
        Gates that sum to one per sample, or independent gates between 0 and 1.
    n_init : int, default=1
        Runs from random gating vectors; the one with the best objective is kept. The
        problem is not convex; one run is the published algorithm.
    tol : float, default=1e-4
        A run ends at a step that lowers the objective by no more than this share.
    max_iter : int, default=100
        Maximal number of steps per run.
    C : float, optional
        C of the inner support vector machines; by default the learner's C (1 if it has none).

    Notes
    -----
    Cost: O(MN²) to O(N³) per step, a few support vector machines, and M Gram matrices of memory.

    The gates' inputs are all columns, standardised: the set of possible gates is the same, and step
    lengths are comparable. Reported weights are mean gates divided by their sum. M Gram matrices
    are held; a step solves a few support vector machines, O(MN²) to O(N³) each. The columns must be
    features: with precomputed kernels the gates' inputs would be row numbers.
    Source: Gönen and Alpaydın (2008), with backtracking in place of their line search.

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
    n_init: int = attrs.field(default=1, converter=as_int, validator=[instance_of(int), ge(1)])
    tol: float = attrs.field(default=1e-4, converter=float, validator=and_(gt(0), finite_number))
    max_iter: int = attrs.field(default=100, converter=as_int, validator=[instance_of(int), ge(1)])
    C: float | None = attrs.field(
        default=None,
        converter=attrs.converters.optional(float),
        validator=optional([gt(0), finite_number]),
    )

    def fit(
        self, views: Views, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Any:
        """Return the learner's decision function on the composite kernel."""
        if self.C is None:
            with_c = attrs.evolve(self, C=learner.fixed_C or 1.0)
            return with_c.fit(views, target, learner, random_state)
        return super(Localized, self).fit(views, target, learner, random_state)  # noqa: UP008

    def fit_gates(
        self, views: Views, y: Array, random_state: np.random.RandomState
    ) -> LocalizedGates:
        """Return the gates of the run with the best objective."""
        rows = np.asarray(views.rows, dtype=np.float64)
        center, spread = rows.mean(axis=0), rows.std(axis=0)
        # A column that is constant up to rounding would become noise of unit variance.
        spread[spread <= 1e-12 * np.abs(rows).max(axis=0)] = 1.0
        problem = LocalizedProblem(
            np.stack([view.gram(keep=False) for view in views]),
            _inputs(rows, center, spread),
            np.asarray(y, dtype=np.float64),
            self.C or 1.0,
            self.gating,
        )
        shape = rows.shape[1] + 1, len(views)
        starts = [random_state.uniform(-SMALL, SMALL, shape) for _ in range(self.n_init)]
        runs = [descend(problem, start, self.tol, self.max_iter) for start in starts]
        point, history = min(runs, key=lambda run: run[0].objective)
        if not np.isfinite(point.objective):
            warnings.warn(
                "localized could not learn its gates and keeps their random start: a support vector"
                " machine did not converge in a thousand steps per sample. Kernel values or C are"
                " very large: scale the data, or use a smaller C.",
                ConvergenceWarning,
                stacklevel=4,
            )
        means = point.gates.mean(axis=0)
        return LocalizedGates(
            point.vectors, center, spread, self.gating, means / means.sum(), history
        )


def _inputs(rows: Array, center: Array, spread: Array) -> Array:
    return np.column_stack([(rows - center) / spread, np.ones(len(rows))])
