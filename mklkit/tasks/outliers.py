"""Outlier detection: samples without labels, scored by known outliers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector

from mklkit.errors import DataError
from mklkit.estimators.one_class import MKLOneClass
from mklkit.evaluation.class_scores import OUTLIER_SCORES, answers_of
from mklkit.protocols import NO_TARGET, Answers, Array, Score, TargetKind
from mklkit.registry.hookspecs import register
from mklkit.tasks.classification import Classification


@register
@attrs.frozen(eq=False)
class Outliers(Classification):
    """Detect outliers without labels, and score by them: they are the rarer of two classes.

    Parameters
    ----------
    targets : tuple of str, default=("target",)
        The name of the column of the two classes.
    labels : ndarray of shape (2,)
        The words for outliers and inliers.

    Examples
    --------
    >>> Outliers().truth(np.array(["fine", "odd", "fine"])).tolist()
    [1, -1, 1]
    """

    name: ClassVar[str] = "outliers"
    kinds: ClassVar[tuple[TargetKind, ...]] = (NO_TARGET,)
    estimator: ClassVar[type] = MKLOneClass
    estimator_noun: ClassVar[str] = "outlier detector"
    scores: ClassVar[tuple[Score, ...]] = OUTLIER_SCORES
    step: ClassVar[str] = "detect"
    takes_classes: ClassVar[bool] = False
    in_parts: ClassVar[bool] = False
    default_methods: ClassVar[tuple[str, ...]] = ()

    labels: NDArray[Any] = attrs.field(factory=lambda: np.array(["outlier", "inlier"]))

    @classmethod
    def claims(cls, columns: pd.DataFrame) -> bool:
        """Return False: samples are learned without labels only on request."""
        return False

    def checked(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return 1 for inliers and −1 for outliers, given by name or by these numbers."""
        known = {"inlier": 1, "outlier": -1, "1": 1, "-1": -1, "1.0": 1, "-1.0": -1}
        targets = self.complete(y, n_rows)
        signs = np.array([known.get(str(label), 0) for label in targets])
        if {*signs.tolist()} != {1, -1}:
            raise DataError(
                "Samples are scored as outliers or not: y must be -1 or 'outlier' for some,"
                " and 1 or 'inlier' for the others."
            )
        return signs

    def check_learnable(self, name: str, targets: NDArray[Any]) -> None:
        """Raise an error for other numbers of classes than two."""
        super().check_learnable(name, targets)
        if len(classes := np.unique(targets)) != 2:
            raise DataError(
                "Outliers are scored by two classes, the rarer of which is that of the outliers;"
                f" {name} has {len(classes)}."
            )

    def read_scored(self, columns: pd.DataFrame) -> pd.DataFrame:
        """Return the labels, of which there must be two to tell outliers from others."""
        return self.read(columns)

    def truth(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return −1 for the rarer class and 1 for the others; no fit learns from it."""
        _, codes = np.unique(targets, return_inverse=True)
        return np.where(codes == np.bincount(codes).argmax(), 1, -1)

    @classmethod
    def fits(cls, model: Any) -> bool:
        """Return whether an estimator detects outliers."""
        return bool(is_outlier_detector(model))

    @classmethod
    def of_model(cls, model: Any) -> Self:
        """Return the task; its labels are words."""
        return cls()

    @property
    def why_no_classes(self) -> str:
        """Why options for classes do not apply, as a part of a sentence."""
        return "outliers are found without labels"

    def baselines(self, seed: int, n_jobs: int | None, class_weight: Any) -> dict[str, Any]:
        """Return an isolation forest."""
        # Importing it takes a while, and most commands do not need it.
        from sklearn.ensemble import IsolationForest

        return {"isolation forest": IsolationForest(n_jobs=n_jobs, random_state=seed)}

    def baseline_grids(self, is_fast: bool) -> Mapping[str, Mapping[str, Sequence[Any]]]:
        """Return the shares of columns and, in a longer search, of samples of each tree."""
        samples = {} if is_fast else {"max_samples": [0.5, 1.0]}
        return {"isolation forest": {"max_features": [0.3, 0.6, 1.0], **samples}}

    def usual_score(self, targets: NDArray[Any]) -> str:
        """Return the area under the ROC curve, however rare outliers are."""
        return self.ranked_by[0]

    def needs_probabilities(self, name: str, targets: NDArray[Any]) -> bool:
        """Return False: detectors have none."""
        return False

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

    def predictions(self, model: Any, rows: Any) -> pd.DataFrame:
        """Return ``"inlier"`` if the score is 0 or more, else ``"outlier"``, and the score."""
        values = np.asarray(model.decision_function(rows))
        words = self.labels[(values >= 0).astype(int)]
        return pd.DataFrame({"prediction": words, "score": values})

    def details(
        self, answers: Answers, truth: NDArray[Any], predictions: NDArray[Any], known: NDArray[Any]
    ) -> dict[str, Any]:
        """Return nothing."""
        return {}
