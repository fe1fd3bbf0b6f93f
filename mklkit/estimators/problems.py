"""Problems: some samples of the training data, and the target to be learned from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, get_args

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError, SpecError
from mklkit.estimators.model_settings import Multiclass
from mklkit.estimators.predicting import finite_values
from mklkit.protocols import (
    SEVERAL_CLASSES,
    TWO_CLASSES,
    Array,
    Combiner,
    CombinerTraits,
    FeatureMapTraits,
    LearnerTraits,
    Rows,
    Target,
    traits_of,
)
from mklkit.registry.given_arrays import writes_explained
from mklkit.registry.tasks import kind_named
from mklkit.views.deciding import split_all

STRATEGIES = get_args(Multiclass)


@attrs.frozen
class Problem:
    """One of the problems into which an estimator's target is divided.

    ``kind`` is the name of its kind of target.

    ``negative`` and ``positive`` are the numbers of the classes labelled −1 and +1; a negative
    class of None stands for all but the positive one. ``column`` is the column of the numbers to
    be learned; None for all of them.
    """

    kind: str
    negative: int | None = None
    positive: int | None = None
    column: int | None = None

    def rows(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Return the indices of its samples, from the values of all samples (N,)."""
        if self.negative is None:
            return np.arange(len(values))
        return np.flatnonzero((values == self.negative) | (values == self.positive))

    def target(
        self,
        values: NDArray[Any],
        dtype: Any,
        row_weights: Array | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> Target:
        """Return the target of its samples, from their values, weights and groups (n,)."""
        if self.positive is not None:
            values = np.where(values == self.positive, 1, -1)
        elif self.column is not None:
            values = values[:, self.column]
        return Target(kind_named(self.kind), np.asarray(values, dtype), row_weights, groups)

    def names(self, classes: NDArray[Any]) -> tuple[Any, Any]:
        """Return the labels of the negative and positive class; ``"(rest)"`` for the rest."""
        if self.positive is None:
            return "(all)", "(all)"
        negative = "(rest)" if self.negative is None else classes[self.negative]
        return negative, classes[self.positive]


def class_problems(n_classes: int, multiclass: str, combiner: Any, learner: Any) -> list[Problem]:
    """Return the problems for ``n_classes`` classes; two classes make one problem.

    ``"auto"`` is one problem if the combiner learns several classes, and the learner learns these
    as one-hot targets of one system; otherwise it is one-vs-one.

    >>> [(p.negative, p.positive) for p in class_problems(3, "ovr", None, None)]
    [(None, 0), (None, 1), (None, 2)]
    """
    if multiclass not in STRATEGIES:
        raise SpecError(
            f"multiclass must be one of {', '.join(map(repr, STRATEGIES))}; got {multiclass!r}."
        )
    if multiclass == "auto":
        multiclass = "ovo" if _keeps_pairs(combiner, learner) else "native"
    if multiclass == "native":
        for part in (combiner, learner):
            if not _learns_several(part):
                raise IncompatibleError(
                    f"{part.name} handles two classes only; for more use multiclass='ovo' or 'ovr'."
                )
    if n_classes == 2 or multiclass == "ovo":
        return [Problem(TWO_CLASSES.name, i, j) for i, j in combinations(range(n_classes), 2)]
    if multiclass == "native":
        return [Problem(SEVERAL_CLASSES.name)]
    return [Problem(TWO_CLASSES.name, None, k) for k in range(n_classes)]


def class_choice(n_classes: int, combiner: Any, learner: Any) -> str:
    """Return what ``multiclass="auto"`` is for several classes and why, in a sentence."""
    pairs = _keeps_pairs(combiner, learner)
    if pairs:
        problems = n_classes * (n_classes - 1) // 2
        return f"{n_classes} classes one-vs-one in {problems} problems: {pairs}"
    reason = f"{combiner.name} and {learner.name} learn one-hot targets together"
    return f"{n_classes} classes in one problem: {reason}"


def _keeps_pairs(combiner: Any, learner: Any) -> str:
    """Return why several classes are learned in pairs by default; empty if they are not."""
    for part in (combiner, learner):
        if not _learns_several(part):
            return f"{part.name} learns two classes"
    if not traits_of(learner, LearnerTraits).one_hot_classes:
        return f"{learner.name} does not learn one-hot targets"
    return ""


def _learns_several(part: Any) -> bool:
    """Return whether a combiner or a learner learns several classes in one fit."""
    traits: Any = CombinerTraits if isinstance(part, Combiner) else LearnerTraits
    return SEVERAL_CLASSES.is_in(traits_of(part, traits).learns)


def join_scores(problems: Sequence[Problem], values: Iterable[Array], n_classes: int) -> Array:
    """Return one score per class, classes first, from the decision values of two-class problems.

    One-vs-rest: the values themselves. One-vs-one: votes plus, to break ties, the sum
    of the decision values, scaled to below one half so that it never outweighs a vote (as in
    scikit-learn). The values of each problem have the same shape, such as (n,); they are
    requested one after another.
    """
    votes: list[Any] = [0.0] * n_classes
    sums: list[Any] = [0.0] * n_classes
    for problem, value in zip(problems, values, strict=True):
        positive, negative = problem.positive, problem.negative
        assert positive is not None, "only problems of two classes are joined"
        sums[positive] = sums[positive] + value
        if negative is not None:
            won = value > 0
            votes[positive] = votes[positive] + won
            votes[negative] = votes[negative] + ~won
            sums[negative] = sums[negative] - value
    confidence = np.array(sums)
    if problems[0].negative is None:
        return confidence
    return np.array(votes) + confidence / (3 * (np.abs(confidence) + 1))


def decision_parts(fitted: Any, rows: Rows) -> Array:
    """Return what each kernel and the constant add to the values of all problems, (n, M + 1, P)."""
    same_map = traits_of(fitted.plan.feature_map, FeatureMapTraits).shared
    with writes_explained(fitted.plan.components):
        return split_all(fitted.decisions, rows, same_map or fitted.plan.combiner.joins_targets)


def joined_parts(fitted: Any, rows: Rows, n_classes: int) -> Array:
    """Return the parts of decision values: (n, M + 1) for two classes, else (n, M + 1, C)."""
    if n_classes > 2 and fitted.problems[0].negative is not None:
        raise IncompatibleError(
            "The values of multiclass='ovo' count votes, which are not a sum over kernels: fit with"
            " multiclass='ovr' to split them."
        )
    parts = decision_parts(fitted, rows)
    return parts[:, :, 0] if n_classes == 2 else parts


def decision_values(fitted: Any, rows: Rows, n_classes: int) -> Array:
    """Return the values of all problems' decisions, joined: (n,) for two classes, else (n, C)."""
    same_map = traits_of(fitted.plan.feature_map, FeatureMapTraits).shared
    scores = finite_values(fitted, rows, same_map)
    if n_classes == 2:
        return scores[:, 0]
    if fitted.problems[0].positive is None:
        return scores
    return join_scores(fitted.problems, scores.T, n_classes).T
