"""Tasks: targets of classes, numbers or none, and how each command treats them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from mklkit.datasets.columns import text_of
from mklkit.datasets.pipeline import pipeline_without_classes, preset_pipeline
from mklkit.datasets.target import class_labels, learned_numbers
from mklkit.errors import DataError, counted, listed
from mklkit.estimators.introspection import classifier_in
from mklkit.estimators.one_class import MKLOneClass
from mklkit.estimators.regressor import MKLRegressor
from mklkit.evaluation.pooled_r2 import HeldOut, r2_of_split
from mklkit.evaluation.score_names import OF_CLASSES, OF_NUMBERS, OF_OUTLIERS, named_scorer
from mklkit.evaluation.scores import response, score, score_numbers
from mklkit.protocols import Array
from mklkit.protocols import Task as Learned
from mklkit.protocols.component import Preset
from mklkit.protocols.splits.making import Folds, make_splits, read_cv
from mklkit.protocols.splits.split import Rows, Splits

UNEVEN = 1.5
"""If class sizes differ by more than this factor, models are scored by balanced accuracy."""


class Task(Protocol):
    """The kind of a target, and how each command treats it."""

    kind: ClassVar[str]
    """``"classification"``, ``"regression"`` or ``"outliers"``."""
    learned: ClassVar[Learned]
    """The same, as in the facts of components."""
    ranked_by: ClassVar[tuple[str, ...]]
    """scikit-learn's names of the scores that can rank models, larger is better."""
    value: ClassVar[str]
    values: ClassVar[str]
    """The noun for a row's target, ``"class"`` or ``"number"``, and its plural."""
    scores: ClassVar[Mapping[str, str]]
    """The names of the scores in words: the one that models are compared by, a second one, and
    the first score of the baseline without features."""
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
    names: Sequence[str] = ("target",)
    """The columns that are predicted."""
    labels: NDArray[Any] | None = None
    """The classes of a model."""

    @property
    def n_targets(self) -> int:
        """The number of columns that are predicted."""
        return len(self.names)

    def scorer(self, name: str, variance: Array | None = None) -> Callable[[Any, Any, Any], float]:
        """Return scikit-learn's scorer, a function of a fitted model, rows and targets.

        One of several splits has the ``variance`` of :meth:`held_out` for its R².
        """
        scorer = named_scorer(name, self.ranked_by, self.values)
        if name != "r2" or variance is None:
            return scorer
        return lambda model, rows, truth: r2_of_split(truth, model.predict(rows), variance)

    def held_out(self, targets: NDArray[Any], tests: Sequence[Rows]) -> HeldOut | None:
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
        return self.scores.get(name, name.replace("_", " "))

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
        guess: Any = DummyRegressor() if self.kind == "regression" else DummyClassifier()
        guess.fit(np.zeros((len(training), 1)), training)
        return float(self.scorer(name, variance)(guess, np.zeros((len(truth), 1)), truth))

    def in_points(self, name: str) -> bool:
        """Return whether a score is a share from 0 to 1, written in percent and points."""
        return False

    @property
    def score_name(self) -> str:
        """The name of the first score: ``"accuracy"`` or ``"R²"``."""
        return next(iter(self.scores.values()), "")

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

    def pipeline(self, preset: Preset, *, scale: str | None = None, **settings: Any) -> Pipeline:
        """Return the unfitted steps from a table to predictions; settings as for the estimator."""

    def splits(self, targets: NDArray[Any], cv: Any, seed: Any = 0, groups: Any = None) -> Splits:
        """Return the splits of :func:`mklkit.evaluation.make_splits` for targets of the task."""
        request = read_cv(cv)
        if self.fold_rows > 1 and isinstance(request, Folds):
            request = attrs.evolve(request, least=self.fold_rows)
        return make_splits(targets, request, seed=seed, groups=groups, classes=self.has_classes)

    def shown(self, name: str, value: float | None) -> str:
        """Return a score as text."""

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return the predicted columns for rows; the first is the answer."""

    def comparable(self, column: pd.Series) -> Any:
        """Return targets or predictions in a comparable form, NaN for missing ones."""

    def guess_baseline(self, name: str, scores: Mapping[str, Any]) -> float:
        """Return what the baseline without features reaches in a score of some rows."""
        return float(scores["baseline"])

    def no_better_than_guessing(self, scores: Mapping[str, Any], by: str | None = None) -> str:
        """Return the baseline that a model does not beat, empty if its scores show that it does.

        It is written in the score ``by``, one of :attr:`scores`; by default :attr:`guessed_by`.
        """
        name = by or self.guessed_by
        value, baseline = scores[name], self.guess_baseline(name, scores)
        better = value < baseline if "error" in name else value > baseline
        if scores.get("better_than_baseline", better):
            return ""
        return (
            f"no better than always predicting {self.guess}: {self.scores[name]}"
            f" {self.shown(name, value)}, against {self.shown(name, baseline)} for that"
        )


@attrs.frozen(eq=False)
class Classes(Task):
    """Classes, by accuracy in stratified folds."""

    kind: ClassVar[str] = "classification"
    learned: ClassVar[Learned] = "two classes"
    ranked_by: ClassVar[tuple[str, ...]] = OF_CLASSES
    value: ClassVar[str] = "class"
    values: ClassVar[str] = "classes"
    scores: ClassVar[Mapping[str, str]] = {
        "accuracy": "accuracy",
        "balanced_accuracy": "balanced accuracy",
        "baseline": "majority class",
    }
    guess: ClassVar[str] = "the majority class"
    guessed_by: ClassVar[str] = "accuracy"
    score = staticmethod(score)
    read = staticmethod(class_labels)

    labels: NDArray[Any] | None = None

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Refuse gaps, a single class, and classes all unknown to the model."""
        targets = super().checked(y, n_rows)
        classes = np.unique(targets).tolist()
        if len(classes) < 2:
            raise DataError(f"Rows of at least two classes are needed; got {listed(classes)}.")
        known = [] if self.labels is None else self.labels.tolist()
        if known and not set(classes) & set(known):
            raise DataError(
                f"None of the classes {listed(classes)} is in the model, which has {listed(known)}."
            )
        return targets

    def usual_score(self, targets: NDArray[Any]) -> str:
        """Return the accuracy, or the balanced accuracy if class sizes differ by over 1.5 times."""
        return "balanced_accuracy" if _unevenness(targets) > UNEVEN else self.ranked_by[0]

    def guess_baseline(self, name: str, scores: Mapping[str, Any]) -> float:
        """Return the share of the majority class, whose mean recall is one over the classes."""
        if name == self.guessed_by:
            return float(scores["baseline"])
        return 1 / int(np.count_nonzero(~np.isnan(scores["recall"])))

    def why(self, name: str, targets: NDArray[Any]) -> str:
        """Return by how much class sizes differ, if the score is the balanced accuracy."""
        if name == self.ranked_by[0]:
            return ""
        return (
            f"the score is the {self.scores[name]}, because the largest class has"
            f" {_unevenness(targets):.1f} times as many samples as the smallest"
        )

    def pipeline(self, preset: Preset, *, scale: str | None = None, **settings: Any) -> Pipeline:
        """Return the steps and classifier of a preset."""
        return preset_pipeline(preset, scale=scale, **settings)

    def shown(self, name: str, value: float | None) -> str:
        """Return a share as a percentage, other scores with three decimals."""
        if value is None:
            return "undefined"
        return f"{100 * value:.1f}%" if self.in_points(name) else f"{value:.3f}"

    def in_points(self, name: str) -> bool:
        """Return whether a score is a share: all but losses and a correlation are."""
        return not name.startswith("neg_") and name != "matthews_corrcoef"

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return classes, the decision value if there are two, and the probabilities of each."""
        labels = np.asarray(model.classes_)
        # For two classes the decision value gives the class, without a second pass over kernels.
        values = response(model, "decision_function", rows) if len(labels) == 2 else None
        if values is None:
            table = pd.DataFrame({"prediction": model.predict(rows)})
        else:
            table = pd.DataFrame({"prediction": labels[(values > 0).astype(int)], "score": values})
        probabilities = response(model, "predict_proba", rows)
        if probabilities is not None:
            names = [f"probability_{label}" for label in labels.tolist()]
            table[names] = probabilities
        return table

    def comparable(self, column: pd.Series) -> Any:
        """Return text, since labels of a file with few rows may be read as another type."""
        return np.where(column.notna(), text_of(column.to_frame())[:, 0], np.nan)


@attrs.frozen(eq=False)
class OneClass(Classes):
    """Rows without labels, which are predicted to be inliers or outliers."""

    kind: ClassVar[str] = "outliers"
    learned: ClassVar[Learned] = "none"
    ranked_by: ClassVar[tuple[str, ...]] = OF_OUTLIERS

    labels: NDArray[Any] = attrs.field(factory=lambda: np.array(["outlier", "inlier"]))

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return 1 for inliers and −1 for outliers, given by name or by these numbers."""
        known = {"inlier": 1, "outlier": -1, "1": 1, "-1": -1, "1.0": 1, "-1.0": -1}
        signs = np.array([known.get(str(label), 0) for label in Task.checked(self, y, n_rows)])
        if {*signs.tolist()} != {1, -1}:
            raise DataError(
                "Rows are scored by whether they are outliers: y must be -1 or 'outlier' for some,"
                " and 1 or 'inlier' for the others."
            )
        return signs

    def usual_score(self, targets: NDArray[Any]) -> str:
        """Return the area under the ROC curve, however rare outliers are."""
        return self.ranked_by[0]

    def pipeline(self, preset: Preset, *, scale: str | None = None, **settings: Any) -> Pipeline:
        """Return the steps with an :class:`mklkit.MKLOneClass`; refuse options for classes."""
        reason = "outliers are found without labels"
        return pipeline_without_classes(MKLOneClass, preset, scale, settings, "detect", reason)

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return ``"inlier"`` if the score is 0 or more, else ``"outlier"``, and the score."""
        values = np.asarray(model.decision_function(rows))
        words = self.labels[(values >= 0).astype(int)]
        return pd.DataFrame({"prediction": words, "score": values})


@attrs.frozen(eq=False)
class Numbers(Task):
    """Numbers, by R² in shuffled folds; for several targets, by its mean."""

    kind: ClassVar[str] = "regression"
    learned: ClassVar[Learned] = "numbers"
    ranked_by: ClassVar[tuple[str, ...]] = OF_NUMBERS
    value: ClassVar[str] = "number"
    values: ClassVar[str] = "numbers"
    has_classes: ClassVar[bool] = False
    fold_rows: ClassVar[int] = 2
    scores: ClassVar[Mapping[str, str]] = {
        "r2": "R²",
        "mean_absolute_error": "mean absolute error",
        "baseline": "always the median",
    }
    guess: ClassVar[str] = "the median"
    guessed_by: ClassVar[str] = "mean_absolute_error"
    score = staticmethod(score_numbers)
    names: list[str] = attrs.field(factory=lambda: ["target"])

    def read(self, column: pd.Series) -> pd.Series:
        """Return the numbers in float64."""
        return learned_numbers(column, "choose another column by --target")

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Refuse shapes other than the model's, gaps, text, and the same number in all rows."""
        targets = super().checked(y, n_rows)
        try:
            numbers = targets.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError("The model predicts numbers, and y holds something else.") from error
        if not np.isfinite(numbers).all():
            raise DataError("An infinite number can't be predicted: leave such rows out.")
        if n_rows < 2 or (np.ptp(numbers, axis=0) == 0).any():
            raise DataError("Different numbers are needed; those of a target are the same.")
        return numbers

    def pipeline(self, preset: Preset, *, scale: str | None = None, **settings: Any) -> Pipeline:
        """Return the steps with an :class:`mklkit.MKLRegressor`; refuse options for classes."""
        reason = (
            f"the target {listed(self.names)} holds numbers, which are learned by regression;"
            " --task classification treats them as classes"
        )
        return pipeline_without_classes(MKLRegressor, preset, scale, settings, "regress", reason)

    def held_out(self, targets: NDArray[Any], tests: Sequence[Rows]) -> HeldOut:
        """Return the targets that the splits score."""
        return HeldOut(targets, tests)

    def shown(self, name: str, value: float | None) -> str:
        """Return R² with three decimals, errors with four digits."""
        if value is None:
            return "undefined"
        is_error = "error" in name and not name.startswith("d2_")
        return f"{value:.4g}" if is_error or name == "baseline" else f"{value:.3f}"

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return the numbers, a column for each target."""
        numbers = np.asarray(model.predict(rows))
        several = [f"prediction_{name}" for name in self.names]
        return pd.DataFrame(numbers, columns=several if numbers.ndim > 1 else ["prediction"])

    def comparable(self, column: pd.Series) -> Any:
        """Return floats."""
        return pd.to_numeric(column, errors="coerce").to_numpy(float)


def _unevenness(targets: NDArray[Any]) -> float:
    """Return how many times as many samples the largest class has as the smallest."""
    counts = np.unique(targets, return_counts=True)[1]
    return float(counts.max() / counts.min())


def task_named(name: str, *targets: str) -> Task:
    """Return the task ``"classification"``, ``"outliers"``, or ``"regression"`` of targets."""
    if name == "regression":
        return Numbers(list(targets)) if targets else Numbers()
    return OneClass() if name == "outliers" else Classes()


def task_of(model: Any) -> Task:
    """Return the task of a model, fitted or not, also inside a vote, pipeline or search."""
    if is_regressor(model):
        known = vars(classifier_in(model)).get("target_names_")
        return Numbers() if known is None else Numbers(list(known))
    if is_outlier_detector(model):
        return OneClass()
    labels = getattr(model, "classes_", None)
    return Classes(None if labels is None else np.asarray(labels))
