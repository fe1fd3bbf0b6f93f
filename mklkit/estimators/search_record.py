"""The search behind a saved model: how it is written to the file, and put around the model again.

``mklkit fit --tune`` saves a model that has learned from all samples with the parameters that a
search chose. What evaluates it anew has to repeat the search, and so needs to know what it tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mklkit.estimators.grids import declared_space
from mklkit.estimators.search import MKLSearchCV

OPEN = ("learner", "feature_map")
"""Components that a fit chooses if they are not named."""


def search_record(model: Any) -> dict[str, Any] | None:
    """Return the effort and score of a fitted search, and the parameters from which it began.

    None for other models, for a search over a grid of the user's, and where no parameter was left
    to search.
    """
    if not isinstance(model, MKLSearchCV) or model.param_grid is not None:
        return None
    if not model.best_params_:  # What a fit chooses itself needs no search to be chosen again.
        return None
    parameters = model.estimator.get_params()
    names = [*OPEN, *model.best_params_]
    return {
        "effort": model.effort,
        "scoring": model.scoring,
        "settings": len(model.cv_results_["params"]),
        "begin": {
            name: parameters[name]
            for name in names
            if name in parameters and (name not in OPEN or parameters[name] is None)
        },
    }


def with_search(model: Any, record: Mapping[str, Any] | None) -> Any:
    """Return a fitted model inside the search that chose its parameters, as a file tells it.

    Only parameters that components declare for searches are taken from the record.
    """
    if isinstance(model, Pipeline):
        *steps, (name, last) = model.steps
        return Pipeline([*steps, (name, with_search(last, record))])
    if not record:
        return model
    begin, space = record.get("begin", {}), declared_space(model)
    start = clone(model).set_params(**{name: begin[name] for name in begin if name in space})
    start.set_params(**{name: None for name in OPEN if name in begin and begin[name] is None})
    search = MKLSearchCV(start, effort=record.get("effort"), scoring=record.get("scoring"))
    search.best_estimator_, search.fitted_ = model, model.fitted_
    search.cv_results_ = {"params": [{}] * int(record.get("settings", 0))}
    for name in {"n_features_in_", "feature_names_in_"} & vars(model).keys():
        setattr(search, name, vars(model)[name])
    return search
