"""The protocol of a task: the kind of a target, and how each command treats it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from mklkit.errors import DataError, UnknownNameError, counted, quoted, suggest
from mklkit.estimators.model_settings import ModelSettings
from mklkit.evaluation.pooled_r2 import HeldOut
from mklkit.evaluation.score import Answers, Score, Scorer
from mklkit.protocols import Array
from mklkit.protocols import Task as Learned
from mklkit.protocols.splits.making import Folds, make_splits, read_cv
from mklkit.protocols.splits.split import Indices, Splits

LEAF = 10
"""Rows of a leaf of gradient boosting: with scikit-learn's 20 it can't split a few dozen rows."""


class Task(Protocol):
    """The kind of a target, and how each command treats it."""

    kind: ClassVar[str]
    """``"classification"``, ``"regression"`` or ``"outliers"``."""
    learned: ClassVar[Learned]
    """The same, as in the facts of components."""
    scores: ClassVar[tuple[Score, ...]]
    """All scores, the one that models are ranked by first; a baseline is one too."""
    value: ClassVar[str]
    values: ClassVar[str]
    """The noun for a row's target, ``"class"`` or ``"number"``, and its plural."""
    guess: ClassVar[str]
    guessed_by: ClassVar[str]
    """The baseline without features, in words, and the score that a model must beat."""
    has_classes: ClassVar[bool] = True
    """Whether the targets are classes, so that folds are stratified."""
    fold_rows: ClassVar[int] = 1
    """The fewest rows of a fold, if the targets are no classes."""
    score: ClassVar[Callable[..., dict[str, Any]]]
    """Returns ``rows``, ``scores`` and ``better_than_baseline`` from the truth, predictions and,
    optionally, the targets of training rows and the number of rows that each pair stands for."""
    default_methods: ClassVar[tuple[str, ...]] = ()
    """The combiners that a comparison has by default, by name or glob."""
    estimators: ClassVar[tuple[str, Callable[[Any], bool]]]
    """scikit-learn's name for an estimator of the task, and a test whether one is."""
    names: Sequence[str] = ("target",)
    """The columns that are predicted."""
    labels: NDArray[Any] | None = None
    """The classes of a model."""

    @property
    def n_targets(self) -> int:
        """The number of columns that are predicted."""
        return len(self.names)

    @property
    def ranked_by(self) -> tuple[str, ...]:
        """The names of the scores that can rank models, larger is better."""
        return tuple(score.name for score in self.scores if score.ranks)

    @property
    def labeled(self) -> tuple[Score, ...]:
        """The scores that every command computes from predictions, with the baseline."""
        return tuple(score for score in self.scores if score.of and score.needs == "labels")

    @property
    def measured(self) -> tuple[Score, ...]:
        """The scores of each run of a comparison, as far as the model has what they need."""
        return tuple(score for score in self.scores if score.of and score.ranks)

    def score_named(self, name: str) -> Score:
        """Return the score of a name or key; UnknownNameError if there is none."""
        for score in self.scores:
            if name in (score.name, score.key):
                return score
        known = self.ranked_by
        raise UnknownNameError(
            f"There is no score {quoted(name)} for {self.values}.{suggest(name, known)}"
            f" Choose one of {', '.join(known)}.",
            name,
        )

    def scorer(self, name: str, variance: Array | None = None) -> Scorer:
        """Return scikit-learn's scorer, a function of a fitted model, rows and targets.

        One of several splits has the ``variance`` of :meth:`held_out` for its R².
        """
        return self.score_named(name).scorer

    def held_out(self, targets: NDArray[Any], tests: Sequence[Indices]) -> HeldOut | None:
        """Return what R² of each split needs of all splits; None for other targets."""
        return None

    def usual_score(self, targets: NDArray[Any]) -> str:
        """Return scikit-learn's name of the score for these targets, if the user names none."""
        return self.ranked_by[0]

    def why(self, name: str, targets: NDArray[Any]) -> str:
        """Return why :meth:`usual_score` is not the first of the task, empty if it is."""
        return ""

    def in_words(self, name: str) -> str:
        """Return scikit-learn's name of a score in words, such as "balanced accuracy"."""
        score = self.score_named(name)
        return score.words if score.sign > 0 else name.replace("_", " ")

    def guess_score(
        self,
        name: str,
        training: NDArray[Any],
        truth: NDArray[Any],
        variance: Array | None = None,
    ) -> float:
        """Return the score of a guess without any feature, learned from training targets.

        ``variance`` is as for :meth:`scorer`.
        """
        guess = self.guesser().fit(np.zeros((len(training), 1)), training)
        return float(self.scorer(name, variance)(guess, np.zeros((len(truth), 1)), truth))

    def baselines(self, seed: int, n_jobs: int | None, class_weight: Any) -> dict[str, Any]:
        """Return scikit-learn's usual estimators by name, which comparisons have by default."""
        return {}

    def guesser(self) -> Any:
        """Return scikit-learn's estimator that guesses without features."""
        return DummyClassifier()

    def in_points(self, name: str) -> bool:
        """Return whether a score is a share from 0 to 1, written in percent and points."""
        return self.score_named(name).is_share

    def read(self, column: pd.Series, /) -> pd.Series:
        """Return a column of a table as targets; DataError if it can't be learned."""

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return targets as an array; DataError if they can't score a model."""
        targets = np.asarray(y)
        if self.n_targets == 1 and targets.shape == (n_rows, 1):
            targets = targets[:, 0]
        expected = (n_rows, self.n_targets) if self.n_targets > 1 else (n_rows,)
        if targets.shape != expected:
            raise DataError(
                f"Expected a {self.value} per row and target, {expected}; got y of shape"
                f" {targets.shape}."
            )
        gaps = int(pd.isna(targets).reshape(n_rows, -1).any(axis=1).sum())
        if gaps:
            raise DataError(f"{counted(gaps, 'row')} without a {self.value}: leave them out.")
        return targets

    def pipeline(self, settings: ModelSettings, scoring: Any = None) -> Pipeline:
        """Return the unfitted steps from a table to predictions; a search chooses by a score."""

    def splits(self, targets: NDArray[Any], cv: Any, seed: Any = 0, groups: Any = None) -> Splits:
        """Return the splits of :func:`mklkit.evaluation.make_splits` for targets of the task."""
        request = read_cv(cv)
        if self.fold_rows > 1 and isinstance(request, Folds):
            request = attrs.evolve(request, least=self.fold_rows)
        return make_splits(targets, request, seed=seed, groups=groups, classes=self.has_classes)

    def shown(self, name: str, value: float | None) -> str:
        """Return a score, by its name or key, as text."""
        return self.score_named(name).written(value)

    def check_learnable(self, name: str, targets: NDArray[Any]) -> None:
        """Raise a DataError if no model could learn the targets of the data of a name."""
        self.checked(targets, len(targets))

    def truth(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return the targets that score models."""
        return targets

    def metadata(self, targets: NDArray[Any]) -> dict[str, Any]:
        """Return plain values that describe targets: classes and their counts, if there are any."""
        return {"classes": [], "class_counts": []}

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return the predicted columns for rows; the first is the answer."""

    def comparable(self, column: pd.Series) -> Any:
        """Return targets or predictions in a comparable form, NaN for missing ones."""

    def answers(
        self,
        model: Any,
        rows: Any,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        variance: Array | None = None,
    ) -> Answers:
        """Return what scores may see of a fitted model on some rows."""
        return Answers(truth, predictions, training=training, variance=variance)

    def details(
        self, answers: Answers, truth: NDArray[Any], predictions: NDArray[Any], known: NDArray[Any]
    ) -> dict[str, Any]:
        """Return what a run of a comparison keeps besides scores; ``known`` are all targets."""
        return {}

    def guess_baseline(self, name: str, scores: Mapping[str, Any]) -> float:
        """Return what the baseline without features reaches in a score of some rows."""
        return float(scores["baseline"])

    def no_better_than_guessing(self, scores: Mapping[str, Any], by: str | None = None) -> str:
        """Return the baseline that a model does not beat, empty if its scores show that it does.

        It is written in the score ``by``, one of :attr:`scores`; by default :attr:`guessed_by`.
        """
        name = by or self.guessed_by
        value, baseline = scores[name], self.guess_baseline(name, scores)
        score = self.score_named(name)
        better = value < baseline if score.lower else value > baseline
        if scores.get("better_than_baseline", better):
            return ""
        return (
            f"no better than always predicting {self.guess}: {score.words}"
            f" {self.shown(name, value)}, against {self.shown(name, baseline)} for that"
        )
