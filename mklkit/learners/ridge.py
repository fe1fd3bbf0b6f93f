"""Kernel ridge regression, on a Gram matrix or on features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import ge, gt, instance_of

from mklkit.errors import IncompatibleError
from mklkit.learners.ho_kashyap.problems import ridge_problem
from mklkit.learners.linear_decision import LinearDecision
from mklkit.numerics.least_squares import feature_rounding
from mklkit.numerics.ridge import FeatureRidge, GramRidge, RidgeSystem, WeightedRows, one_hot
from mklkit.protocols import (
    SEVERAL_CLASSES,
    Array,
    CouplingTraits,
    Learner,
    LearnerTraits,
    Stopping,
    Subproblem,
    Target,
    TrainingView,
)
from mklkit.protocols.component import AUTO, as_int, auto_or_number, finite_number
from mklkit.registry.hookspecs import register


@register
@attrs.frozen(eq=False)
class RidgeDecision(LinearDecision):
    """A ridge regression's function, with its ridge: (T,), that of each of several targets."""

    alpha: Any = attrs.field(kw_only=True)


@register
@attrs.frozen
class Ridge(Learner):
    """Kernel ridge regression, or least-squares classification.

    Minimises Σ_i s_i (f(x_i) − y_i)² + α‖w‖² for samples of weight s over f = ⟨w, φ(x)⟩ + w₀. The
    targets of two classes are −1 and +1. Those of C classes are one-hot, 1 for the sample's class
    and 0 for the others, with one function per class and the same α for all.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        The ridge α on the weights (not on the bias), as in scikit-learn's ``KernelRidge`` and
        ``Ridge``; 0 or above. ``"auto"``: 10⁻⁸ … 10⁴ times the mean k(x, x) of the samples about
        their mean, in 25 steps, by exact leave-one-out error, for each numeric target on its own
        and for all classes together; on features, that of at most 20,000 samples. The fitted
        decision stores the choice.
    intercept : bool, default=True
        Whether there is a bias w₀.
    tol : float, default=1e-9
        If ``ifsl`` couples ridge regressions: the relative change of the objective at which the
        iteration ends.
    max_iter : int, default=1000
        If ``ifsl`` couples them: the most passes, with a ``ConvergenceWarning`` at the end.

    See Also
    --------
    SVR : Regression with an insensitive margin.
    SVM : The default learner for classes.

    Notes
    -----
    Cost: O(N³/3) on a Gram matrix, or O(9N³) with ``"auto"``; O(Np² + p³) on p features.

    On a Gram matrix, or with at least as many features as rows, a Cholesky factor, O(N³/3), or
    eigenpairs for ``"auto"``, O(9N³); with p < N features O(Np² + p³), in passes over blocks of
    samples. Several targets (N, T), and all classes, share these, in O(N²T) or O(NpT) per ridge
    tried.
    A sample of weight 2 is the same sample twice; for ``"auto"`` the same two samples of a group,
    since a sample is held out with all of its weight.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman and V. Vovk, "Ridge regression learning algorithm in dual
       variables", International Conference on Machine Learning (1998), 515–521.
    .. [2] D. M. Allen, "The relationship between variable selection and data augmentation and a
       method for prediction", Technometrics 16 (1974), 125–127.

    Examples
    --------
    >>> import numpy as np
    >>> from mklkit.views.sides import GramSide
    >>> rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> fitted = Ridge(alpha=10).fit(GramSide(rows @ rows.T), Target.numbers(3 * rows[:, 0] + 1))
    >>> fitted.decide(np.array([[1.0]]) @ rows.T).round(6)
    array([2.5])
    """

    name: ClassVar[str] = "ridge"

    alpha: float | str = auto_or_number(zero=True)
    intercept: bool = attrs.field(default=True, validator=instance_of(bool))
    tol: float = attrs.field(default=1e-9, converter=float, validator=[gt(0), finite_number])
    max_iter: int = attrs.field(default=1000, converter=as_int, validator=[instance_of(int), ge(2)])

    @property
    def traits(self) -> LearnerTraits:
        """It learns numeric targets and classes; without an intercept there is no free bias."""
        return LearnerTraits(
            on_features=True,
            on_gram=True,
            learns=("two classes", "several classes", "numbers"),
            takes_row_weights=True,
            several_targets=True,
            takes_indefinite=True,
            free_bias=self.intercept,
            one_hot_classes=True,
            search_space={"alpha": tuple(10.0**k for k in range(3, -5, -1))},
        )

    def fit(self, side: TrainingView, target: Target) -> RidgeDecision:
        """Return the function learned from labels −1 and +1, class numbers, or numeric targets."""
        values: Array = np.asarray(target.values, np.float64)
        of_classes = target.kind == SEVERAL_CLASSES
        if of_classes:
            values = one_hot(values)
        columns = values if values.ndim == 2 else values[:, None]
        system = self._system(side, target)
        if isinstance(self.alpha, str):
            alphas = system.best_ridges(columns, shared=of_classes)
        else:
            alphas = np.full(columns.shape[1], self.alpha)
        solved, bias = system.solve(columns, alphas)
        weights: Any = solved
        if side.explicit and isinstance(system, GramRidge):
            weights = np.asarray(side.project_back(solved), np.float64)
        if values.ndim == 1:
            return RidgeDecision(weights[:, 0], float(bias[0]), alpha=float(alphas[0]))
        return RidgeDecision(weights, bias, alpha=float(alphas[0]) if of_classes else alphas)

    def fit_targets(self, side: TrainingView, target: Target) -> list[RidgeDecision]:
        """Return the function of each column of numbers (N, T), by one decomposition."""
        fitted = self.fit(side, target)
        columns = zip(fitted.coefficients.T, fitted.bias, fitted.alpha, strict=True)
        return [RidgeDecision(weights, float(b), alpha=float(a)) for weights, b, a in columns]

    def _system(self, side: TrainingView, target: Target) -> RidgeSystem:
        rows = WeightedRows.of(side.n_rows, target.row_weights, self.intercept, target.groups)
        if not side.explicit or side.n_features >= side.n_rows:
            return GramRidge(side.gram(), rows)
        moments = side.class_moments(row_weights=target.row_weights).together()
        products = moments.normal_matrix().products
        # The size of rounding errors in products of constant features.
        precision = np.finfo(side.some_features(np.arange(1)).dtype).eps
        floor = feature_rounding(float(precision), side.n_rows) * float(np.trace(products))
        center = np.zeros(len(products))
        if self.intercept:
            products = moments.covariance(0) * moments.total
            center = moments.means[0]
        return FeatureRidge(products, center, rows, floor, side.project_back, side.some_features)

    @property
    def coupling(self) -> CouplingTraits:
        """Fixed margins; variants may differ in α."""
        stopping = Stopping(self.tol, True, self.max_iter)
        return CouplingTraits(stopping=stopping, variants=("alpha",), on_kernels=True)

    def subproblem(
        self, side: TrainingView, target: Target, variants: Sequence[Ridge]
    ) -> Subproblem:
        """Return the ridge regression of one view, one column per variant's ``alpha``.

        For ``"auto"``, it is the best ridge of this view alone. Without an intercept it raises an
        IncompatibleError.
        """
        if not self.intercept:
            raise IncompatibleError(
                "Coupled ridge regressions need an intercept each: use ridge(intercept=True)."
            )
        alphas = [variant.alpha for variant in variants]
        if AUTO in alphas:
            values = np.asarray(target.values, np.float64)[:, None]
            best = float(self._system(side, target).best_ridges(values)[0])
            alphas = [best if alpha == AUTO else alpha for alpha in alphas]
        return ridge_problem(side, np.array(alphas, dtype=np.float64), target.row_weights)
