"""Fits that keep groups of samples together, also in the splits that an estimator makes itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from mklkit.errors import IncompatibleError, type_name
from mklkit.estimators.introspection import classifier_in
from mklkit.protocols.splits.making import check_apart, given_pairs


def fit_in_groups(
    estimator: Any, X: Any, y: NDArray[Any], groups: NDArray[Any] | None
) -> dict[str, Any]:
    """Return the arguments that make ``fit`` keep groups of samples (N,) together.

    A scikit-learn search that is the estimator, or its last step, is set to folds of groups, and
    boosting to hold out no samples at random. Raises if a search would divide a group.
    """
    if groups is None:
        return {}
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        params = fit_in_groups(last, X, y, groups)
        return {f"{name}__{key}": value for key, value in params.items()}
    if isinstance(estimator, BaseSearchCV):
        inside = classifier_in(estimator.estimator)
        if has_fit_parameter(inside, "groups"):
            raise IncompatibleError(
                f"{type_name(estimator)} passes no groups to {type_name(inside)}, which also"
                " splits samples: use MKLSearchCV, or scikit-learn's cross_validate and metadata"
                " routing."
            )
        pairs = given_pairs(estimator.cv, X, y, np.arange(len(y)), is_classifier(estimator), groups)
        check_apart(pairs, groups)
        estimator.set_params(cv=pairs)
        return {}
    if estimator.get_params(deep=False).get("early_stopping") == "auto":
        estimator.set_params(early_stopping=False)
    return {"groups": groups} if has_fit_parameter(estimator, "groups") else {}
