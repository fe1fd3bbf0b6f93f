"""The best method of a comparison, fitted on all samples to be saved."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from sklearn.pipeline import Pipeline

from mklkit.comparison.comparison import Comparison
from mklkit.datasets.pipeline import advice_on, describe
from mklkit.estimators.base import FittedKernels


def fitted_best(comparison: Comparison) -> tuple[Pipeline, dict[str, Any]]:
    """Return the best method, fitted on all samples, and its record.

    The record has what :meth:`mklkit.evaluation.study.Study.record` has, as far as a comparison
    knows it, and the verdict.
    """
    (data,) = comparison.data
    name = comparison.best_method.name
    start = perf_counter()
    model = comparison.best_estimator_
    seconds = perf_counter() - start
    choices = model[-1].choices_ if isinstance(model[-1], FittedKernels) else []
    scores = data.task.score(data.truth, model.predict(data.features), data.truth)
    record: dict[str, Any] = {
        "data": data.table.metadata(),
        "preset": None,
        "seed": comparison.plan["seed"],
        "preprocessing": describe(model),
        "advice": advice_on(model),
        "choices": [f"{name}: the best of {len(comparison.methods)} methods", *choices],
        "split": "none",
        "scores": {"train": scores, "held_out": None},
        "seconds": seconds,
        "comparison": {"method": name, "verdict": comparison.verdict},
    }
    return model, record
