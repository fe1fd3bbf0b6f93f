"""The tasks: classes, rows of one class, and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.model_selection import RepeatedKFold
from sklearn.pipeline import Pipeline

from mklkit.datasets.columns import text_of
from mklkit.datasets.pipeline import DEFAULT_SCALE, build_pipeline, preset_pipeline
from mklkit.datasets.target import class_labels, learned_numbers
from mklkit.errors import DataError, IncompatibleError, counted, listed
from mklkit.estimators.folds import given_splits, plan_folds, splits_of
from mklkit.estimators.introspection import KernelRegressor, classifier_in
from mklkit.estimators.regressor import MKLRegressor
from mklkit.evaluation.scores import score, score_numbers
from mklkit.evaluation.splits import Split, hold_out
from mklkit.evaluation.task import Splits, Task
from mklkit.protocols.component import Preset, is_whole

__all__ = ["Classes", "Numbers", "OneClass", "task_named", "task_of"]


@attrs.frozen(eq=False)
class Classes(Task):
    """Classes, by accuracy in stratified folds.

    Attributes
    ----------
    labels : ndarray of shape (C,), optional
        Those of a model.
    """

    value: ClassVar[str] = "class"
    values: ClassVar[str] = "classes"
    folds_are: ClassVar[str] = "stratified"
    scores: ClassVar[Mapping[str, str]] = {
        "accuracy": "accuracy",
        "balanced_accuracy": "balanced accuracy",
        "baseline": "always the commonest",
    }
    losses: ClassVar[Mapping[str, str]] = {"": "accuracy", "_balanced": "balanced_accuracy"}

    labels: NDArray[Any] | None = None

    def read(self, column: pd.Series) -> pd.Series:
        """Return the labels as text, integers or booleans."""
        return class_labels(column)

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Refuse gaps, a single class, and classes of which the model knows none."""
        labels = _one_per_row(y, n_rows, self)
        classes = np.unique(labels).tolist()
        if len(classes) < 2:
            raise DataError(f"Rows of at least two classes are needed; got {listed(classes)}.")
        known = [] if self.labels is None else self.labels.tolist()
        if known and not set(classes) & set(known):
            raise DataError(
                f"None of the classes {listed(classes)} is one of the model, which has"
                f" {listed(known)}."
            )
        return labels

    def pipeline(self, preset: Preset, *, scale: str | None = None, **settings: Any) -> Pipeline:
        """Return the steps and classifier of a preset."""
        return preset_pipeline(preset, scale=scale, **settings)

    def hold_out(self, targets: NDArray[Any], share: float, seed: int) -> Split:
        """Hold out a stratified part; every class stays in training."""
        return hold_out(targets, share, seed)

    def folds(self, cv: Any, targets: NDArray[Any], seed: Any, repeats: int = 1) -> Splits:
        """Return stratified folds where a number of them is given."""
        if is_whole(cv):
            plan = plan_folds(targets, int(cv), repeats)
            return list(plan.splits(targets, seed)), plan.notes
        classes, codes = np.unique(targets, return_inverse=True)
        return splits_of(cv, np.arange(float(len(codes)))[:, None], codes, classes, seed)

    def score(
        self,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        counts: ArrayLike | None = None,
    ) -> dict[str, Any]:
        """Return what :func:`mklkit.evaluation.score` does."""
        return score(truth, predictions, training, counts)

    def shown(self, name: str, value: float | None) -> str:
        """Return a percentage."""
        return "undefined" if value is None else f"{100 * value:.1f}%"

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return classes, the decision value where there are two, and the probabilities of each."""
        labels = np.asarray(model.classes_)
        # For two classes the decision value gives the class, without a second pass over kernels.
        if len(labels) == 2 and hasattr(model, "decision_function"):
            values = np.asarray(model.decision_function(rows))
            table = pd.DataFrame({"prediction": labels[(values > 0).astype(int)], "score": values})
        else:
            table = pd.DataFrame({"prediction": model.predict(rows)})
        if hasattr(model, "predict_proba"):
            columns = zip(labels.tolist(), model.predict_proba(rows).T, strict=True)
            table = table.assign(**{f"probability_{label}": column for label, column in columns})
        return table

    def comparable(self, column: pd.Series) -> Any:
        """Return text, since labels of a file with few rows may be read as another type."""
        return np.where(column.notna(), text_of(column.to_frame())[:, 0], np.nan)

    def no_better_than_guessing(self, scores: Mapping[str, Any]) -> str:
        """Compare the accuracy with that of the most frequent class."""
        better = scores["accuracy"] > scores["baseline"]
        if scores.get("better_than_baseline", better):
            return ""
        accuracy, baseline = (self.shown(name, scores[name]) for name in ("accuracy", "baseline"))
        return (
            "no better than always predicting the commonest class: accuracy"
            f" {accuracy}, compared with {baseline} for that class"
        )


@attrs.frozen(eq=False)
class OneClass(Classes):
    """Rows without labels, which are predicted to be inliers or outliers."""

    scores: ClassVar[Mapping[str, str]] = Classes.scores
    losses: ClassVar[Mapping[str, str]] = {}

    labels: NDArray[Any] = attrs.field(factory=lambda: np.array(["outlier", "inlier"]))

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return ``"inlier"`` where the score is 0 or more, else ``"outlier"``, and the score."""
        values = np.asarray(model.decision_function(rows))
        words = self.labels[(values >= 0).astype(int)]
        return pd.DataFrame({"prediction": words, "score": values})


@attrs.frozen(eq=False)
class Numbers(Task):
    """Numbers, by R² in shuffled folds; of several targets by its mean over them.

    Attributes
    ----------
    names : list of T str
        The targets.
    """

    value: ClassVar[str] = "number"
    values: ClassVar[str] = "numbers"
    folds_are: ClassVar[str] = "shuffled"
    scores: ClassVar[Mapping[str, str]] = {
        "r2": "R²",
        "mean_absolute_error": "mean absolute error",
        "baseline": "always the median",
    }
    losses: ClassVar[Mapping[str, str]] = {"": "r2"}
    for_classes: ClassVar[Mapping[str, Any]] = {
        "multiclass": "ovo",
        "bandwidths": "per-problem",
        "probability": False,
        "tune": None,
        "class_weight": None,
    }
    """Settings that numbers do not have, by what they are where the user gives none."""

    names: list[str] = attrs.field(factory=lambda: ["target"])

    @property
    def n_targets(self) -> int:  # type: ignore[override]
        """The number of targets."""
        return len(self.names)

    def read(self, column: pd.Series) -> pd.Series:
        """Return the numbers in float64."""
        return learned_numbers(column, "choose another column by --target")

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Refuse other shapes than the model's, gaps, text, and the same number in all rows."""
        targets = _one_per_row(y, n_rows, self)
        try:
            numbers = targets.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError("Numbers are predicted, and y holds others.") from error
        if not np.isfinite(numbers).all():
            raise DataError("An infinite number can't be predicted: leave such rows out.")
        if n_rows < 2 or (np.ptp(numbers, axis=0) == 0).any():
            raise DataError("Different numbers are needed; those of a target are the same.")
        return numbers

    def pipeline(self, preset: Preset, *, scale: str | None = None, **settings: Any) -> Pipeline:
        """Return the steps with an :class:`mklkit.MKLRegressor`; refuse what is for classes."""
        for name, usual in self.for_classes.items():
            if settings.pop(name, usual) != usual:
                option = name.replace("_", "-")
                raise IncompatibleError(
                    f"--{option} is for classes, and the target {listed(self.names)} holds numbers,"
                    f" which are learned by regression: leave out {option}, or take the numbers for"
                    " classes by --task classification."
                )
        if preset.members > 1:
            raise IncompatibleError(f"The preset {preset.name} is a vote, which is for classes.")
        parts = attrs.asdict(preset, recurse=False)
        for part in ("kernels", "feature_map", "combiner", "learner"):
            settings[part] = settings.get(part) or parts[part]
        steps = build_pipeline(MKLRegressor(**settings), scale or preset.scale or DEFAULT_SCALE)
        return Pipeline([*steps.steps[:-1], ("regress", steps[-1])])

    def hold_out(self, targets: NDArray[Any], share: float, seed: int) -> Split:
        """Hold out rows drawn at random; two stay in training."""
        order = np.random.default_rng(seed).permutation(len(targets))
        count = max(0, min(int(np.ceil(share * len(targets))), len(targets) - 2))
        kind = "at random" if count else "none"
        return Split(np.sort(order[count:]), np.sort(order[:count]), kind)

    def folds(self, cv: Any, targets: NDArray[Any], seed: Any, repeats: int = 1) -> Splits:
        """Return shuffled folds where a number of them is given, with two rows in each."""
        rows, notes = np.arange(len(targets)), []
        if is_whole(cv) and cv >= 2:
            if len(rows) < 4:
                raise DataError(f"R² on folds needs four rows at least; there are {len(rows)}.")
            n_folds = min(int(cv), len(rows) // 2)
            if n_folds < cv:
                notes.append(f"{n_folds} folds instead of {cv}: there are {len(rows)} rows")
            cv = RepeatedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
        return given_splits(cv, rows[:, None], targets, rows, False), notes

    def score(
        self,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        counts: ArrayLike | None = None,
    ) -> dict[str, Any]:
        """Return R² and the mean absolute error."""
        if counts is not None:
            times = np.asarray(counts)
            truth, predictions = np.repeat(truth, times), np.repeat(predictions, times)
        return score_numbers(truth, predictions, training)

    def shown(self, name: str, value: float | None) -> str:
        """Return R² with three decimals, errors with four digits."""
        if value is None:
            return "undefined"
        return f"{value:.3f}" if name == "r2" else f"{value:.4g}"

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return the numbers, a column for each target."""
        numbers = np.asarray(model.predict(rows))
        if numbers.ndim == 1:
            return pd.DataFrame({"prediction": numbers})
        return pd.DataFrame(numbers, columns=[f"prediction_{name}" for name in self.names])

    def comparable(self, column: pd.Series) -> Any:
        """Return floats."""
        return pd.to_numeric(column, errors="coerce").to_numpy(float)

    def no_better_than_guessing(self, scores: Mapping[str, Any]) -> str:
        """Compare the mean absolute error with that of the median."""
        if scores["mean_absolute_error"] < scores["baseline"]:
            return ""
        error, baseline = (
            self.shown(name, scores[name]) for name in ("mean_absolute_error", "baseline")
        )
        return (
            f"no better than always predicting the median: mean absolute error {error}, compared"
            f" with {baseline} for that"
        )


def task_named(name: str, target: str = "target") -> Task:
    """Return the task of a table: ``"classification"`` or ``"regression"``."""
    return Numbers([target]) if name == "regression" else Classes()


def task_of(model: Any) -> Task:
    """Return the task of a model, fitted or not; a vote, pipeline or search has that inside it."""
    inside = classifier_in(model)
    if is_regressor(model):
        return (
            Numbers(list(inside.target_names_))
            if isinstance(inside, KernelRegressor)
            else Numbers()
        )
    if is_outlier_detector(model):
        return OneClass()
    labels = getattr(model, "classes_", None)
    return Classes(None if labels is None else np.asarray(labels))


def _one_per_row(y: Any, n_rows: int, task: Task) -> NDArray[Any]:
    """Return a target of one value per row and target, without gaps."""
    targets = np.asarray(y)
    if task.n_targets == 1 and targets.shape == (n_rows, 1):
        targets = targets[:, 0]
    expected = (n_rows, task.n_targets) if task.n_targets > 1 else (n_rows,)
    if targets.shape != expected:
        raise DataError(
            f"Expected a {task.value} per row and target, {expected}; got y of shape"
            f" {targets.shape}."
        )
    gaps = int(pd.isna(targets).reshape(n_rows, -1).any(axis=1).sum())
    if gaps:
        raise DataError(f"{counted(gaps, 'row')} without a {task.value}: leave them out.")
    return targets
