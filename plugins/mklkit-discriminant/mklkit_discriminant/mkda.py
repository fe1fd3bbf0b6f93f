"""MKDA: the kernel weights that are optimal for kernel discriminant analysis."""

from __future__ import annotations

import warnings
from typing import ClassVar, Literal

import attrs
import numpy as np
from attrs.validators import and_, gt, in_

from mklkit import MKLKitError, MKLKitWarning
from mklkit.plugin import Array, CombinerTraits, Views, WeightingCombiner, finite_number, register
from mklkit_discriminant.centered_kernels import discriminant_problem
from mklkit_discriminant.cone_programs import theta_by_qcqp, theta_by_sdp

LARGEST = {"qcqp": 1000, "sdp": 100}
"""The largest joint rank of the centred kernels (at most N − 1) that each form accepts."""
NEGLIGIBLE = 1e-6
GAP = 1e-4


@register
@attrs.frozen
class MKDA(WeightingCombiner):
    """Maximise the class separation of regularised kernel discriminant analysis.

    The weighted sum Ĝ of centred kernels of trace one, Ĝ_m = HK_mH / tr HK_mH, with θ on the
    simplex, maximises aᵀĜ(Ĝ + λI)⁻¹a: the regularised Fisher ratio with the total scatter, where a
    is the difference of the class indicators, each divided by its class's size. Kernel m itself
    has the weight θ_m / tr HK_mH, normalised to sum one.

    Parameters
    ----------
    form : {"qcqp", "sdp"}, default="qcqp"
        The same convex problem as a quadratically constrained or as a semidefinite program. They
        agree; ``"sdp"`` is for comparison.
    alpha : float, default=1e-3
        The papers' λ, on the scale of kernels of trace one. Below 1e-5 the solvers, first the
        semidefinite one, stop before the optimum, with a warning.

    Raises
    ------
    MKLKitError
        If a kernel is not positive semi-definite, or the kernels' joint rank is above 1000 (qcqp)
        or 100 (sdp).

    Notes
    -----
    Cost: O(Mp³) per iteration for the joint rank p ≤ N − 1; the semidefinite form takes O(p⁶).

    The joint rank is p ≤ N − 1, with equality as soon as one kernel is a Gaussian of small width.
    The quadratic form takes O(Mp³) time per iteration and M factors (p, rank) of memory; the
    semidefinite one O(p⁶) and O(p⁴) inside Clarabel. Five kernels on one core of a busy computer:
    3 s at p = 299 and 30 s at p = 599 by the first, 2 s at p = 59 and 44 s (1.5 GB) at p = 99 by
    the second. A relative duality gap above 1e-4 gives a warning with either form.

    Constant kernels get no weight. The problem is binary; several classes are solved pair by pair.
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
    traits: ClassVar[CombinerTraits] = CombinerTraits(
        learner="kda", row_weights="learner", search_space={"alpha": (1.0, 0.1, 1e-2, 1e-3, 1e-4)}
    )

    form: Literal["qcqp", "sdp"] = attrs.field(default="qcqp", validator=in_(("qcqp", "sdp")))
    alpha: float = attrs.field(default=1e-3, converter=float, validator=and_(gt(0), finite_number))

    def weights(self, views: Views, y: Array) -> Array:
        """Return the weights (M,) of the kernels before centring and scaling."""
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
            other = ", form='qcqp'" if self.form == "sdp" else ""
            raise MKLKitError(
                f"mkda(form='{self.form}') takes kernels of joint rank at most {largest}; these"
                f" have {problem.size} on {len(y)} samples. Use fewer samples{other} or another"
                " combiner."
            )
        theta = (theta_by_qcqp if self.form == "qcqp" else theta_by_sdp)(problem)
        theta = np.where(theta > NEGLIGIBLE, theta, 0.0)
        theta /= theta.sum()
        gap = problem.gap(theta) / problem.objective(theta)
        if gap > GAP:
            warnings.warn(
                f"mkda stopped with a relative duality gap of {gap:.2g}"
                f" (expected at most {GAP:g}); use a larger alpha.",
                MKLKitWarning,
                stacklevel=3,
            )
        used = problem.traces > 0
        weights[used] = theta / problem.traces[used]
        return weights
