"""The trial of a model on a few rows, which detects mismatched parts during loading."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

# The values of the rows. A table encoder or an imputer turns gaps into typical values, while a
# plain classifier refuses them.
TRIALS = {"mixed": (np.nan, 0.0, 1.0), "gaps": (np.nan,) * 3, "numbers": (0.0, 1.0, -1.0)}
WIDEST = 1_000_000
# Decision values near the largest float on typical rows are infinite on others.
LARGEST = 1e150


def find_trial(model: Any) -> str | None:
    """Return the kind of rows that a model accepts, or None, for example if it takes text."""
    for kind in TRIALS:
        try:
            decide_trial(model, kind)
        except Exception:
            # A step may refuse such rows with any exception; then this kind is skipped.
            continue
        return kind
    return None


def decide_trial(model: Any, kind: str) -> None:
    """Predict a few rows, and raise any exception of an inconsistent model.

    A classifier must give one class per row, with finite probabilities and decision values of the
    right shape; other models, one or several values of a sensible size per row.
    """
    from joblib import parallel_config

    if model.n_features_in_ > WIDEST:
        raise ValueError(f"{model.n_features_in_} features are too many for a trial")
    if isinstance(model, Pipeline):
        dict(model.named_steps)  # raises if a step has no name
    rows = np.repeat([TRIALS[kind]], model.n_features_in_, axis=0).T
    names = getattr(model, "feature_names_in_", None)
    # Three rows need no processes, whatever number of jobs a file requests.
    with warnings.catch_warnings(), np.errstate(all="ignore"), parallel_config("sequential"):
        warnings.simplefilter("ignore")
        # An array in place of a number works only for one number of rows, so two are tried.
        for part in (rows, rows[1:]):
            _decide(model, part if names is None else pd.DataFrame(part, columns=names))


def _decide(model: Any, rows: Any) -> None:
    n_rows, labels = len(rows), is_classifier(model)
    shapes: dict[str, tuple[int, ...] | None]
    shapes = dict.fromkeys(("predict", "decision_function", "transform"))
    if labels:
        (n_classes,) = np.shape(model.classes_)
        shapes = {
            "predict": (n_rows,),
            "predict_proba": (n_rows, n_classes),
            "decision_function": (n_rows,) if n_classes == 2 else (n_rows, n_classes),
        }
    for method, shape in shapes.items():
        if not hasattr(model, method):
            continue
        values = np.asarray(getattr(model, method)(rows))
        if values.shape != (shape or (n_rows, *values.shape[1:])):
            raise ValueError(f"{method} gives values of the shape {values.shape}")
        if not (labels and method == "predict") and not (np.abs(values) < LARGEST).all():
            raise ValueError(f"{method} gives values that are not finite or close to overflow")
