"""Rows without labels, among which outliers are detected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector
from sklearn.pipeline import Pipeline

from mklkit.datasets.pipeline import model_pipeline
from mklkit.errors import DataError
from mklkit.estimators.model_settings import ModelSettings
from mklkit.estimators.one_class import MKLOneClass
from mklkit.evaluation.class_scores import OUTLIER_SCORES, answers_of
from mklkit.evaluation.score import Answers, Score
from mklkit.evaluation.tasks.base import Task
from mklkit.evaluation.tasks.classification import Classes
from mklkit.protocols import Array
from mklkit.protocols import Task as Learned


@attrs.frozen(eq=False)
class OneClass(Classes):
    """Rows without labels, which are predicted to be inliers or outliers."""

    kind: ClassVar[str] = "outliers"
    learned: ClassVar[Learned] = "none"
    scores: ClassVar[tuple[Score, ...]] = OUTLIER_SCORES
    default_methods: ClassVar[tuple[str, ...]] = ()
    estimators: ClassVar[tuple[str, Callable[[Any], bool]]] = (
        "outlier detector",
        is_outlier_detector,
    )

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

    def baselines(self, seed: int, n_jobs: int | None, class_weight: Any) -> dict[str, Any]:
        """Return an isolation forest."""
        # Importing it takes a while, and most commands do not need it.
        from sklearn.ensemble import IsolationForest

        return {"isolation forest": IsolationForest(n_jobs=n_jobs, random_state=seed)}

    def check_learnable(self, name: str, targets: NDArray[Any]) -> None:
        """Refuse other numbers of classes than two."""
        super().check_learnable(name, targets)
        if len(classes := np.unique(targets)) != 2:
            raise DataError(
                "Outliers are scored by two classes, the rarer of which is that of the outliers;"
                f" {name} has {len(classes)}."
            )

    def truth(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return −1 for the rarer class and 1 for the others; no fit learns from it."""
        _, codes = np.unique(targets, return_inverse=True)
        return np.where(codes == np.bincount(codes).argmax(), 1, -1)

    def usual_score(self, targets: NDArray[Any]) -> str:
        """Return the area under the ROC curve, however rare outliers are."""
        return self.ranked_by[0]

    def pipeline(self, settings: ModelSettings, scoring: Any = None) -> Pipeline:
        """Return the steps with an :class:`mklkit.MKLOneClass`; refuse options for classes."""
        reason = "outliers are found without labels"
        return model_pipeline(settings, MKLOneClass, "detect", scoring, reason)

    def answers(
        self,
        model: Any,
        rows: Any,
        truth: NDArray[Any],
        predictions: NDArray[Any],
        training: NDArray[Any] | None = None,
        variance: Array | None = None,
    ) -> Answers:
        """Return −1 and 1 as numbers of classes, with decision values."""
        return answers_of(model, rows, truth, predictions, np.array([-1, 1]))

    def details(
        self, answers: Answers, truth: NDArray[Any], predictions: NDArray[Any], known: NDArray[Any]
    ) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return ``"inlier"`` if the score is 0 or more, else ``"outlier"``, and the score."""
        values = np.asarray(model.decision_function(rows))
        words = self.labels[(values >= 0).astype(int)]
        return pd.DataFrame({"prediction": words, "score": values})
