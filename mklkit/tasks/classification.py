"""Classification: classes as targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier

from mklkit.datasets.columns import text_of
from mklkit.datasets.target import check_labels, class_labels, looks_like_numbers, warn_of_numbers
from mklkit.display.numbers import number
from mklkit.errors import DataError, IncompatibleError, listed
from mklkit.estimators.class_scorers import needs_probabilities
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.introspection import classifier_in
from mklkit.estimators.predicting import PredictsClasses, class_numbers
from mklkit.evaluation.class_scores import (
    CLASS_SCORES,
    answers_of,
    calibration,
    check_calibration,
    check_confusion,
    response,
    score,
)
from mklkit.evaluation.leakage import columns_giving_class
from mklkit.protocols import (
    SEVERAL_CLASSES,
    TWO_CLASSES,
    Answers,
    Array,
    Score,
    TargetKind,
    Task,
)
from mklkit.registry.hookspecs import register
from mklkit.tasks.class_sections import class_sections
from mklkit.tasks.grids_of_trees import grids_of_trees

if TYPE_CHECKING:
    from mklkit.display.section import Section

UNEVEN = 1.5
"""If class sizes differ by more than this factor, models are scored by balanced accuracy."""
CLASSES_SHOWN = 6
"""A summary shows only the largest classes."""
LEAF = 10
"""Samples per leaf of gradient boosting; with scikit-learn's 20 it can't split a few dozen."""


@register
@attrs.frozen(eq=False)
class Classification(Task):
    """Predict classes, by accuracy in stratified folds.

    Parameters
    ----------
    targets : tuple of str, default=("target",)
        The name of the column of classes.
    labels : ndarray of shape (C,), optional
        The classes of a model, of which test samples must have some.

    Examples
    --------
    >>> task = Classification()
    >>> task.usual_score(np.repeat(["ill", "well"], [10, 90]))
    'balanced_accuracy'
    """

    name: ClassVar[str] = "classification"
    noun: ClassVar[str] = "class"
    plural: ClassVar[str] = "classes"
    kinds: ClassVar[tuple[TargetKind, ...]] = (TWO_CLASSES, SEVERAL_CLASSES)
    estimator: ClassVar[type] = MKLClassifier
    estimator_noun: ClassVar[str] = "classifier"
    scores: ClassVar[tuple[Score, ...]] = CLASS_SCORES
    guess: ClassVar[str] = "the majority class"
    guessed_by: ClassVar[str] = "accuracy"
    step: ClassVar[str] = "classify"
    has_classes: ClassVar[bool] = True
    takes_classes: ClassVar[bool] = True
    in_parts: ClassVar[bool] = True
    default_methods: ClassVar[tuple[str, ...]] = ("centered-alignment", "dimkl*", "ifsl")

    labels: NDArray[Any] | None = None

    def read(self, columns: pd.DataFrame) -> pd.DataFrame:
        """Return the labels as plain text, integers or booleans."""
        labels = pd.DataFrame({name: class_labels(columns[name]) for name in columns})
        for name in labels:
            warn_of_numbers(labels[name])
        return labels

    def read_scored(self, columns: pd.DataFrame) -> pd.DataFrame:
        """Return the labels as plain values, of which a single class is enough."""
        return pd.DataFrame({name: class_labels(columns[name], fewest=1) for name in columns})

    @classmethod
    def claims(cls, columns: pd.DataFrame) -> bool:
        """Return whether there is one column, which does not look like numbers."""
        return columns.shape[1] == 1 and not looks_like_numbers(columns.iloc[:, 0])

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Raise an error for gaps, a single class, and classes all unknown to the model."""
        targets = self.complete(y, n_rows)
        classes = np.unique(targets).tolist()
        if len(classes) < 2:
            raise DataError(f"Samples of at least two classes are needed; got {listed(classes)}.")
        known = [] if self.labels is None else self.labels.tolist()
        if known and not set(classes) & set(known):
            raise DataError(
                f"None of the classes {listed(classes)} is in the model, which has {listed(known)}."
            )
        return targets

    def check_scored(self, columns: pd.DataFrame) -> None:
        """Accept all labels, since a part of a table may have one class, or an unknown one."""

    def check_learnable(self, name: str, targets: NDArray[Any]) -> None:
        """Raise an error for labels of other types than classes have, and a single class."""
        check_labels(name, targets)

    def example(self, numbers: Array) -> NDArray[Any]:
        """Return two classes, below and above the mean."""
        return np.where(numbers > numbers.mean(), "high", "low")

    def is_scorable(self, truth: NDArray[Any]) -> bool:
        """Return whether some of the targets are classes of the model."""
        return self.labels is None or bool({*map(str, self.labels)} & {*truth})

    def summary(self, targets: NDArray[Any], counts: pd.Series | None = None) -> str:
        """Return the largest classes, with their numbers of samples."""
        if counts is None:
            counts = pd.Series(targets).value_counts()
        ordered = counts.sort_index().sort_values(ascending=False, kind="stable")
        classes = [f"{label} ({count})" for label, count in ordered.head(CLASSES_SHOWN).items()]
        if len(counts) > CLASSES_SHOWN:
            classes.append(f"{len(counts) - CLASSES_SHOWN} more")
        return f"{len(counts)} classes: {', '.join(classes)}"

    def metadata(self, targets: NDArray[Any]) -> dict[str, Any]:
        """Return the classes and how many samples each has."""
        classes, counts = np.unique(targets, return_counts=True)
        return {"classes": classes.tolist(), "class_counts": counts.tolist()}

    @classmethod
    def fits(cls, model: Any) -> bool:
        """Return whether an estimator is a classifier."""
        return bool(is_classifier(model))

    @classmethod
    def of_model(cls, model: Any) -> Self:
        """Return the task of a classifier, with its classes."""
        labels = getattr(model, "classes_", None)
        return cls(labels=None if labels is None else np.asarray(labels))

    def baselines(self, seed: int, n_jobs: int | None, class_weight: Any) -> dict[str, Any]:
        """Return a linear model and two of trees, with the class weights."""
        # Importing it takes a while, and most commands do not need it.
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.linear_model import LogisticRegression

        shared = {"random_state": seed, "class_weight": class_weight}
        return {
            "logistic regression": LogisticRegression(max_iter=1000, class_weight=class_weight),
            "random forest": RandomForestClassifier(n_jobs=n_jobs, **shared),
            "gradient boosting": HistGradientBoostingClassifier(min_samples_leaf=LEAF, **shared),
        }

    def baseline_grids(self, is_fast: bool) -> Mapping[str, Mapping[str, Sequence[Any]]]:
        """Return penalties of the linear model, and the grids of trees."""
        penalties = np.logspace(-2, 2, 3) if is_fast else np.logspace(-3, 3, 7)
        return grids_of_trees(is_fast) | {"logistic regression": {"C": penalties.tolist()}}

    def baseline(self) -> Any:
        """Return scikit-learn's estimator of the majority class, with the shares of all."""
        return DummyClassifier()

    def gives(self, features: pd.DataFrame, targets: NDArray[Any]) -> list[str]:
        """Return the features that alone tell the class of every sample, beyond chance."""
        return columns_giving_class(features, targets)

    def usual_score(self, targets: NDArray[Any]) -> str:
        """Return the accuracy, or the balanced accuracy if class sizes differ by over 1.5 times."""
        return "balanced_accuracy" if _unevenness(targets) > UNEVEN else self.ranked_by[0]

    def why(self, name: str, targets: NDArray[Any]) -> str:
        """Return by how much class sizes differ, if the score is the balanced accuracy."""
        if name == self.ranked_by[0]:
            return ""
        return (
            f"the score is the {self.in_words(name)}, because the largest class has"
            f" {number(_unevenness(targets), 1)} times as many samples as the smallest"
        )

    def needs_probabilities(self, name: str, targets: NDArray[Any]) -> bool:
        """Return whether a score needs probabilities; ValueError if classes have no such score."""
        classes, codes = np.unique(targets, return_inverse=True)
        return needs_probabilities(self.scorer(name), codes, classes)

    def score(
        self,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        counts: NDArray[Any] | None = None,
        variance: Array | None = None,
    ) -> dict[str, Any]:
        """Return the scores of :func:`mklkit.evaluation.score`, with recalls and confusions."""
        return score(truth, predictions, training, counts, self.scores)

    def guess_baseline(self, name: str, scores: Any) -> float:
        """Return the share of the majority class, whose mean recall is one over the classes."""
        if name == self.guessed_by:
            return float(scores["baseline"])
        return 1 / int(np.count_nonzero(~np.isnan(scores["recall"])))

    def answers(
        self,
        model: Any,
        rows: Any,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        variance: Array | None = None,
    ) -> Answers:
        """Return classes as numbers, with decision values and probabilities if there are any."""
        return answers_of(model, rows, truth, predictions, np.asarray(model.classes_))

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return classes, and the probabilities of each, or the scores if there are none.

        For two classes the score, which decides, is one column for both.
        """
        labels = np.asarray(model.classes_).tolist()
        predicted, values = _decided(model, rows)
        table = pd.DataFrame({"prediction": predicted})
        if values is not None and values.ndim == 1:
            table["score"] = values
        probabilities = response(model, "predict_proba", rows)
        if probabilities is not None:
            return _beside(table, [f"probability_{label}" for label in labels], probabilities)
        if values is not None and values.ndim == 2:
            return _beside(table, [f"score_{label}" for label in labels], values)
        return table

    def likeliest(self, model: Any, rows: Any, count: int) -> pd.DataFrame:
        """Return the classes with the largest probabilities, or scores if there are none.

        Of two classes, the score of the first is the opposite of that of the second.
        """
        labels = np.asarray(model.classes_)
        if not 1 <= count <= len(labels):
            raise IncompatibleError(
                f"The model has {len(labels)} classes ({listed(labels.tolist())}), so there are no"
                f" {count} likeliest ones: use a number from 1 to {len(labels)}."
            )
        predicted, values = _decided(model, rows)
        unit = "score"
        if values is not None and values.ndim == 1:
            values = np.column_stack([-values, values])
        probabilities = response(model, "predict_proba", rows)
        if probabilities is not None:
            unit, values = "probability", probabilities
        if values is None:
            raise IncompatibleError(
                "The model has neither probabilities nor a score for each class, so no class is"
                " likelier than another one that it does not predict."
            )
        order = np.argsort(-values, axis=1, kind="stable")[:, :count]
        table = pd.DataFrame({"prediction": predicted})
        for rank, places in enumerate(order.T, start=1):
            table[f"top_{rank}"] = labels[places]
            table[f"top_{rank}_{unit}"] = values[np.arange(len(values)), places]
        return table

    def comparable(self, columns: pd.DataFrame) -> NDArray[Any]:
        """Return text, since labels of a file with few rows may be read as another type."""
        column = columns.iloc[:, :1]
        return np.where(column.iloc[:, 0].notna(), text_of(column)[:, 0], np.nan)

    def details(
        self, answers: Answers, truth: NDArray[Any], predictions: NDArray[Any], known: NDArray[Any]
    ) -> dict[str, Any]:
        """Return the confusion of all classes and, of probabilities, their calibration."""
        confusion = score(truth, predictions, known)["confusion"]
        if len(confusion) != len(np.unique(known)):
            raise ValueError("it predicts classes that are not in the data")
        kept: dict[str, Any] = {"confusion": confusion}
        if answers.probabilities is not None:
            kept["calibration"] = calibration(answers.truth, answers.probabilities)
        return kept

    def check_details(self, details: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        """Reject a confusion of other classes, negative counts, and other bins of calibration."""
        if "confusion" in details:
            check_confusion(details["confusion"], len(data["classes"]))
        if "calibration" in details:
            check_calibration(details["calibration"])

    def sections(
        self,
        data: Mapping[str, Any],
        methods: pd.DataFrame,
        details: Mapping[str, Sequence[dict[str, Any]]],
    ) -> Sequence[Section]:
        """Return what methods confuse, and the calibration of those with probabilities."""
        return list(class_sections(data, methods, details))


def _decided(model: Any, rows: Any) -> tuple[NDArray[Any], Array | None]:
    """Return the classes of samples, and decision values: (n,) of two classes, else (n, C).

    There are none if a model has no value for each class, such as one for each pair of them.
    """
    labels = np.asarray(model.classes_)
    values = response(model, "decision_function", rows)
    if values is None or values.shape not in [(len(rows),), (len(rows), len(labels))]:
        return np.asarray(model.predict(rows)), None
    # They give the class, without a second pass over kernels.
    if values.ndim == 1 or isinstance(classifier_in(model), PredictsClasses):
        return labels[class_numbers(values)], values
    return np.asarray(model.predict(rows)), values


def _beside(table: pd.DataFrame, names: list[str], values: Array) -> pd.DataFrame:
    """Return a table with more columns, whose names may repeat."""
    return pd.concat([table, pd.DataFrame(values, columns=names)], axis=1)


def _unevenness(targets: NDArray[Any]) -> float:
    """Return how many times as many samples the largest class has as the smallest."""
    counts = np.unique(targets, return_counts=True)[1]
    return float(counts.max() / counts.min())
