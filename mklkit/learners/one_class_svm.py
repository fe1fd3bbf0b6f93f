"""The one-class support vector machine: a function that is positive where most rows are."""

from __future__ import annotations

import warnings
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of, lt
from sklearn.exceptions import ConvergenceWarning

from mklkit.learners.linear_decision import LinearDecision
from mklkit.learners.support_vectors import MOST_STEPS, solve_one_class
from mklkit.protocols import Learner, LearnerFacts, Target, TrainingView
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register

__all__ = ["OneClassSVM"]


@register
@attrs.frozen
class OneClassSVM(Learner):
    """One-class support vector machine, on a Gram matrix or on features, by libsvm.

    The decision function is positive for about a share 1 − ν of the training rows, and negative
    for rows that are unlike them.

    Parameters
    ----------
    nu : float, default=0.5
        ν, above 0 and below 1: at most this share of the training rows (by their weights) is
        outside, and at least this share are support vectors.
    tol : float, default=1e-3
        The tolerance on the optimality conditions.
    max_iter : int, default=1_000_000
        The maximum number of libsvm's steps, O(N) each.

    Warns
    -----
    ConvergenceWarning
        If it stopped at ``max_iter``.

    Raises
    ------
    DataError
        If kernel values are too large for the solver.

    Notes
    -----
    Between O(N²) and O(N³) on a Gram matrix, p times that on p features. The values are those of
    scikit-learn's ``OneClassSVM``. On a Gram matrix the fitted model keeps support vectors only.

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola and Williamson, "Estimating the support of a
    high-dimensional distribution", Neural Computation 13 (2001).

    Examples
    --------
    >>> from mklkit.views.sides import FeatureSide
    >>> rows = np.array([[4.0, 1.0], [4.1, 1.0], [3.9, 1.0], [0.1, 1.0]])
    >>> fitted = OneClassSVM(nu=0.5).fit(FeatureSide(rows), Target.nothing(4))
    >>> fitted.decide(np.array([[5.0, 1.0], [0.0, 1.0]])) > 0
    array([ True, False])
    """

    name: ClassVar[str] = "one-class-svm"
    facts: ClassVar[LearnerFacts] = LearnerFacts(
        on_features=True, on_gram=True, tasks=("none",), takes_row_weights=True
    )

    nu: float = attrs.field(default=0.5, converter=float, validator=[gt(0), lt(1), finite_number])
    tol: float = attrs.field(default=1e-3, converter=float, validator=[gt(0), finite_number])
    max_iter: int = attrs.field(
        default=MOST_STEPS, converter=as_int, validator=[instance_of(int), ge(1)]
    )

    def fit(self, side: TrainingView, target: Target) -> LinearDecision:
        """Return the decision function learned from the rows; the target has their weights."""
        columns = side.features() if side.explicit else side.gram()
        solution = solve_one_class(
            columns, side.explicit, self.nu, self.tol, self.max_iter, target.row_weights
        )
        if not solution.ended:
            warnings.warn(
                f"one-class-svm was stopped after max_iter={self.max_iter} steps. Kernel values"
                f" are up to {np.abs(columns).max():.2g}; where that is far above 1, scaled data"
                " or kernels such as 'cosine(polynomial)' help, otherwise a larger max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return LinearDecision(solution.coefficients, solution.bias)
