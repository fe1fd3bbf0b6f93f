"""The trial of a model on a few samples, which detects mismatched parts during loading."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from mklkit.datasets.pipeline import encoder_in
from mklkit.errors import MKLKitError
from mklkit.persistence.contents import attributes, parts_of
from mklkit.protocols import Kernel, KernelTraits, traits_of

# A table encoder or an imputer turns gaps into typical values, which a plain classifier refuses;
# some kernels and transformers take amounts, flags, sample ids or positive numbers only.
TABLES = (
    (np.nan, 0.0, 1.0),
    (np.nan, np.nan, np.nan),
    (0.0, 1.0, -1.0),
    (0.0, 1.0, 2.0),
    (0.0, 1.0, 0.0),
    (1.0, 2.0, 3.0),
)
# For vectorizers, whose input has no columns.
OTHERS: tuple[list[Any], ...] = (["a b", "", "word"], [{}, {"a": 1}, {"b": 2}])
WIDEST = 1_000_000
# Decision values near the largest float on typical samples are infinite on others.
LARGEST = 1e150


def check_decisions(model: Any) -> None:
    """Predict a few samples, and raise the exception of an inconsistent model.

    The kinds of samples are tried until a model decides one. A model may decide none if a part of
    it takes only values like those of training: an encoder of text or dates, a kernel of sample ids
    or text, or an estimator of a plugin.

    Raises
    ------
    Exception
        Whatever the model raises for the last kind; a ``ValueError`` for the shape or size of its
        decisions: a classifier must give one class per sample, with finite probabilities and
        decision values of the right shape; other models, one or several values of a sensible size
        per sample.
    """
    failures: list[Exception] = []
    for rows in _trials(model):
        try:
            _decide(model, rows)
        except Exception as error:
            # A step may reject such samples with any exception.
            failures.append(error)
            continue
        return
    # An error of ours about the samples does not mean that the model is inconsistent.
    if failures and not isinstance(failures[-1], MKLKitError) and not _may_refuse(model):
        raise failures[-1]


def _trials(model: Any) -> Iterator[Any]:
    if isinstance(model, Pipeline):
        dict(model.named_steps)  # raises if a step has no name
    width = getattr(model, "n_features_in_", None)
    if width is None:
        yield from OTHERS
        return
    if width > WIDEST:
        raise ValueError(f"{width} features are too many for a trial")
    names = getattr(model, "feature_names_in_", None)
    for values in TABLES:
        rows = np.repeat([values], width, axis=0).T
        yield rows if names is None else pd.DataFrame(rows, columns=names)


def _may_refuse(model: Any) -> bool:
    """Return whether some part may reject all samples but those like its training samples."""
    is_encoded = encoder_in(model) is not None
    for part in parts_of(model):
        if isinstance(part, Kernel) and traits_of(part, KernelTraits).reads != "numbers":
            return True
        # scikit-learn's encoders compare text with text only; ours turns everything into text.
        if not is_encoded and (
            "categories_" in attributes(part) or isinstance(part, FunctionTransformer)
        ):
            return True
        home = type(part).__module__.partition(".")[0]
        if isinstance(part, BaseEstimator) and home not in ("mklkit", "sklearn"):
            return True
    return False


def _decide(model: Any, rows: Any) -> None:
    from joblib import parallel_config

    # Three rows need no processes, whatever number of jobs a file requests.
    with warnings.catch_warnings(), np.errstate(all="ignore"), parallel_config("sequential"):
        warnings.simplefilter("ignore")
        # An array in place of a number works only for one number of samples, so two are tried.
        for part in (rows, rows[1:]):
            _check_values(model, part)


def _check_values(model: Any, rows: Any) -> None:
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
        result = getattr(model, method)(rows)
        values = result if issparse(result) else np.asarray(result)
        if values.shape != (shape or (n_rows, *values.shape[1:])):
            raise ValueError(f"{method} gives values of the shape {values.shape}")
        numbers = values.data if issparse(values) else values
        if not (labels and method == "predict") and not (np.abs(numbers) < LARGEST).all():
            raise ValueError(f"{method} gives values that are not finite or close to overflow")
