"""MKDA: the kernel weights that are best for kernel discriminant analysis."""

from __future__ import annotations

import warnings
from typing import ClassVar, Literal

import attrs
import numpy as np
from attrs.validators import and_, gt, in_

from mklkit import (
    Array,
    CombinerFacts,
    MKLKitError,
    MKLKitWarning,
    ViewSet,
    WeightingCombiner,
    finite,
)
from mklkit_discriminant.centred_kernels import discriminant_problem
from mklkit_discriminant.cone_programs import theta_by_qcqp, theta_by_sdp

__all__ = ["MKDA"]

LARGEST = {"qcqp": 1000, "sdp": 100}
"""Joint rank of the centred kernels, at most N − 1, beyond which a form is refused."""
NEGLIGIBLE = 1e-6
GAP = 1e-4


@attrs.frozen
class MKDA(WeightingCombiner):
    """Maximise the separation that regularised kernel discriminant analysis reaches.

    Centred kernels of trace one, Ĝ_m = HK_mH / tr HK_mH, are summed with θ on the simplex such that
    aᵀĜ(Ĝ + λI)⁻¹a is largest, a the difference of the class indicators, each over its class's
    size: the regularised Fisher ratio with the total scatter. Kernel m itself has the weight
    θ_m / tr HK_mH, all divided by their sum.

    Parameters
    ----------
    form : {"qcqp", "sdp"}, default="qcqp"
        The same convex problem as a quadratically constrained or as a semidefinite programme. They
        agree; ``"sdp"`` is there for comparison.
    alpha : float, default=1e-3
        The papers' λ, on the scale of kernels of trace one. Below 1e-5 the solvers, the
        semidefinite one first, end before the optimum, which is warned of.

    Raises
    ------
    MKLKitError
        If a kernel is not positive semi-definite, or the kernels' joint rank is above 1000 (qcqp)
        or 100 (sdp).

    Notes
    -----
    Joint rank is p ≤ N − 1, and N − 1 it is as soon as one kernel is a Gaussian of a small width.
    The quadratic form takes O(Mp³) time an iteration and M factors (p, rank) of memory; the
    semidefinite one O(p⁶) and O(p⁴) inside Clarabel. On one core of a busy machine, five kernels:
    3 s at p = 299 and 30 s at p = 599 by the first, 2 s at p = 59 and 44 s (1.5 GB) at p = 99 by
    the second. A duality gap above 1e-4 of the objective, whichever form it was, is warned of.

    Constant kernels get no weight. Binary problems; several classes are treated pair by pair.
    Sources: Ye, Chen and Ji (2007) for both forms, Kim, Magnani and Boyd (2006) for the
    semidefinite one with the within-class scatter.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier(combiner=MKDA(alpha=0.01)).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    name: ClassVar[str] = "mkda"
    facts: ClassVar[CombinerFacts] = CombinerFacts(learner="kda")

    form: Literal["qcqp", "sdp"] = attrs.field(default="qcqp", validator=in_(("qcqp", "sdp")))
    alpha: float = attrs.field(default=1e-3, converter=float, validator=and_(gt(0), finite))

    def weights(self, views: ViewSet, y: Array) -> Array:
        """Return the weights of the kernels as they are, (M,)."""
        if len(views) == 1:
            return np.ones(1)
        largest = LARGEST[self.form]
        labels = y.astype(np.float64)
        grams = [view.gram(keep=False) for view in views]
        problem = discriminant_problem(grams, labels, self.alpha, views.labels)
        weights = np.zeros(len(views))
        if not problem.factors:
            return weights
        if problem.size > largest:
            other = ", take form='qcqp'" if self.form == "sdp" else ""
            raise MKLKitError(
                f"mkda(form='{self.form}') takes kernels of joint rank {largest} at most; these"
                f" have {problem.size} on {len(y)} rows. Use fewer rows{other} or another combiner."
            )
        theta = (theta_by_qcqp if self.form == "qcqp" else theta_by_sdp)(problem)
        theta = np.where(theta > NEGLIGIBLE, theta, 0.0)
        theta /= theta.sum()
        gap = problem.gap(theta) / problem.objective(theta)
        if gap > GAP:
            warnings.warn(
                f"mkda's weights may be a share of {gap:.2g} above the best objective"
                f" (expected at most {GAP:g}); take a larger alpha.",
                MKLKitWarning,
                stacklevel=3,
            )
        used = problem.traces > 0
        weights[used] = theta / problem.traces[used]
        return weights
