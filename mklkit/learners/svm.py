"""Support vector machines for two classes, for numbers, and for one class without labels."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of, lt
from sklearn.exceptions import ConvergenceWarning

from mklkit.display.numbers import significant
from mklkit.errors import IncompatibleError
from mklkit.learners.linear_decision import LinearDecision
from mklkit.learners.support_vectors import (
    MOST_STEPS,
    ONE_CLASS,
    Machine,
    choose_C,
    choose_C_of_regression,
    mean_square,
    solve_by_libsvm,
    solve_on_similarities,
    solve_primal,
    solve_svr,
)
from mklkit.protocols import Learner, LearnerTraits, Target, TrainingView
from mklkit.protocols.component import as_int, auto_or_number, finite_number
from mklkit.registry.hookspecs import register

FEATURE_ROWS = 5000
"""The most samples for libsvm on features: it recomputes inner products, which takes too long."""
C_GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)


def _tolerance() -> Any:
    return attrs.field(default=1e-3, converter=float, validator=[gt(0), finite_number])


def _most_steps() -> Any:
    return attrs.field(default=MOST_STEPS, converter=as_int, validator=[instance_of(int), ge(1)])


class _SupportVectorLearner(Learner):
    __slots__ = ()

    max_iter: int

    def _say_what_helps(self, side: TrainingView) -> None:
        size = significant(mean_square(side), 2)
        warnings.warn(
            f"{self.name} was stopped after max_iter={self.max_iter} steps. Kernel values are"
            f" about {size}; if that is far above 1, scaled features or"
            " kernels such as 'cosine(polynomial)' help, otherwise a smaller C or a larger"
            " max_iter.",
            ConvergenceWarning,
            stacklevel=3,
        )


@register
@attrs.frozen(eq=False)
class SVMDecision(LinearDecision):
    """A support vector machine's decision function, with its C."""

    C: float = attrs.field(kw_only=True)


@register
@attrs.frozen
class SVM(_SupportVectorLearner):
    """Soft-margin support vector machine on a Gram matrix or on features.

    Sample weights multiply C.

    Parameters
    ----------
    C : float or "auto", default="auto"
        The cost of margin errors. ``"auto"``: 1, 10 or 100 over the mean k(x, x), by
        cross-validation on at most about 300 samples of the training side; the fitted decision
        stores the choice. Sample weights count in the folds' fits and in their accuracy.
    tol : float, default=1e-3
        The tolerance on the optimality conditions.
    max_iter : int, default=1_000_000
        The maximum number of libsvm's steps, O(N) each. Kernels of very large values, such as a
        polynomial of unscaled features, could otherwise take hours. On features of more than 5,000
        samples, two hundred times the limit of passes over the samples.

    Raises
    ------
    DataError
        If kernel values are too large for the solver.

    Warns
    -----
    ConvergenceWarning
        If it stopped at ``max_iter``.

    See Also
    --------
    SVR : The same for numeric targets.
    Ridge : Least squares instead of the hinge loss.

    Notes
    -----
    Cost: between O(N²) and O(N³) on a Gram matrix. With a given C, more than 5,000 rows and
    Gaussian kernels, only the rows of the matrix that belong to samples near the margin are
    computed. On p features and more than 5,000 samples some dozens of passes over the samples,
    O(Np²) at most each, without all features in memory
    (:func:`mklkit.learners.support_vectors.solve_primal`). On a Gram matrix the fitted model keeps
    support vectors only.

    Examples
    --------
    >>> from mklkit.views.sides import GramSide
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> target = Target.two_classes(np.sign(rows[:, 0]))
    >>> fitted = SVM().fit(GramSide(rows @ rows.T), target)
    >>> fitted.decide(np.array([[3.0]]) @ rows.T) > 0
    array([ True])
    """

    name: ClassVar[str] = "svm"
    traits: ClassVar[LearnerTraits] = LearnerTraits(
        on_features=True, on_gram=True, takes_row_weights=True, search_space={"C": C_GRID}
    )

    C: float | str = auto_or_number()
    tol: float = _tolerance()
    max_iter: int = _most_steps()

    def resolved(self, side: TrainingView, target: Target) -> SVM:
        """Return the machine with the C chosen on these samples."""
        if not isinstance(self.C, str):
            return self
        return attrs.evolve(self, C=choose_C(side, target))

    def fit(self, side: TrainingView, target: Target) -> SVMDecision:
        """Return the decision function learned from labels −1 and +1."""
        y, row_weights = target.values, target.row_weights
        C = choose_C(side, target) if isinstance(self.C, str) else self.C
        problem = side, y, C, self.tol, self.max_iter, row_weights
        solution = solve_primal(*problem) if side.explicit else solve_on_similarities(*problem)
        if not solution.ended:
            self._say_what_helps(side)
        return SVMDecision(solution.coefficients, solution.bias, C=C)


@register
@attrs.frozen(eq=False)
class SVRDecision(LinearDecision):
    """A support vector regression's function, with its C and ε."""

    C: float = attrs.field(kw_only=True)
    epsilon: float = attrs.field(kw_only=True)


@register
@attrs.frozen
class SVR(_SupportVectorLearner):
    """Support vector regression: errors below ε cost nothing, larger ones C per unit beyond it.

    Minimises ½‖w‖² + C Σ_i s_i max(0, |f(x_i) − y_i| − ε) for samples of weight s over f = ⟨w,
    φ(x)⟩ + w₀.

    Parameters
    ----------
    C : float or "auto", default="auto"
        The cost of errors, in the units of the target as in scikit-learn's ``SVR``. ``"auto"``: 1,
        10 or 100 times the target's standard deviation over the mean k(x, x), by the absolute error
        in three folds of at most 300 samples; the fitted decision stores the choice.
    epsilon : float or "auto", default="auto"
        The width ε of the tube without cost, in the units of the target as in scikit-learn's
        ``SVR``. ``"auto"``: a tenth of the target's standard deviation.
    tol : float, default=1e-3
        The tolerance on the optimality conditions, in units of the target's standard deviation.
    max_iter : int, default=1_000_000
        The maximum number of libsvm's steps, O(N) each.

    Raises
    ------
    IncompatibleError
        On features of more than 5,000 samples, for which ``ridge`` takes sums over blocks of
        samples.
    DataError
        If kernel values are too large for the solver.

    Warns
    -----
    ConvergenceWarning
        If it stopped at ``max_iter``.

    See Also
    --------
    SVM : The same for classes.
    Ridge : Least squares.

    Notes
    -----
    Cost: between O(N²) and O(N³) on a Gram matrix, times p on features. On a Gram matrix the fitted
    model keeps support vectors only. A sample of weight 2 is the same sample twice, for a given C.

    References
    ----------
    .. [1] A. J. Smola and B. Schölkopf, "A tutorial on support vector regression", Statistics and
       Computing 14 (2004), 199–222.

    Examples
    --------
    >>> from mklkit.views.sides import GramSide
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> target = Target.numbers(3 * rows[:, 0] + 1)
    >>> fitted = SVR(C=100, epsilon=0.5).fit(GramSide(rows @ rows.T), target)
    >>> fitted.decide(np.array([[1.0]]) @ rows.T).round(2)
    array([3.75])
    """

    name: ClassVar[str] = "svr"
    traits: ClassVar[LearnerTraits] = LearnerTraits(
        on_features=True,
        on_gram=True,
        learns=("numbers",),
        takes_row_weights=True,
        search_space={"C": C_GRID},
    )

    C: float | str = auto_or_number()
    epsilon: float | str = auto_or_number(zero=True)
    tol: float = _tolerance()
    max_iter: int = _most_steps()

    def resolved(self, side: TrainingView, target: Target) -> SVR:
        """Return the machine with the C and the ε chosen on these samples."""
        y = np.asarray(target.values, np.float64)
        spread = float(np.sqrt(np.cov(y, aweights=target.row_weights, ddof=0))) or 1.0
        epsilon = 0.1 * spread if isinstance(self.epsilon, str) else self.epsilon
        C = self.C
        if isinstance(C, str):
            C = choose_C_of_regression(side, target, epsilon, spread)
        return attrs.evolve(self, C=C, epsilon=epsilon)

    def fit(self, side: TrainingView, target: Target) -> SVRDecision:
        """Return the function learned from numbers (N,)."""
        if side.explicit and side.n_rows > FEATURE_ROWS:
            raise IncompatibleError(
                f"The learner 'svr' on features takes at most {FEATURE_ROWS:,} samples; there are"
                f" {side.n_rows:,}. Use learner='ridge', or feature_map='implicit'."
            )
        resolved, y = self.resolved(side, target), np.asarray(target.values, np.float64)
        C, epsilon = float(resolved.C), float(resolved.epsilon)
        solution = solve_svr(
            side.features() if side.explicit else side.gram(),
            y,
            C,
            epsilon,
            explicit=side.explicit,
            row_weights=target.row_weights,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if not solution.ended:
            self._say_what_helps(side)
        return SVRDecision(solution.coefficients, solution.bias, C=C, epsilon=epsilon)


@register
@attrs.frozen
class OneClassSVM(_SupportVectorLearner):
    """One-class support vector machine, on a Gram matrix or on features, by libsvm.

    The decision function is positive for about a share 1 − ν of the training samples, and negative
    for samples that are unlike them.

    Parameters
    ----------
    nu : float, default=0.5
        The share ν, above 0 and below 1: at most this share of the training samples (by their
        weights) is outside, and at least this share are support vectors.
    tol : float, default=1e-3
        The tolerance on the optimality conditions.
    max_iter : int, default=1_000_000
        The maximum number of libsvm's steps, O(N) each.

    Raises
    ------
    DataError
        If kernel values are too large for the solver.

    Warns
    -----
    ConvergenceWarning
        If it stopped at ``max_iter``.

    See Also
    --------
    SVM : The support vector machine for classes.

    Notes
    -----
    Cost: between O(N²) and O(N³) on a Gram matrix, p times that on p features. The
    values are those of scikit-learn's ``OneClassSVM``. On a Gram matrix the fitted model keeps
    support vectors only.

    References
    ----------
    .. [1] B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola and R. C. Williamson, "Estimating
       the support of a high-dimensional distribution", Neural Computation 13 (2001), 1443–1471.

    Examples
    --------
    >>> from mklkit.views.sides import FeatureSide
    >>> rows = np.array([[4.0, 1.0], [4.1, 1.0], [3.9, 1.0], [0.1, 1.0]])
    >>> fitted = OneClassSVM(nu=0.5).fit(FeatureSide(rows), Target.nothing(4))
    >>> fitted.decide(np.array([[5.0, 1.0], [0.0, 1.0]])) > 0
    array([ True, False])
    """

    name: ClassVar[str] = "one-class-svm"
    traits: ClassVar[LearnerTraits] = LearnerTraits(
        on_features=True,
        on_gram=True,
        learns=("none",),
        takes_row_weights=True,
        search_space={"nu": (0.5, 0.2, 0.1, 0.05, 0.01)},
    )

    nu: float = attrs.field(default=0.5, converter=float, validator=[gt(0), lt(1), finite_number])
    tol: float = _tolerance()
    max_iter: int = _most_steps()

    def fit(self, side: TrainingView, target: Target) -> LinearDecision:
        """Return the decision function learned from the samples; the target has their weights."""
        columns = side.features() if side.explicit else side.gram()
        kernel = "linear" if side.explicit else "precomputed"
        machine = Machine(ONE_CLASS, kernel, self.tol, self.max_iter, nu=self.nu)
        solution = solve_by_libsvm(machine, columns, np.ones(len(columns)), target.row_weights)
        if not solution.ended:
            self._say_what_helps(side)
        return LinearDecision(solution.coefficients, solution.bias)
