"""The support vector machine: libsvm, or sums over blocks of many rows."""

from __future__ import annotations

import warnings
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of
from sklearn.exceptions import ConvergenceWarning

from mklkit.learners.choose_c import choose_C
from mklkit.learners.linear_decision import LinearDecision
from mklkit.learners.support_vectors import MOST_STEPS, solve_dual, solve_primal
from mklkit.protocols import Learner, LearnerFacts, Target, TrainingView
from mklkit.protocols.component import as_int, auto_or_number, finite_number
from mklkit.registry.hookspecs import register

__all__ = ["SVM", "SVMDecision"]


@register
@attrs.frozen(eq=False)
class SVMDecision(LinearDecision):
    """A support vector machine's decision function, with the C that it was learned with."""

    C: float = attrs.field(kw_only=True)


@register
@attrs.frozen
class SVM(Learner):
    """Soft-margin support vector machine on a Gram matrix or on features.

    Weights of rows multiply C.

    Parameters
    ----------
    C : float or "auto", default="auto"
        The cost of margin errors. ``"auto"``: 1, 10 or 100 over the mean k(x, x), by
        cross-validation on at most about 300 rows of the training side
        (:func:`mklkit.learners.choose_c.choose_C`); the fitted decision stores the choice. Rows
        with weights count by them in the folds' fits and in their accuracy.
    tol : float, default=1e-3
        The tolerance on the optimality conditions.
    max_iter : int, default=1_000_000
        The maximum number of libsvm's steps, O(N) each. Kernels of very large values, such as a
        polynomial of unscaled features, could otherwise take hours. On features of more than
        5,000 rows, two hundred times the passes over the rows.

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
    Between O(N²) and O(N³) on a Gram matrix; on p features and more than 5,000 rows some dozens of
    passes over the rows, O(Np²) at most each, without all features in memory
    (:func:`mklkit.learners.support_vectors.solve_primal`). On a Gram matrix the fitted model keeps
    support vectors only.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.views.sides import GramSide
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> target = Target.two_classes(np.sign(rows[:, 0]))
    >>> fitted = SVM().fit(GramSide(rows @ rows.T), target)
    >>> fitted.decide(np.array([[3.0]]) @ rows.T) > 0
    array([ True])
    """

    name: ClassVar[str] = "svm"
    facts: ClassVar[LearnerFacts] = LearnerFacts(
        on_features=True,
        on_gram=True,
        takes_row_weights=True,
        search_space={"C": (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)},
    )

    C: float | str = auto_or_number()
    tol: float = attrs.field(default=1e-3, converter=float, validator=[gt(0), finite_number])
    max_iter: int = attrs.field(
        default=MOST_STEPS, converter=as_int, validator=[instance_of(int), ge(1)]
    )

    def fit(self, side: TrainingView, target: Target) -> SVMDecision:
        """Return the decision function learned from labels −1 and +1."""
        y, row_weights = target.values, target.row_weights
        C = choose_C(side, y, row_weights) if isinstance(self.C, str) else self.C
        if side.explicit:
            solution = solve_primal(side, y, C, self.tol, self.max_iter, row_weights)
            if not solution.ended:
                self._say_what_helps(float(side.normal_matrix().diagonal.sum()) / side.n_rows)
            return SVMDecision(solution.coefficients, solution.bias, C=C)
        gram = side.gram()
        solution = solve_dual(gram, y, C, self.tol, self.max_iter, row_weights)
        if not solution.ended:
            self._say_what_helps(float(np.diagonal(gram).mean()))
        return SVMDecision(solution.coefficients, solution.bias, C=C)

    def _say_what_helps(self, size: float) -> None:
        warnings.warn(
            f"svm was stopped after max_iter={self.max_iter} steps. Kernel values are about"
            f" {size:.2g}; where that is far above 1, scaled features or kernels such as"
            " 'cosine(polynomial)' help, otherwise a smaller C or a larger max_iter.",
            ConvergenceWarning,
            stacklevel=3,
        )
