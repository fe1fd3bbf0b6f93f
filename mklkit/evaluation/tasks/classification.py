"""Classes as targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from mklkit.datasets.columns import text_of
from mklkit.datasets.pipeline import model_pipeline
from mklkit.datasets.target import check_labels, class_labels
from mklkit.errors import DataError, listed
from mklkit.estimators.model_settings import ModelSettings
from mklkit.evaluation.class_scores import CLASS_SCORES, answers_of, calibration, response, score
from mklkit.evaluation.score import Answers, Score
from mklkit.evaluation.tasks.base import LEAF, Task
from mklkit.protocols import Array
from mklkit.protocols import Task as Learned

UNEVEN = 1.5
"""If class sizes differ by more than this factor, models are scored by balanced accuracy."""


@attrs.frozen(eq=False)
class Classes(Task):
    """Classes, by accuracy in stratified folds."""

    kind: ClassVar[str] = "classification"
    learned: ClassVar[Learned] = "two classes"
    default_methods: ClassVar[tuple[str, ...]] = ("centered-alignment", "dimkl*", "ifsl")
    estimators: ClassVar[tuple[str, Callable[[Any], bool]]] = ("classifier", is_classifier)
    value: ClassVar[str] = "class"
    values: ClassVar[str] = "classes"
    scores: ClassVar[tuple[Score, ...]] = CLASS_SCORES
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
            f"the score is the {self.in_words(name)}, because the largest class has"
            f" {_unevenness(targets):.1f} times as many samples as the smallest"
        )

    def pipeline(self, settings: ModelSettings, scoring: Any = None) -> Pipeline:
        """Return the steps with an :class:`mklkit.MKLClassifier`."""
        return model_pipeline(settings, scoring=scoring)

    def check_learnable(self, name: str, targets: NDArray[Any]) -> None:
        """Refuse labels of other types than classes have, and a single class."""
        check_labels(name, targets)

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

    def metadata(self, targets: NDArray[Any]) -> dict[str, Any]:
        """Return the classes and how many samples each has."""
        classes, counts = np.unique(targets, return_counts=True)
        return {"classes": classes.tolist(), "class_counts": counts.tolist()}

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

    def comparable(self, column: pd.Series) -> Any:
        """Return text, since labels of a file with few rows may be read as another type."""
        return np.where(column.notna(), text_of(column.to_frame())[:, 0], np.nan)


def _unevenness(targets: NDArray[Any]) -> float:
    """Return how many times as many samples the largest class has as the smallest."""
    counts = np.unique(targets, return_counts=True)[1]
    return float(counts.max() / counts.min())
