"""Support vector regression, on a Gram matrix or on features."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mklkit.errors import IncompatibleError, quoted
from mklkit.learners.linear_decision import LinearDecision
from mklkit.learners.support_vectors import MOST_STEPS
from mklkit.learners.tube import TubeSolution, solve_tube
from mklkit.protocols import Array, Learner, LearnerFacts, Target, TrainingSide
from mklkit.protocols.component import as_int, finite_number
from mklkit.registry.hookspecs import register

__all__ = ["SVR", "TubeDecision"]

AUTO = "auto"

PRICES = (1.0, 10.0, 100.0)
"""Times the spread of the target over the mean k(x, x)."""
TUBE = 0.1
"""The automatic ε, times the spread of the target."""
FOLDS = 3
TRIED_ROWS = 300
TRIED_STEPS = 100_000
"""libsvm's steps per trial, a limit for kernels of very large values."""
FEATURE_ROWS = 5000
"""libsvm on features recomputes inner products, which takes too long beyond so many rows."""


def _number_or_name(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def _above(least: str, fits: Any) -> Any:
    def check(instance: object, attribute: Any, value: Any) -> None:
        if not (value == AUTO if isinstance(value, str) else fits(value) and value < np.inf):
            raise ValueError(
                f"{attribute.name!r} must be {AUTO!r} or a finite number {least}, got"
                f" {quoted(value)}"
            )

    return check


@register
@attrs.frozen(eq=False)
class TubeDecision(LinearDecision):
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

    C: float | str = attrs.field(
        default=AUTO, converter=_number_or_name, validator=_above("> 0", lambda value: value > 0)
    )
    epsilon: float | str = attrs.field(
        default=AUTO, converter=_number_or_name, validator=_above(">= 0", lambda value: value >= 0)
    )
    tol: float = attrs.field(default=1e-3, converter=float, validator=[gt(0), finite_number])
    max_iter: int = attrs.field(
        default=MOST_STEPS, converter=as_int, validator=[instance_of(int), ge(1)]
    )

    def fit(self, side: TrainingSide, target: Target) -> TubeDecision:
        """Return the function learned from numbers (N,)."""
        if side.explicit and side.n_rows > FEATURE_ROWS:
            raise IncompatibleError(
                f"The learner 'svr' on features takes at most {FEATURE_ROWS:,} rows; there are"
                f" {side.n_rows:,}. Take learner='ridge', or feature_map='implicit'."
            )
        y = np.asarray(target.values, np.float64)
        weights = target.row_weights
        spread = _spread(y, weights)
        given = side.features() if side.explicit else side.gram()
        epsilon = TUBE * spread if isinstance(self.epsilon, str) else self.epsilon
        price = self.C
        if isinstance(price, str):
            price = _chosen_price(given, y, epsilon, spread, side.explicit)
        found = solve_tube(
            given,
            y,
            price,
            epsilon,
            explicit=side.explicit,
            row_weights=weights,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self._warn_if_stopped(found)
        return TubeDecision(found.coefficients, found.bias, C=price, epsilon=epsilon)

    def _warn_if_stopped(self, found: TubeSolution) -> None:
        if not found.ended:
            warnings.warn(
                f"svr was stopped after max_iter={self.max_iter} steps; scaled features, kernels"
                " such as 'cosine(polynomial)', a smaller C or a larger max_iter help.",
                ConvergenceWarning,
                stacklevel=3,
            )


def _spread(y: Array, weights: Array | None) -> float:
    """Return the standard deviation of the target, 1 for a constant one."""
    mean = np.average(y, weights=weights)
    return float(np.sqrt(np.average((y - mean) ** 2, weights=weights))) or 1.0


def _chosen_price(given: Array, y: Array, epsilon: float, spread: float, explicit: bool) -> float:
    """Return the C of least absolute error in three folds; among equals the smallest.

    Rows are taken evenly, and dealt to folds, in the order of their targets.
    """
    squares = np.einsum("ij,ij->i", given, given) if explicit else np.diagonal(given)
    size = float(squares.mean())
    unit = spread / size if 0 < size < np.inf else spread
    count = min(len(y), TRIED_ROWS)
    if count < 2 * FOLDS:
        return PRICES[1] * unit
    places = np.linspace(0, len(y) - 1, count).round().astype(np.intp)
    rows = np.argsort(y, kind="stable")[places]
    gram = given[rows] @ given[rows].T if explicit else given[np.ix_(rows, rows)]
    folds = np.arange(count) % FOLDS
    prices = [price * unit for price in PRICES]
    return prices[int(np.argmin([_error(gram, y[rows], folds, C, epsilon) for C in prices]))]


def _error(gram: Array, y: Array, folds: NDArray[np.intp], C: float, epsilon: float) -> float:
    total = 0.0
    for fold in range(FOLDS):
        training, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        known = gram[np.ix_(training, training)]
        found = solve_tube(known, y[training], C, epsilon, max_iter=TRIED_STEPS)
        values = gram[np.ix_(held_out, training)] @ found.coefficients + found.bias
        total += float(np.abs(values - y[held_out]).sum())
    return total
