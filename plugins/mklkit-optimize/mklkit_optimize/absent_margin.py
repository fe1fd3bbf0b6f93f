"""Absent multiple kernel learning: each sample's margin is measured in the sources that it has."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import and_, ge, gt, instance_of, optional
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mklkit import IncompatibleError
from mklkit.missing import sample_scale
from mklkit.plugin import (
    Array,
    Combiner,
    CombinerTraits,
    GramSide,
    Learner,
    LinearDecision,
    Missing,
    RowBlock,
    Target,
    WeightedDecision,
    as_int,
    finite_number,
    register,
    solve_dual,
)
from mklkit_optimize.gram_sums import gram_stack
from mklkit_optimize.mklgl import closed_form_step
from mklkit_optimize.saddle import UNFINISHED


@register
@attrs.frozen
class AbsentMargin(Missing):
    """Measure a sample's margin in the sources that it has, and learn weights from these margins.

    min over f_m, b and ξ ≥ 0 of ½(Σ ‖f_m‖)² + C Σ ξ_i, with y_i(f(x_i)/s(x_i) + b) ≥ 1 − ξ_i,
    f(x) = Σ a_m(x) f_m(x), where a_m(x) = 1 if sample x has source m, else 0, and s(x) is the share
    of its sources in the norms, Σ a_m(x) ‖f_m‖ / Σ ‖f_m‖.

    Alternately, s follows from the weights w_m = ‖f_m‖ / Σ ‖f_m‖, and the weights from the norms
    ‖f_m‖ of a support vector machine on the kernels k_m(x, z)/(s(x)s(z)). New samples are decided
    by f(x)/s(x) + b.

    Parameters
    ----------
    C : float, optional
        By default the learner's C (1 if it has none).
    tol : float, default=1e-4
        The change of a weight at which the alternation ends.
    max_iter : int, default=200
        The most support vector machines to solve.

    Warns
    -----
    ConvergenceWarning
        If a weight changes by more than ``tol`` after ``max_iter`` steps.

    Notes
    -----
    Cost: one support vector machine per alternation, and M Gram matrices of memory.

    The strategy replaces the weights of the combiner, for two classes (several are solved in pairs
    or one against the rest, as usual), on Gram matrices; the learner is then fitted to the same
    kernel. It raises an error for regression, samples without labels, feature maps, and combiners
    without weights of a sum. If no training sample has a missing source, the combiner decides. For
    a fixed s the program is convex; the alternation may end in one of several solutions. Source:
    Liu, Wang, Zhu, Li, Zhu, Liu, Liu, Dou and Yin, Absent Multiple Kernel Learning Algorithms, IEEE
    TPAMI 42 (2020), their two-step algorithm, due to Chechik, Heitz, Elidan, Abbeel and Koller,
    JMLR 9 (2008), for one kernel. Unlike in their margin y(f(x) + b)/s(x), b is not divided by
    s(x), so that any learner works. Their convex program (also AAAI 2015) is not implemented: it
    replaces each sample's norm by the largest one, and equals ``simplemkl`` with zeros for gaps
    once a sample has all sources.

    Examples
    --------
    >>> from mklkit import MKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = X.sum(axis=1) > 0
    >>> X[:20, 0] = np.nan
    >>> kernels = ["a:rbf@0:1", "b:rbf@1:2"]
    >>> MKLClassifier(kernels, missing="absent-margin").fit(X, y).score(X[20:], y[20:]) > 0.9
    True
    """

    name: ClassVar[str] = "absent-margin"
    searched_as: ClassVar[dict[str, str]] = dict.fromkeys(("amkl", "absent"), "absent-margin")

    C: float | None = attrs.field(
        default=None,
        converter=attrs.converters.optional(float),
        validator=optional([gt(0), finite_number]),
    )
    tol: float = attrs.field(default=1e-4, converter=float, validator=and_(gt(0), finite_number))
    max_iter: int = attrs.field(
        default=200, converter=as_int, validator=and_(instance_of(int), ge(1))
    )

    def wrap(self, combiner: Combiner) -> Combiner:
        """Return a combiner whose weights replace those of another one."""
        return _AbsentMarginCombiner(combiner, self)

    def weights(
        self, grams: Array, missing: NDArray[np.bool_], target: Target, learner: Learner
    ) -> tuple[Array, Array]:
        """Return the weights (M,) and 1/s (N,) for Gram matrices (M, N, N), 0 where ``missing``."""
        C = self.C or learner.fixed_C or 1.0
        y, inner = target.values.astype(np.float64), float(np.clip(0.1 * self.tol, 1e-9, 1e-3))
        weights = np.full(len(grams), 1 / len(grams))
        change = np.inf
        remedy = ""
        for _ in range(self.max_iter):
            shares = np.square(sample_scale(missing, weights))
            gram = np.tensordot(weights, grams, 1) * np.outer(shares, shares)
            machine = solve_dual(gram, y, C, inner, row_weights=target.row_weights)
            signed = machine.coefficients * shares
            forms = np.maximum(grams @ signed @ signed, 0.0)
            if not forms.any():
                return weights, shares
            step = closed_form_step(weights, forms, 1.0)
            change = float(np.abs(step - weights).max())
            weights = step
            remedy = "raise max_iter or tol." if machine.ended else UNFINISHED
            if change <= self.tol:
                break
        else:
            warnings.warn(
                f"{self.name} stopped after {self.max_iter} steps, the last of which changed a"
                f" weight by {change:.2g}, above tol={self.tol:g}; {remedy}",
                ConvergenceWarning,
                stacklevel=3,
            )
        return weights, np.square(sample_scale(missing, weights))


@attrs.frozen
class _AbsentMarginCombiner(Combiner):
    name: ClassVar[str] = "absent-margin"

    combiner: Any
    strategy: AbsentMargin

    @property
    def traits(self) -> CombinerTraits:
        """The traits of the inner combiner."""
        traits: CombinerTraits = self.combiner.traits
        return traits

    def fit(
        self, views: Any, target: Target, learner: Learner, random_state: np.random.RandomState
    ) -> Any:
        """Return the decision of the learner on the kernels scaled by 1/s."""
        self.check(views.explicit, target)
        if views.missing is None:
            return self.combiner.fit(views, target, learner, random_state)
        grams = gram_stack(views)
        weights, shares = self.strategy.weights(grams, views.missing, target, learner)
        gram = np.tensordot(weights, grams, 1) * np.outer(shares, shares)
        fitted: Any = learner.fit(GramSide(gram), target)
        if fitted.coefficients is None:
            raise IncompatibleError(
                f"missing={self.name!r} needs a linear function of the kernels, which"
                f" {learner.name!r} is not: use a learner such as 'svm', or another strategy."
            )
        # 1/s is 1/√s twice: once as in any weighted sum with missing sources, and once here.
        linear = LinearDecision(fitted.coefficients * np.sqrt(shares), fitted.bias)
        return AbsentMarginDecision.fitted(views, weights, linear)

    def check(self, explicit: bool, target: Target) -> None:
        """Raise an ``IncompatibleError`` if there is no such margin."""
        problem = ""
        if target.kind.name != "two classes":
            problem = f"measures margins of two classes, and the target is {target.kind.name!r}"
        elif explicit:
            problem = "works on Gram matrices: use feature_map='implicit'"
        elif not self.combiner.gives_weights or self.combiner.name == "fixed-share":
            problem = f"learns all weights of a sum, and {self.combiner.name!r} takes none"
        if problem:
            raise IncompatibleError(
                f"missing={self.name!r} {problem}. Or use another strategy, such as 'present'."
            )


@register
@attrs.frozen(eq=False)
class AbsentMarginDecision(WeightedDecision):
    """f(x)/s(x) + b, where the scaled sum of the available kernels is f(x)/√s(x)."""

    def decide_block(self, block: RowBlock) -> Array:
        """Return the decision values (n,) of one block of samples."""
        bias = self.learner.bias
        values = super().decide_block(block) - bias
        return np.asarray(block.scaled(values, self.projectors, self.scales) + bias)

    def split_block(self, block: RowBlock) -> Array:
        """Return the part of each kernel and the bias, (n, M + 1)."""
        parts = super().split_block(block)
        parts[:, :-1] = block.scaled(parts[:, :-1], self.projectors, self.scales)
        return parts
