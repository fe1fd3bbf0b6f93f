"""How the rows of an explanation are checked, drawn, split and scored: by classes or by numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mklkit.datasets.target import class_labels, learned_numbers
from mklkit.errors import DataError, IncompatibleError, counted, listed, type_name
from mklkit.estimators.folds import Rows, splits_of, splits_of_numbers
from mklkit.estimators.introspection import KernelClassifier, KernelModel, KernelRegressor, split
from mklkit.evaluation.number_scores import score_numbers
from mklkit.evaluation.scores import score
from mklkit.evaluation.splits import hold_out
from mklkit.protocols import Array

__all__ = ["Classes", "Numbers", "ScoredTask", "task_of"]

Splits = tuple[list[tuple[Rows, Rows]], list[str]]
"""The rows to train on and to score of each fold, and notes."""


class ScoredTask(Protocol):
    """What a model predicts, and how well.

    Attributes
    ----------
    value, values : str
        What a row has, ``"class"`` or ``"number"``, and the plural.
    n_targets : int
        The number of columns that are predicted.
    score_name : str
        What the score is called of which something is lost: ``"accuracy"`` or ``"R²"``.
    scores : tuple of str
        The names of a fold's scores, the one of which something is lost first.
    endings : mapping of str to str
        The scores of which something is lost, by the ending of the column's name.
    """

    value: ClassVar[str]
    values: ClassVar[str]
    score_name: ClassVar[str]
    scores: ClassVar[tuple[str, ...]]
    endings: ClassVar[Mapping[str, str]]

    @property
    def n_targets(self) -> int:
        """The number of columns that are predicted."""
        ...

    def of_column(self, column: pd.Series) -> pd.Series:
        """Return a column of a file as classes or numbers; DataError if it holds others."""
        ...

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return the target as an array; DataError if the model can't be scored by it."""
        ...

    def sample(self, targets: NDArray[Any], most: int, seed: int) -> tuple[Rows, str]:
        """Return so many rows, and how they were drawn."""
        ...

    def splits(self, cv: Any, targets: NDArray[Any], seed: int) -> Splits:
        """Return the folds, and notes on them."""
        ...

    def score(
        self, truth: NDArray[Any], predictions: NDArray[Any], training: NDArray[Any]
    ) -> dict[str, Any]:
        """Return ``rows`` and the scores of predictions."""
        ...

    def in_short(self, scores: pd.DataFrame) -> str:
        """Return the mean score of the folds with its name."""
        ...

    def summary(self, scores: pd.DataFrame) -> str:
        """Return the mean scores of the folds, and the unit of what is lost."""
        ...

    def beside_guessing(self, scores: pd.DataFrame) -> Iterator[str]:
        """Yield a sentence if the model was not seen to beat guessing."""
        ...


@attrs.frozen(eq=False)
class Classes(ScoredTask):
    """Classes, by accuracy in stratified folds.

    Attributes
    ----------
    known : ndarray of shape (C,)
        Those of the model.
    """

    value: ClassVar[str] = "class"
    values: ClassVar[str] = "classes"
    score_name: ClassVar[str] = "accuracy"
    scores: ClassVar[tuple[str, ...]] = ("accuracy", "balanced_accuracy", "baseline")
    endings: ClassVar[Mapping[str, str]] = {"": "accuracy", "_balanced": "balanced_accuracy"}

    known: NDArray[Any]

    @property
    def n_targets(self) -> int:
        """One."""
        return 1

    def of_column(self, column: pd.Series) -> pd.Series:
        """Return the labels as text, integers or booleans."""
        return class_labels(column)

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Refuse gaps, a single class, and classes of which the model knows none."""
        labels = _one_per_row(y, n_rows, self.value, ())
        classes = np.unique(labels).tolist()
        if len(classes) < 2:
            what = f"there is only {classes[0]!r}" if classes else "there are no rows"
            raise DataError(f"Explaining needs rows of at least two classes; {what}.")
        if not set(classes) & set(self.known.tolist()):
            raise DataError(
                f"None of the classes {listed(classes)} is one of the model, which has"
                f" {listed(self.known.tolist())}: these are not its classes."
            )
        return labels

    def sample(self, targets: NDArray[Any], most: int, seed: int) -> tuple[Rows, str]:
        """Return a stratified sample."""
        return hold_out(targets, 1 - most / len(targets), seed).train, "at random by class"

    def splits(self, cv: Any, targets: NDArray[Any], seed: int) -> Splits:
        """Return stratified folds where a number of them is given."""
        classes, codes = np.unique(targets, return_inverse=True)
        return splits_of(cv, np.arange(float(len(codes)))[:, None], codes, classes, seed)

    def score(
        self, truth: NDArray[Any], predictions: NDArray[Any], training: NDArray[Any]
    ) -> dict[str, Any]:
        """Return what :func:`mklkit.evaluation.score` does."""
        return score(truth, predictions, training)

    def in_short(self, scores: pd.DataFrame) -> str:
        """Return the mean accuracy."""
        return f"accuracy {100 * scores['accuracy'].mean():.1f} %"

    def summary(self, scores: pd.DataFrame) -> str:
        """Return the mean accuracies."""
        means = scores[list(self.scores)].mean()
        return (
            f"{means['accuracy']:.1%}, balanced {means['balanced_accuracy']:.1%}, always the"
            f" commonest {means['baseline']:.1%}; what is lost is in points of accuracy"
        )

    def beside_guessing(self, scores: pd.DataFrame) -> Iterator[str]:
        """Yield a sentence if the accuracy is not above that of the most frequent class."""
        accuracy, baseline = scores["accuracy"].mean(), scores["baseline"].mean()
        if accuracy <= baseline:
            yield (
                f"the accuracy on these folds, {100 * accuracy:.1f} %, is no better than that of"
                f" the most frequent class, {100 * baseline:.1f} %: they do not show that the model"
                " predicts anything, so that losses say little"
            )


@attrs.frozen(eq=False)
class Numbers(ScoredTask):
    """Numbers, by R² in shuffled folds; of several targets by its mean over them.

    Attributes
    ----------
    names : list of T str
        The targets of the model.
    """

    value: ClassVar[str] = "number"
    values: ClassVar[str] = "numbers"
    score_name: ClassVar[str] = "R²"
    scores: ClassVar[tuple[str, ...]] = ("r2", "mean_absolute_error", "baseline")
    endings: ClassVar[Mapping[str, str]] = {"": "r2"}

    names: list[str]

    @property
    def n_targets(self) -> int:
        """The number of targets."""
        return len(self.names)

    def of_column(self, column: pd.Series) -> pd.Series:
        """Return the numbers in float64."""
        return learned_numbers(column, "choose another column by --target")

    def checked(self, y: Any, n_rows: int) -> Array:
        """Refuse other shapes than the model's, gaps, text, and the same number in all rows."""
        given = _one_per_row(y, n_rows, self.value, (self.n_targets,) * (self.n_targets > 1))
        try:
            numbers = given.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                "The model predicts numbers, and y holds others: give the numbers of the rows."
            ) from error
        if not np.isfinite(numbers).all():
            raise DataError("An infinite number can't be predicted: leave such rows out.")
        if n_rows < 2 or (np.ptp(numbers, axis=0) == 0).any():
            raise DataError("Explaining needs different numbers; those of a target are the same.")
        return numbers

    def sample(self, targets: NDArray[Any], most: int, seed: int) -> tuple[Rows, str]:
        """Return rows drawn at random."""
        drawn = np.random.default_rng(seed).choice(len(targets), most, replace=False)
        return np.sort(drawn), "at random"

    def splits(self, cv: Any, targets: NDArray[Any], seed: int) -> Splits:
        """Return shuffled folds where a number of them is given."""
        return splits_of_numbers(cv, targets, seed)

    def score(
        self, truth: NDArray[Any], predictions: NDArray[Any], training: NDArray[Any]
    ) -> dict[str, Any]:
        """Return R² and the mean absolute error."""
        return score_numbers(truth, predictions, training)

    def in_short(self, scores: pd.DataFrame) -> str:
        """Return the mean R²."""
        return f"R² {scores['r2'].mean():.3f}"

    def summary(self, scores: pd.DataFrame) -> str:
        """Return the mean R² and errors."""
        means = scores[list(self.scores)].mean()
        targets = f", the mean of {self.n_targets} targets" if self.n_targets > 1 else ""
        return (
            f"{means['r2']:.3f}{targets}, mean absolute error {means['mean_absolute_error']:.4g},"
            f" always the median {means['baseline']:.4g}; what is lost is in points of R²: 1 point"
            " is 0.01"
        )

    def beside_guessing(self, scores: pd.DataFrame) -> Iterator[str]:
        """Yield a sentence if R² is not above 0."""
        found = scores["r2"].mean()
        if found <= 0:
            yield (
                f"R² on these folds, {found:.3f}, is no better than that of always predicting the"
                " mean, 0: they do not show that the model predicts anything, so that losses say"
                " little"
            )


def task_of(model: Any) -> ScoredTask:
    """Return how a fitted model is scored.

    Raises
    ------
    IncompatibleError
        If it has no kernels, or there is nothing by which it could be scored.
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    _, last = split(model)
    if isinstance(last, KernelClassifier):
        return Classes(np.asarray(model.classes_))
    if isinstance(last, KernelRegressor):
        return Numbers(list(last.target_names_))
    if isinstance(last, KernelModel):
        raise IncompatibleError(
            f"{type_name(last)} learns from rows without labels, so there is no score by which the"
            " worth of a kernel could be measured; its weights are in weights_frame()."
        )
    raise IncompatibleError(
        f"{type_name(last)} has no kernels to explain; a fitted MKLClassifier, MKLRegressor,"
        " MKLVotingClassifier or RPEMEKLClassifier is expected, or a pipeline or search around one."
        " For other estimators there is sklearn.inspection.permutation_importance."
    )


def _one_per_row(y: Any, n_rows: int, value: str, several: tuple[int, ...]) -> NDArray[Any]:
    """Return a target of one value per row and target, without gaps."""
    found = np.asarray(y)
    if not several and found.shape == (n_rows, 1):
        found = found[:, 0]
    wanted = (n_rows, *several)
    if found.shape != wanted:
        each = f" and target, {wanted}" if several else f", {n_rows}"
        raise DataError(f"Expected one {value} per row{each}; got y of shape {found.shape}.")
    absent = int(pd.isna(found).reshape(n_rows, -1).any(axis=1).sum())
    if absent:
        raise DataError(f"{counted(absent, 'row')} without a {value}: leave them out.")
    return found
