"""What is measured of one fitted classifier on the test rows, and of the memory of its fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

from mklkit.errors import quoted
from mklkit.estimators.introspection import WeightedModel
from mklkit.evaluation.scores import score
from mklkit.persistence.facts import json_ready
from mklkit.protocols import Array
from mklkit.registry.specs import to_spec

__all__ = ["BINS", "area_under_curve", "measured", "peak_memory"]

BINS = 10
"""Bins of equal width in which probabilities are compared with frequencies."""
PROCESS = Path("/proc/self")
RESET_PEAK = "5"
"""What Linux takes as the request to forget the highest use of memory so far (man 5 proc)."""
NAN = float("nan")


def measured(
    classifier: Any, rows: Any, labels: NDArray[Any], answers: Any, target: NDArray[Any]
) -> dict[str, Any]:
    """Return a fitted classifier's scores on rows, its weights and what its search chose.

    Parameters
    ----------
    classifier : estimator
    rows : DataFrame of shape (n, d)
    labels : ndarray of shape (n,)
    answers : array-like
        What it predicts.
    target : ndarray of shape (N,)
        All labels of the data.

    Raises
    ------
    ValueError
        If the answers are no classes of the data.
    """
    if np.shape(answers) != labels.shape:
        raise ValueError(f"it predicts labels of shape {np.shape(answers)}, not {labels.shape}")
    scores = score(labels, answers, target)
    if len(scores["confusion"]) != len(np.unique(target)):
        raise ValueError("it predicts classes that are not in the data")
    classes = np.asarray(classifier.classes_)
    probabilities = values = None
    # scikit-learn's classifiers say by the presence of a method what they can, some of them only
    # with certain parameters, so that a class alone does not tell.
    if hasattr(classifier, "predict_proba"):
        probabilities = np.asarray(classifier.predict_proba(rows))
        values = probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
    elif hasattr(classifier, "decision_function"):
        values = np.asarray(classifier.decision_function(rows))
    chosen = getattr(classifier, "best_params_", None)
    return {
        "accuracy": scores["accuracy"],
        "balanced_accuracy": scores["balanced_accuracy"],
        "confusion": scores["confusion"],
        "auc": NAN if values is None else area_under_curve(labels, classes, values),
        **_of_probabilities(labels, classes, probabilities),
        "params": None if chosen is None else {name: _plain(v) for name, v in chosen.items()},
        "weights": _kernel_weights(classifier),
    }


def area_under_curve(labels: NDArray[Any], classes: NDArray[Any], values: Array) -> float:
    """Return the area under the ROC curve; of several classes the mean of one against the rest.

    Classes without test rows are left out of the mean; NaN where none is left.

    Examples
    --------
    >>> area_under_curve(np.array([0, 0, 1]), np.array([0, 1]), np.array([0.1, 0.3, 0.2]))
    0.5
    """
    columns = [(classes[1], values)] if values.ndim == 1 else zip(classes, values.T, strict=True)
    areas = [
        float(roc_auc_score(labels == label, column))
        for label, column in columns
        if 0 < np.count_nonzero(labels == label) < len(labels)
    ]
    return float(np.mean(areas)) if areas else NAN


def _of_probabilities(
    labels: NDArray[Any], classes: NDArray[Any], probabilities: Array | None
) -> dict[str, Any]:
    """Return the log loss, and how often probabilities held: rows, their sum and hits per bin.

    Of two classes it is the probability of the second; of several that of the likeliest.
    """
    if probabilities is None:
        return {"log_loss": NAN, "calibration": None}
    codes = np.searchsorted(classes, labels)
    likely = np.ones(len(labels), int) if len(classes) == 2 else probabilities.argmax(axis=1)
    told, held = probabilities[np.arange(len(labels)), likely], codes == likely
    bins = np.minimum((told * BINS).astype(int), BINS - 1)
    return {
        "log_loss": float(log_loss(codes, probabilities, labels=range(len(classes)))),
        "calibration": {
            "rows": np.bincount(bins, minlength=BINS).tolist(),
            "probability": np.bincount(bins, told, BINS).tolist(),
            "hits": np.bincount(bins[held], minlength=BINS).tolist(),
        },
    }


def _kernel_weights(classifier: Any) -> dict[str, float] | None:
    """Return a fitted classifier's weight per kernel, the mean over its binary problems."""
    if not isinstance(classifier, WeightedModel):
        return None
    means = classifier.weights_frame().groupby("kernel", sort=False)["weight"].mean()
    return {str(name): float(weight) for name, weight in means.items()}


def _plain(value: Any) -> Any:
    try:
        return json_ready(value)
    except TypeError:  # a component, or a parameter of a plugin's own kind
        return to_spec(value) if attrs.has(type(value)) else quoted(value)


class Peak:
    """The most memory that was taken beyond that at the start, in bytes; NaN where unknown."""

    bytes: float = NAN


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure the highest use of memory inside the block, where the system tells it.

    Examples
    --------
    >>> with peak_memory() as peak:
    ...     _ = bytearray(10_000_000)
    >>> peak.bytes >= 0 or peak.bytes != peak.bytes
    True
    """
    peak, before = Peak(), None
    try:
        (PROCESS / "clear_refs").write_text(RESET_PEAK)
        before = _status("VmRSS")
    except (OSError, ValueError, StopIteration):
        pass
    try:
        yield peak
    finally:
        if before is not None:
            peak.bytes = float(max(_status("VmHWM") - before, 0))


def _status(key: str) -> int:
    lines = (PROCESS / "status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(f"{key}:")).split()[1])
