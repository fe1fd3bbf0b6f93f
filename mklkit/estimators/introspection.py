"""The parts of a model: the steps of a pipeline, the result of a search, a fitted classifier."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline


@runtime_checkable
class FittedSearch(Protocol):
    """A fitted search over parameters, of mklkit or of any library that follows scikit-learn."""

    best_estimator_: Any


@runtime_checkable
class KernelModel(Protocol):
    """A fitted estimator with kernels, for classes, for numbers, or for samples without labels."""

    kernels_: list[Any]
    kernel_names_: list[str]
    kernel_columns_: list[Any]
    bound_kernels_: list[Any]
    feature_map_: Any
    combiner_: Any
    learner_: Any
    problems_: list[Any]
    n_features_in_: int


def split(model: Any) -> tuple[Pipeline | None, Any]:
    """Return the steps before the classifier (None if there are none) and the classifier.

    A search over parameters is replaced by its best estimator.
    """
    if isinstance(model, FittedSearch):
        return split(model.best_estimator_)
    if not isinstance(model, Pipeline):
        return None, model
    before = model[:-1] if len(model.steps) > 1 else None
    return before, classifier_in(model[-1])


def classifier_in(model: Any) -> Any:
    """Return the classifier inside a pipeline or a search over parameters."""
    return split(model)[1]


def column_names(model: Any) -> NDArray[Any]:
    """Return the names of the columns that a model was fitted on, or their positions."""
    return np.asarray(getattr(model, "feature_names_in_", np.arange(model.n_features_in_)))
