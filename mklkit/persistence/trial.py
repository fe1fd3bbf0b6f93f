"""A trial of a model on a few rows.

A well-formed file may still hold an array whose length does not match the rest of the model. So a
few rows are predicted when a model is saved, and again when it is loaded.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

__all__ = ["TRIALS", "decide_trial", "find_trial"]

# The values of the rows. A table encoder or an imputer turns gaps into typical values, while a
# classifier by itself refuses them.
TRIALS = {"mixed": (np.nan, 0.0, 1.0), "gaps": (np.nan,) * 3, "numbers": (0.0, 1.0, -1.0)}
WIDEST = 1_000_000
# Decision values near the largest float on typical rows are infinite on others.
LARGEST = 1e150


class Inconsistent(ValueError):
    """A model whose parts do not match."""


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
    """Predict a few rows.

    Raises
    ------
    Exception
        Any exception of an inconsistent model, or if the result is not one class per row with
        finite probabilities and decision values of the right shape, or else one value or several of
        a sensible size for each row.
    """
    from joblib import parallel_config

    # Three rows need no processes, whatever number of jobs a file asks for.
    with warnings.catch_warnings(), np.errstate(all="ignore"), parallel_config("sequential"):
        warnings.simplefilter("ignore")
        getattr(model, "named_steps", None)  # for pipelines, raises if a step has no name
        rows = _rows(model, TRIALS[kind])
        # An array in place of a number works for one number of rows only, so two are tried.
        for given in (rows, rows[1:]):
            _decide(model, given)


def _decide(model: Any, rows: Any) -> None:
    if hasattr(model, "classes_"):
        _decide_classes(model, rows)
        return
    n_rows = len(rows)
    for method in ("predict", "decision_function", "transform"):
        if hasattr(model, method):
            values = np.asarray(getattr(model, method)(rows))
            _expect(f"the values of {method}", values.shape[:1], (n_rows,))
            if not (np.abs(values) < LARGEST).all():
                raise Inconsistent(f"the values of {method} are not finite or close to overflow")


def _decide_classes(model: Any, rows: Any) -> None:
    n_rows, n_classes = len(rows), len(model.classes_)
    _expect("classes", np.shape(model.classes_), (n_classes,))
    _expect("predictions", np.shape(model.predict(rows)), (n_rows,))
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(rows))
        _expect("probabilities", probabilities.shape, (n_rows, n_classes))
        if not np.isfinite(probabilities).all():
            raise Inconsistent("the probabilities are not finite")
    if hasattr(model, "decision_function"):
        decisions = np.asarray(model.decision_function(rows))
        shape = (n_rows,) if n_classes == 2 else (n_rows, n_classes)
        _expect("decision values", decisions.shape, shape)
        if not (np.abs(decisions) < LARGEST).all():
            raise Inconsistent("the decision values are infinite, NaN or close to overflow")


def _rows(model: Any, values: tuple[float, ...]) -> Any:
    import pandas as pd

    width = model.n_features_in_
    if width > WIDEST:
        raise Inconsistent(f"{width} features are too many for a trial")
    names = getattr(model, "feature_names_in_", None)
    rows = np.repeat([values], width, axis=0).T
    return rows if names is None else pd.DataFrame(rows, columns=names)


def _expect(what: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if shape != expected:
        raise Inconsistent(f"{what} have the shape {shape} where {expected} is expected")
