"""Tasks: targets of classes, numbers or none, and how each command treats them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_outlier_detector, is_regressor

from mklkit.estimators.introspection import classifier_in
from mklkit.evaluation.tasks.base import Task
from mklkit.evaluation.tasks.classification import Classes
from mklkit.evaluation.tasks.outliers import OneClass
from mklkit.evaluation.tasks.regression import Numbers

__all__ = ["Classes", "Numbers", "OneClass", "Task", "task_named", "task_of"]


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
