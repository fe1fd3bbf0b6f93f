"""Fits on the folds: weights, scores, and what is lost without a kernel or a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from mklkit.errors import DataError, counted, named, plain_message, suggest
from mklkit.estimators.folds import Rows
from mklkit.estimators.introspection import column_names
from mklkit.evaluation.tasks import Task
from mklkit.explanation.columns import Places, shuffled
from mklkit.explanation.refitting import Refit, members_of
from mklkit.protocols import Array, GatedDecision, RowSource
from mklkit.views.dask import is_dask

__all__ = ["FoldResult", "Measuring", "ScoredRows"]

Lost = dict[str, float]
"""What is lost of each score."""


@attrs.frozen(eq=False)
class ScoredRows:
    """A table with the user's columns, and what is to be predicted.

    Attributes
    ----------
    table : DataFrame of shape (N, d)
    targets : ndarray of shape (N,) or (N, T)
    as_array : bool
        Whether the model was fitted on rows without column names.
    """

    table: pd.DataFrame
    targets: NDArray[Any]
    as_array: bool

    @classmethod
    def of(cls, model: Any, task: Task, X: Any, y: Any) -> Self:
        """Return checked rows, with the columns that the model was fitted on, in their order.

        Raises
        ------
        DataError
            If rows are not in memory, a column is missing, or y is not what the model can be
            scored by.
        """
        if isinstance(X, RowSource) or is_dask(X):
            raise DataError("Explaining needs rows in memory: pass a sample of them.")
        names = column_names(model)
        as_array = bool(np.issubdtype(names.dtype, np.integer))
        if isinstance(X, pd.DataFrame) and not as_array:
            columns = [str(name) for name in X.columns]
            missing = [name for name in names.tolist() if name not in columns]
            if missing:
                raise DataError(
                    f"The data lack {named(missing)} of the model.{suggest(missing[0], columns)}"
                )
            table = X[names.tolist()]
        else:
            rows = X if isinstance(X, pd.DataFrame) else np.asarray(X)
            if rows.ndim != 2 or rows.shape[1] != len(names):
                raise DataError(
                    f"The model was fitted on {counted(len(names), 'column')}; the rows have shape"
                    f" {rows.shape}."
                )
            table = pd.DataFrame(rows) if as_array else pd.DataFrame(rows).set_axis(names, axis=1)
        return cls(table, task.checked(y, len(table)), as_array)

    @property
    def names(self) -> list[str]:
        """The user's names of the columns."""
        return [str(name) for name in self.table.columns]

    def as_fitted(self, table: pd.DataFrame) -> Any:
        """Return rows of the table in the form on which the model was fitted."""
        return table.to_numpy() if self.as_array else table

    def sampled(self, task: Task, most: int | None, seed: int) -> tuple[Self, list[str]]:
        """Return a sample of at most so many rows, and a note if there are more."""
        n_rows = len(self.table)
        if most is None or n_rows <= most:
            return self, []
        # Half a row less, as the number is rounded up.
        drawn = task.hold_out(self.targets, (n_rows - most - 0.5) / n_rows, seed)
        kept = drawn.train
        note = f"{len(kept):,} rows of {n_rows:,}, drawn {drawn.kind}"
        return attrs.evolve(self, table=self.table.iloc[kept], targets=self.targets[kept]), [note]


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
    shuffled: dict[Places, Lost]


@attrs.define(eq=False)
class Measuring:
    """The fits and predictions of all folds.

    Attributes
    ----------
    task : Task
    refit : Refit
    data : ScoredRows
    left_out : sequence of int
        The kernels to leave out, by their places.
    groups : sequence of tuple of int
        The columns to shuffle together.
    repeats : int
        Permutations per group and fold.
    seed : int
    progress : callable
        Told the steps that are done and all of them.
    failures : dict of int to str
        Why a fit without a kernel failed.
    n_fits : int
        The number of fits so far.
    """

    task: Task
    refit: Refit
    data: ScoredRows
    left_out: Sequence[int]
    groups: Sequence[Places]
    repeats: int
    seed: int
    progress: Callable[[int, int], Any]
    failures: dict[int, str] = attrs.field(factory=dict)
    n_fits: int = 0

    def over(self, splits: Sequence[tuple[Rows, Rows]]) -> list[FoldResult]:
        """Return the result of each fold."""
        done, total = 0, len(splits) * (1 + len(self.left_out) + len(self.groups))
        self.progress(0, total)

        def step() -> None:
            nonlocal done
            done += 1
            self.progress(done, total)

        return [self._fold(number, *rows, step) for number, rows in enumerate(splits)]

    def _fold(self, number: int, train: Rows, scored: Rows, step: Callable[[], None]) -> FoldResult:
        y, truth = self.data.targets[train], self.data.targets[scored]
        held_out = self.data.table.iloc[scored]
        before = None if self.refit.before is None else clone(self.refit.before)
        rows = self.data.as_fitted(self.data.table.iloc[train])
        if before is not None:
            rows = before.fit_transform(rows, y)

        def encoded(table: pd.DataFrame) -> Any:
            fitted_form = self.data.as_fitted(table)
            return fitted_form if before is None else before.transform(fitted_form)

        def lost(answers: NDArray[Any]) -> Lost:
            # Rows that are scored several times have the mean of their scores.
            repeated = np.concatenate([truth] * (len(answers) // len(truth)))
            worse = self.task.score(repeated, answers, y)
            return {name: score[name] - worse[name] for name in self.task.losses.values()}

        new = encoded(held_out)
        model = self.refit.on(rows).fit(rows, y)
        score = self.task.score(truth, model.predict(new), y)
        if any(score[name] is None for name in self.task.losses.values()):
            raise DataError(
                f"The numbers scored in fold {number} are all the same, and R² needs different"
                " ones: take fewer folds, or more rows."
            )
        self.n_fits += 1
        weights, row_spread = _weights(model, new)
        step()
        without: dict[int, Lost] = {}
        for kernel in self.left_out:
            answers = self._answers_without(kernel, model, rows, y, new)
            if answers is not None:
                without[kernel] = lost(answers)
            step()
        worth: dict[Places, Lost] = {}
        # The same permutations for all groups, so that their losses differ by the columns only.
        random, size = np.random.default_rng([self.seed, number]), len(held_out)
        order = np.concatenate(
            [repeat * size + random.permutation(size) for repeat in range(self.repeats)]
        )
        tiled = held_out.iloc[np.tile(np.arange(size), self.repeats)]
        for group in self.groups:
            worth[group] = lost(model.predict(encoded(shuffled(tiled, group, order))))
            step()
        return FoldResult(len(train), score, weights, row_spread, without, worth)

    def _answers_without(
        self, kernel: int, whole: Any, rows: Any, y: NDArray[Any], new: Any
    ) -> NDArray[Any] | None:
        """Return the predictions of a fit without a kernel; None, with the reason kept, if none."""
        if kernel in self.failures:
            return None
        self.n_fits += 1
        try:
            smaller = self.refit.without(kernel, whole)
            smaller.fit(self.refit.rows_without(kernel, whole, rows), y)
            answers: NDArray[Any] = smaller.predict(self.refit.rows_without(kernel, whole, new))
        except (ValueError, ArithmeticError, RuntimeError) as error:
            self.failures[kernel] = plain_message(error)
            return None
        return answers


def _weights(model: Any, rows: Any) -> tuple[Array, Array]:
    """Return each kernel's mean weight (M,), and its deviation over rows, NaN where it has none."""
    means, spreads = [], []
    for member in members_of(model):
        if all(isinstance(decision, GatedDecision) for decision in member.decisions_):
            gates = member.gate_weights(rows)
            means.append(gates.mean(axis=0))
            spreads.append(gates.std(axis=0))
        else:
            means.append(member.weights_.mean(axis=0))
            spreads.append(np.full(member.weights_.shape[1], np.nan))
    return np.mean(means, axis=0), np.mean(spreads, axis=0)
