"""What is measured of one fitted classifier on the test rows."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

from mklkit.errors import quoted
from mklkit.estimators.introspection import WeightedModel
from mklkit.persistence.facts import json_ready
from mklkit.protocols import Array
from mklkit.registry.specs import to_spec

__all__ = [
    "BINS",
    "area_under_curve",
    "calibration",
    "chosen_parameters",
    "kernel_weights",
    "outputs_of",
    "seconds_of_last_fit",
]

BINS = 10
"""Bins of equal width in which probabilities are compared with frequencies."""


@runtime_checkable
class Tuned(Protocol):
    """A fitted search over parameters."""

    best_params_: dict[str, Any]


@runtime_checkable
class Refitted(Protocol):
    """A fitted search that was fitted once more, with the parameters that it chose."""

    refit_time_: float


@attrs.frozen(eq=False)
class Outputs:
    """What a classifier says about rows besides their labels; None where it can't."""

    scores: Array | None
    """Of shape (n,) for two classes, the larger for ``classes[1]``, else (n, C)."""
    probabilities: Array | None
    """Of shape (n, C)."""


def outputs_of(classifier: Any, rows: Any) -> Outputs:
    """Return a fitted classifier's scores and probabilities."""
    probabilities = scores = None
    # scikit-learn's classifiers say by the presence of a method what they can, some of them only
    # with certain parameters, so that a class alone does not tell.
    if hasattr(classifier, "predict_proba"):
        probabilities = np.asarray(classifier.predict_proba(rows))
        scores = probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
    elif hasattr(classifier, "decision_function"):
        scores = np.asarray(classifier.decision_function(rows))
    return Outputs(scores, probabilities)


def area_under_curve(labels: NDArray[Any], classes: NDArray[Any], scores: Array | None) -> float:
    """Return the area under the ROC curve; of several classes the mean of one against the rest.

    Classes without test rows are left out of the mean; NaN where none is left.

    Examples
    --------
    >>> area_under_curve(np.array([0, 0, 1]), np.array([0, 1]), np.array([0.1, 0.3, 0.2]))
    0.5
    """
    if scores is None:
        return float("nan")
    columns = [(classes[1], scores)] if scores.ndim == 1 else zip(classes, scores.T, strict=True)
    found = [
        float(roc_auc_score(labels == label, column))
        for label, column in columns
        if 0 < np.count_nonzero(labels == label) < len(labels)
    ]
    return float(np.mean(found)) if found else float("nan")


def logarithmic_loss(labels: NDArray[Any], classes: NDArray[Any], found: Array | None) -> float:
    """Return the mean of −log of the probability of the true class; NaN without probabilities."""
    if found is None:
        return float("nan")
    return float(log_loss(np.searchsorted(classes, labels), found, labels=range(len(classes))))


def calibration(
    labels: NDArray[Any], classes: NDArray[Any], found: Array | None
) -> dict[str, list[float]] | None:
    """Return, per bin of probability, rows, the sum of probabilities and how often they held.

    Of two classes it is the probability of the second; of several that of the likeliest.

    Examples
    --------
    >>> found = np.array([[0.95, 0.05], [0.0, 1.0]])
    >>> calibration(np.array([0, 1]), np.array([0, 1]), found)["hits"]
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    if found is None:
        return None
    told = found[:, 1] if len(classes) == 2 else found.max(axis=1)
    held = labels == (classes[1] if len(classes) == 2 else classes[found.argmax(axis=1)])
    bins = np.minimum((told * BINS).astype(int), BINS - 1)
    return {
        "rows": np.bincount(bins, minlength=BINS).tolist(),
        "probability": np.bincount(bins, told, BINS).tolist(),
        "hits": np.bincount(bins[held], minlength=BINS).tolist(),
    }


def kernel_weights(classifier: Any) -> dict[str, float] | None:
    """Return a fitted classifier's weight per kernel, the mean over its binary problems."""
    if not isinstance(classifier, WeightedModel):
        return None
    frame = classifier.weights_frame()
    means = frame.groupby("kernel", sort=False)["weight"].mean()
    return {str(name): float(weight) for name, weight in means.items()}


def chosen_parameters(classifier: Any) -> dict[str, Any] | None:
    """Return the parameters that a search chose, None where nothing was searched."""
    if not isinstance(classifier, Tuned):
        return None
    return {name: _plain(value) for name, value in classifier.best_params_.items()}


def seconds_of_last_fit(classifier: Any, seconds: float) -> float:
    """Return how long the fit with the final parameters took, of ``seconds`` in all."""
    return float(classifier.refit_time_) if isinstance(classifier, Refitted) else seconds


def _plain(value: Any) -> Any:
    try:
        return json_ready(value)
    except TypeError:  # a component, or a parameter of a plugin's own kind
        return to_spec(value) if attrs.has(type(value)) else quoted(value)
