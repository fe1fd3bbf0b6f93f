"""Fits on the folds: weights, scores, and what is lost without a kernel or a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from mklkit.errors import plain_message
from mklkit.estimators.folds import Rows
from mklkit.explanation.column_groups import shuffled
from mklkit.explanation.given_rows import GivenRows
from mklkit.explanation.refitting import Refit, members_of
from mklkit.protocols import Array, GatedDecision

__all__ = ["FoldResult", "Measuring"]

Lost = dict[str, float]
"""What is lost of each score."""


@attrs.frozen(eq=False)
class FoldResult:
    """What one fold shows.

    Attributes
    ----------
    training_rows : int
    score : dict
        Of the held-out rows, as the task's ``score`` returns it.
    weights, row_spread : ndarray of shape (M,)
        The mean weight of each kernel, over problems and, where rows have their own weights,
        over the held-out rows; and its deviation over these rows, else NaN.
    left_out : dict of int to dict
        Per kernel what is lost in a fit without it.
    shuffled : dict of tuple of int to dict
        Per group of columns what is lost when they are shuffled, the mean over repeats.
    """

    training_rows: int
    score: dict[str, Any]
    weights: Array
    row_spread: Array
    left_out: dict[int, Lost]
    shuffled: dict[tuple[int, ...], Lost]


@attrs.define(eq=False)
class Measuring:
    """The fits and predictions of all folds.

    Attributes
    ----------
    refit : Refit
    data : GivenRows
    left_out : sequence of int
        The kernels to leave out, by their places.
    groups : sequence of tuple of int
        The columns to shuffle together.
    repeats : int
        Permutations per group and fold.
    seed : int
    failures : dict of int to str
        Why a fit without a kernel failed.
    n_fits : int
        The number of fits so far.
    """

    refit: Refit
    data: GivenRows
    left_out: Sequence[int]
    groups: Sequence[tuple[int, ...]]
    repeats: int
    seed: int
    progress: Callable[[int, int], Any]
    failures: dict[int, str] = attrs.field(factory=dict)
    n_fits: int = 0
    _done: int = 0

    def over(self, splits: Sequence[tuple[Rows, Rows]]) -> list[FoldResult]:
        """Return the result of each fold."""
        total = len(splits) * (1 + len(self.left_out) + len(self.groups))
        self.progress(0, total)

        def step() -> None:
            self._done += 1
            self.progress(self._done, total)

        return [self._fold(number, *split, step) for number, split in enumerate(splits)]

    def _fold(self, number: int, train: Rows, scored: Rows, step: Callable[[], None]) -> FoldResult:
        task, y, truth = self.data.task, self.data.targets[train], self.data.targets[scored]
        before = None if self.refit.before is None else clone(self.refit.before)
        seen, held_out = self.data.given(self.data.table.iloc[train]), self.data.table.iloc[scored]
        if before is not None:
            seen = before.fit_transform(seen, y)

        def entering(rows: pd.DataFrame) -> Any:
            given = self.data.given(rows)
            return given if before is None else before.transform(given)

        new = entering(held_out)
        model = self.refit.on(seen).fit(seen, y)
        found = task.score(truth, model.predict(new), y)
        self.n_fits += 1
        weights, row_spread = _weights(model, new)
        step()

        def lost(answers: NDArray[Any]) -> Lost:
            # Rows that are scored several times have the mean of their scores.
            every = np.concatenate([truth] * (len(answers) // len(truth)))
            other = task.score(every, answers, y)
            return {name: found[name] - other[name] for name in task.endings.values()}

        without: dict[int, Lost] = {}
        for kernel in self.left_out:
            given = self._answers_without(kernel, model, seen, y, new)
            if given is not None:
                without[kernel] = lost(given)
            step()
        worth: dict[tuple[int, ...], Lost] = {}
        repeated, order = self._repeated(held_out, number)
        for group in self.groups:
            answers = model.predict(entering(shuffled(repeated, group, order)))
            worth[group] = lost(answers)
            step()
        return FoldResult(len(train), found, weights, row_spread, without, worth)

    def _repeated(self, held_out: pd.DataFrame, fold: int) -> tuple[pd.DataFrame, Rows]:
        """Return the held-out rows once per repeat, and an order that permutes each repeat.

        It is the same for all groups, so that their losses differ by the columns only.
        """
        random, size = np.random.default_rng([self.seed, fold]), len(held_out)
        order = [repeat * size + random.permutation(size) for repeat in range(self.repeats)]
        return held_out.iloc[np.tile(np.arange(size), self.repeats)], np.concatenate(order)

    def _answers_without(
        self, kernel: int, whole: Any, seen: Any, y: NDArray[Any], new: Any
    ) -> NDArray[Any] | None:
        """Return the predictions of a fit without a kernel; None, with the reason kept, if none."""
        if kernel in self.failures:
            return None
        self.n_fits += 1
        try:
            smaller = self.refit.without(kernel, whole)
            smaller.fit(self.refit.rows_without(kernel, whole, seen), y)
            left = self.refit.rows_without(kernel, whole, new)
            answers: NDArray[Any] = smaller.predict(left)
        except (ValueError, ArithmeticError, RuntimeError) as error:
            self.failures[kernel] = plain_message(error)
            return None
        return answers


def _weights(model: Any, rows: Any) -> tuple[Array, Array]:
    """Return each kernel's mean weight (M,), and its deviation over rows, NaN where it has none."""
    means, spreads = [], []
    for member in members_of(model):
        if all(isinstance(decision, GatedDecision) for decision in member.decisions_):
            own = member.gate_weights(rows)
            means.append(own.mean(axis=0))
            spreads.append(own.std(axis=0))
        else:
            means.append(member.weights_.mean(axis=0))
            spreads.append(np.full(member.weights_.shape[1], np.nan))
    return np.mean(means, axis=0), np.mean(spreads, axis=0)
