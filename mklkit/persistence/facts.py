"""The facts stored with a model: plain values that JSON can represent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np

from mklkit._version import __version__
from mklkit.datasets.pipeline import encoder_in
from mklkit.estimators.introspection import (
    KernelClassifier,
    KernelModel,
    WeightedModel,
    classifier_in,
    column_names,
)
from mklkit.estimators.regressor import MKLRegressor
from mklkit.estimators.voting import MKLVotingClassifier
from mklkit.registry.specs import to_spec

__all__ = ["facts_of_model", "json_ready", "versions"]

VERSIONS_KEPT = ("scikit-learn", "skops", "numpy")
DEEPEST = 50


def json_ready(value: Any, levels: int = DEEPEST) -> Any:
    """Return a value as plain dicts, lists, text and numbers.

    Parameters
    ----------
    value : object
        Made of mappings, sequences, arrays, text, numbers, booleans and None. Labels keep
        their type where they are values; the keys of a mapping become text.
    levels : int, default=50
        The maximum nesting depth of mappings and sequences.

    Returns
    -------
    object
        Numbers that are not finite, which JSON can't represent, become None.

    Raises
    ------
    TypeError
        If it contains anything else, or is nested deeper.

    Examples
    --------
    >>> json_ready({"classes": np.array([True, False]), "weight": np.float64("nan")})
    {'classes': [True, False], 'weight': None}
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if levels == 0:
        raise TypeError(f"facts nested more than {DEEPEST} deep can't be stored")
    if isinstance(value, Mapping):
        return {str(key): json_ready(item, levels - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(item, levels - 1) for item in value]
    if isinstance(value, (np.generic, np.ndarray)):
        plain = value.astype(str) if value.dtype.kind in "mM" else value
        return json_ready(plain.tolist(), levels)
    raise TypeError(f"{value!r:.80} of type {type(value).__name__} can't be stored as a fact")


def facts_of_model(model: Any) -> dict[str, Any]:
    """Return a description of the fitted estimator at the end of a model.

    Parameters
    ----------
    model : estimator
        A fitted estimator of mklkit, or a pipeline or search around one; for other estimators few
        facts are available.

    Returns
    -------
    dict
        ``input`` (how a ``TableEncoder`` treated each column), ``kernels`` (name, spec string and
        columns of each: names, or positions where the data had none; None for all),
        ``feature_map``, ``combiner``, ``learner`` (where there is one), ``weights`` (problem,
        kernel and weight of each), and for classifiers ``multiclass`` (``binary``, ``ovo``, ``ovr``
        or ``native``), ``classes``, ``class_weight`` (that of each class; None where all weigh 1),
        ``probability`` (whether there is ``predict_proba``) and, for a vote, the number of
        ``members``; for a regressor ``task`` and ``targets``.
    """
    classifier = classifier_in(model)
    facts: dict[str, Any] = {}
    encoder = encoder_in(model)
    if encoder is not None:
        facts["input"] = json_ready(encoder.columns())
    if hasattr(classifier, "classes_"):  # any fitted classifier has them
        facts["classes"] = json_ready(np.asarray(classifier.classes_))
        facts["probability"] = hasattr(classifier, "predict_proba")
    if isinstance(classifier, KernelModel):
        facts["kernels"] = _kernels(classifier)
        facts["feature_map"] = to_spec(classifier.feature_map_)
        facts["combiner"] = to_spec(classifier.combiner_)
        if classifier.learner_ is not None:
            facts["learner"] = to_spec(classifier.learner_)
    if isinstance(classifier, KernelClassifier):
        weights = np.asarray(classifier.class_weight_)
        facts["class_weight"] = None if (weights == 1).all() else json_ready(weights)
        facts["multiclass"] = _strategy(classifier.problems_, len(classifier.classes_))
    if isinstance(classifier, MKLRegressor):
        facts["task"] = "regression"
        facts["targets"] = list(classifier.target_names_)
    if isinstance(classifier, MKLVotingClassifier):
        facts["members"] = len(classifier.members_)
    if isinstance(classifier, WeightedModel):
        facts["weights"] = json_ready(classifier.weights_frame().to_dict("records"))
    return facts


def _kernels(classifier: KernelModel) -> list[dict[str, Any]]:
    every = column_names(classifier)
    return [
        {"name": name, "spec": to_spec(kernel), "columns": json_ready(columns)}
        for name, kernel, columns in zip(
            classifier.kernel_names_,
            classifier.kernels_,
            (None if seen is None else every[seen] for seen in classifier.kernel_columns_),
            strict=True,
        )
    ]


def _strategy(problems: list[tuple[Any, Any]], n_classes: int) -> str:
    """Return the multiclass strategy that was used, deduced from the problems."""
    if n_classes == 2:
        return "binary"
    if len(problems) == 1:
        return "native"
    # Labels may be anything, so the decision is based on their number and repetitions.
    return "ovr" if len({str(negative) for negative, _ in problems}) == 1 else "ovo"


def versions() -> dict[str, str]:
    """Return the versions that a model's numbers may depend on."""
    kept = {name: version(name) for name in VERSIONS_KEPT}
    return {"mklkit": __version__, "python": python_version(), **kept}
