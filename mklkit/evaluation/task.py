"""The contract of a task: what a target holds, and what each command does with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from mklkit.estimators.folds import Rows
from mklkit.evaluation.splits import Split
from mklkit.protocols.component import Preset

__all__ = ["Splits", "Task"]

Splits = tuple[list[tuple[Rows, Rows]], list[str]]
"""The rows to train on and to score of each fold, and notes."""


class Task(Protocol):
    """What a target holds, and what each command does with it.

    Attributes
    ----------
    value, values : str
        What a row has, ``"class"`` or ``"number"``, and the plural.
    scores : mapping of str to str
        The scores of some rows and what they are called: the one that models are compared by, a
        second, and the first of what needs no features.
    losses : mapping of str to str
        The scores of which an explanation says what is lost, by the ending of a column's name.
    labels : ndarray of shape (C,), optional
        The classes of a model.
    folds_are : str
        How rows are divided into folds, ``"stratified"`` or ``"shuffled"``.
    n_targets : int
        The number of columns that are predicted.
    """

    value: ClassVar[str]
    values: ClassVar[str]
    scores: ClassVar[Mapping[str, str]]
    losses: ClassVar[Mapping[str, str]]
    folds_are: ClassVar[str]
    n_targets: int = 1
    labels: NDArray[Any] | None = None

    @property
    def score_name(self) -> str:
        """What the first score is called: ``"accuracy"`` or ``"R²"``."""
        return next(iter(self.scores.values()), "")

    def read(self, column: pd.Series) -> pd.Series:
        """Return a column of a table as targets; DataError if it can't be learned."""
        ...

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return targets as an array; DataError if a model can't be scored by them."""
        ...

    def pipeline(self, preset: Preset, *, scale: str | None = None, **settings: Any) -> Pipeline:
        """Return the unfitted steps from a table to predictions; settings as of the estimator."""
        ...

    def hold_out(self, targets: NDArray[Any], share: float, seed: int) -> Split:
        """Choose a share of the rows to hold out."""
        ...

    def folds(self, cv: Any, targets: NDArray[Any], seed: Any, repeats: int = 1) -> Splits:
        """Return the folds of a number, splitter or list of them, and notes."""
        ...

    def score(
        self,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        counts: ArrayLike | None = None,
    ) -> dict[str, Any]:
        """Return ``rows``, ``scores`` and ``better_than_baseline`` of predictions."""
        ...

    def shown(self, name: str, value: float | None) -> str:
        """Return a score as it is written."""
        ...

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return the columns that are predicted for rows, of which the first is the answer."""
        ...

    def comparable(self, column: pd.Series) -> Any:
        """Return targets or predictions such that equal ones are equal, NaN where there is none."""
        ...

    def no_better_than_guessing(self, scores: Mapping[str, Any]) -> str:
        """Return what a model is no better than, empty if its scores show that it is."""
        ...
