"""Problems: some rows of the training data each, and what is to be learned of them at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Any, Literal, Protocol, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import IncompatibleError, SpecError
from mklkit.estimators.predicting import finite_values
from mklkit.protocols import (
    Array,
    CombinerFacts,
    FeatureMapFacts,
    LearnerFacts,
    Rows,
    Target,
    Task,
    facts_of,
)

__all__ = [
    "ALL_ROWS",
    "BinaryProblem",
    "Problem",
    "ScoreJoiner",
    "WholeProblem",
    "class_problems",
    "decision_values",
    "decompose",
    "join_scores",
]

ALL_ROWS = "all rows"
"""The name of the one problem of an estimator that learns from all rows at once."""

Strategy = Literal["ovo", "ovr", "native"]
STRATEGIES = ("ovo", "ovr", "native")


class Problem(Protocol):
    """One of the problems into which an estimator's target is divided."""

    @property
    def key(self) -> Hashable:
        """What tells it from the other problems of the estimator."""
        ...

    def rows(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Return the indices of its rows, by the values of all rows (N,)."""
        ...

    def target(self, values: NDArray[Any], dtype: Any, row_weights: Array | None = None) -> Target:
        """Return the target of its rows, by their values and their weights (n,)."""
        ...


@attrs.frozen
class WholeProblem:
    """All rows at once: several classes, numbers, or rows without labels.

    Attributes
    ----------
    task : Task
    column : int, optional
        The column of numbers that is learned, where they are several; all of them if not given.
    """

    task: Task
    column: int | None = None

    @property
    def key(self) -> Hashable:
        """The task and the column."""
        return self.task, self.column

    def rows(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Return the indices of all rows."""
        return np.arange(len(values))

    def target(self, values: NDArray[Any], dtype: Any, row_weights: Array | None = None) -> Target:
        """Return the target of values (N,) or (N, T)."""
        numbers = values if self.column is None else values[:, self.column]
        return Target(self.task, np.asarray(numbers, dtype), row_weights)


@attrs.frozen(eq=False)
class BinaryProblem:
    """Two classes, or one and the rest, on some of the rows; or all classes at once.

    Attributes
    ----------
    negative : int or None
        Class number of the rows labelled −1; None for the rest.
    positive : int or None
        Class number of the rows labelled +1; None where all classes are one problem, whose labels
        are class numbers.
    """

    negative: int | None
    positive: int | None

    @property
    def key(self) -> Hashable:
        """Both classes."""
        return self.negative, self.positive

    def rows(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the indices of the rows of this problem."""
        if self.negative is None:
            return np.arange(len(codes))
        return np.flatnonzero((codes == self.negative) | (codes == self.positive))

    def target(
        self, codes: NDArray[np.intp], dtype: Any, row_weights: Array | None = None
    ) -> Target:
        """Return −1 and +1 for the rows of this problem, or class numbers."""
        if self.positive is None:
            return Target("several classes", codes.astype(dtype), row_weights)
        labels = np.where(codes == self.positive, 1, -1).astype(dtype)
        return Target("two classes", labels, row_weights)

    def names(self, classes: NDArray[Any]) -> tuple[Any, Any]:
        """Return the labels of the negative and positive class; ``"(rest)"`` for the rest."""
        if self.positive is None:
            return "(all)", "(all)"
        negative = "(rest)" if self.negative is None else classes[self.negative]
        return negative, classes[self.positive]


def class_problems(
    n_classes: int, multiclass: str, combiner: Any, learner: Any
) -> list[BinaryProblem]:
    """Return the problems of ``n_classes`` classes by a multiclass strategy.

    Raises
    ------
    SpecError
        If there is no such strategy.
    IncompatibleError
        If ``"native"`` is required of components that handle only two classes.
    """
    if multiclass not in STRATEGIES:
        raise SpecError(
            f"multiclass must be one of {', '.join(map(repr, STRATEGIES))}; got {multiclass!r}."
        )
    if multiclass == "native":
        tasks = facts_of(combiner, CombinerFacts).tasks, facts_of(learner, LearnerFacts).tasks
        for part, able in zip((combiner, learner), tasks, strict=True):
            if "several classes" not in able:
                raise IncompatibleError(
                    f"{part.name} handles two classes only; for more use multiclass='ovo' or 'ovr'."
                )
    return decompose(n_classes, cast(Strategy, multiclass))


def decompose(n_classes: int, strategy: Strategy) -> list[BinaryProblem]:
    """Return the problems of ``n_classes`` classes; two classes are one binary problem.

    Examples
    --------
    >>> [(p.negative, p.positive) for p in decompose(3, "ovo")]
    [(0, 1), (0, 2), (1, 2)]
    >>> [(p.negative, p.positive) for p in decompose(3, "ovr")]
    [(None, 0), (None, 1), (None, 2)]
    """
    if n_classes == 2 or strategy == "ovo":
        return [BinaryProblem(i, j) for i, j in combinations(range(n_classes), 2)]
    if strategy == "native":
        return [BinaryProblem(None, None)]
    return [BinaryProblem(None, k) for k in range(n_classes)]


class ScoreJoiner:
    """One score per class from the decision values of binary problems, added one by one.

    One against the rest: the values themselves. One against one: votes plus, to break ties, the sum
    of the decision values, scaled to below one half so that it never outweighs a vote (as in
    scikit-learn).

    Parameters
    ----------
    shape : tuple of int
        The shape of one problem's decision values: (n,), or (n, G) for G variants side by side.
    n_classes : int
    """

    def __init__(self, shape: tuple[int, ...], n_classes: int) -> None:
        self._votes = np.zeros((n_classes, *shape))
        self._confidence = np.zeros((n_classes, *shape))

    def add(self, problem: BinaryProblem, values: Array) -> None:
        """Add the decision values of one binary problem."""
        assert problem.positive is not None, "only binary problems are joined"
        self._confidence[problem.positive] += values
        if problem.negative is not None:
            won = values > 0
            self._votes[problem.positive] += won
            self._votes[problem.negative] += ~won
            self._confidence[problem.negative] -= values

    def scores(self) -> Array:
        """Return the scores, classes first: (C, n) or (C, n, G)."""
        if not self._votes.any():
            return self._confidence
        return self._votes + self._confidence / (3 * (np.abs(self._confidence) + 1))


def decision_values(fitted: Any, rows: Rows, n_classes: int) -> Array:
    """Return the values of all problems' decisions, joined: (n,) for two classes, else (n, C).

    Raises
    ------
    DataError
        If a value is not finite.
    """
    shared = facts_of(fitted.plan.feature_map, FeatureMapFacts).shared
    scores = finite_values(fitted.decisions, rows, shared)
    if n_classes == 2:
        return scores[:, 0]
    if fitted.problems[0].positive is None:
        return scores
    return join_scores(fitted.problems, scores, n_classes)


def join_scores(problems: Sequence[BinaryProblem], scores: Array, n_classes: int) -> Array:
    """Return one score per class (n, C) from the decision values (n, number of problems)."""
    joiner = ScoreJoiner((len(scores),), n_classes)
    for column, problem in enumerate(problems):
        joiner.add(problem, scores[:, column])
    return joiner.scores().T
