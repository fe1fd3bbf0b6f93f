"""Support vector regression, on a Gram matrix or on features."""

from __future__ import annotations

import warnings
from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of
from sklearn.exceptions import ConvergenceWarning

from mklkit.errors import IncompatibleError
from mklkit.learners.choose_c import choose_C_of_regression
from mklkit.learners.linear_decision import LinearDecision
from mklkit.learners.support_vectors import MOST_STEPS, solve_svr
from mklkit.protocols import Array, Learner, LearnerFacts, Target, TrainingView
from mklkit.protocols.component import as_int, auto_or_number, finite_number
from mklkit.registry.hookspecs import register

__all__ = ["SVR", "SVRDecision"]

EPSILON = 0.1
"""The automatic ε, times the spread of the target."""
FEATURE_ROWS = 5000
"""libsvm on features recomputes inner products, which takes too long beyond so many rows."""


@register
@attrs.frozen(eq=False)
class SVRDecision(LinearDecision):
    """A support vector regression's function, with the C and ε that it was learned with."""

    C: float = attrs.field(kw_only=True)
    epsilon: float = attrs.field(kw_only=True)


@register
@attrs.frozen
class SVR(Learner):
    """Support vector regression: errors below ε cost nothing, larger ones C per unit beyond it.

    Minimises ½‖w‖² + C Σ_i s_i max(0, |f(x_i) − y_i| − ε) for rows of weight s over
    f = ⟨w, φ(x)⟩ + w₀.

    Parameters
    ----------
    C : float or "auto", default="auto"
        The cost of errors, in the units of the target as in scikit-learn's ``SVR``. ``"auto"``: 1,
        10 or 100 times the target's standard deviation over the mean k(x, x), by the absolute error
        in three folds of at most 300 rows; the fitted decision stores the choice.
    epsilon : float or "auto", default="auto"
        ε, in the units of the target as in scikit-learn's ``SVR``. ``"auto"``: a tenth of the
        target's standard deviation.
    tol : float, default=1e-3
        The tolerance on the optimality conditions, in units of the target's standard deviation.
    max_iter : int, default=1_000_000
        The maximum number of libsvm's steps, O(N) each.

    Warns
    -----
    ConvergenceWarning
        If it stopped at ``max_iter``.

    Raises
    ------
    IncompatibleError
        On features of more than 5,000 rows, for which ``ridge`` takes sums over blocks of rows.
    DataError
        If kernel values are too large for the solver.

    Notes
    -----
    Between O(N²) and O(N³) on a Gram matrix, times p on features. On a Gram matrix the fitted model
    keeps support vectors only. A row of weight 2 is the same row twice, for a given C. Source:
    Smola and Schölkopf (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.views.sides import GramSide
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> target = Target.numbers(3 * rows[:, 0] + 1)
    >>> fitted = SVR(C=100, epsilon=0.5).fit(GramSide(rows @ rows.T), target)
    >>> fitted.decide(np.array([[1.0]]) @ rows.T).round(2)
    array([3.75])
    """

    name: ClassVar[str] = "svr"
    facts: ClassVar[LearnerFacts] = LearnerFacts(
        on_features=True,
        on_gram=True,
        tasks=("numbers",),
        takes_row_weights=True,
        search_space={"C": (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)},
    )

    C: float | str = auto_or_number()
    epsilon: float | str = auto_or_number(zero=True)
    tol: float = attrs.field(default=1e-3, converter=float, validator=[gt(0), finite_number])
    max_iter: int = attrs.field(
        default=MOST_STEPS, converter=as_int, validator=[instance_of(int), ge(1)]
    )

    def fit(self, side: TrainingView, target: Target) -> SVRDecision:
        """Return the function learned from numbers (N,)."""
        if side.explicit and side.n_rows > FEATURE_ROWS:
            raise IncompatibleError(
                f"The learner 'svr' on features takes at most {FEATURE_ROWS:,} rows; there are"
                f" {side.n_rows:,}. Take learner='ridge', or feature_map='implicit'."
            )
        y = np.asarray(target.values, np.float64)
        weights = target.row_weights
        spread = _spread(y, weights)
        columns = side.features() if side.explicit else side.gram()
        epsilon = EPSILON * spread if isinstance(self.epsilon, str) else self.epsilon
        C = self.C
        if isinstance(C, str):
            C = choose_C_of_regression(columns, y, epsilon, spread, side.explicit)
        solution = solve_svr(
            columns,
            y,
            C,
            epsilon,
            explicit=side.explicit,
            row_weights=weights,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if not solution.ended:
            warnings.warn(
                f"svr was stopped after max_iter={self.max_iter} steps; scaled features, kernels"
                " such as 'cosine(polynomial)', a smaller C or a larger max_iter help.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return SVRDecision(solution.coefficients, solution.bias, C=C, epsilon=epsilon)


def _spread(y: Array, weights: Array | None) -> float:
    """Return the standard deviation of the target, 1 for a constant one."""
    mean = np.average(y, weights=weights)
    return float(np.sqrt(np.average((y - mean) ** 2, weights=weights))) or 1.0
