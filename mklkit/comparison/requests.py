"""Reads the request for a comparison: a score for the task, methods and questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from sklearn.base import clone

from mklkit.comparison.data import DataSet
from mklkit.comparison.methods import (
    CLASSIFIER,
    Method,
    MethodOptions,
    make_methods,
    presets_of,
    unique_names,
)
from mklkit.comparison.references import (
    baselines,
    kernel_references,
    planned_questions,
)
from mklkit.datasets.kernel_columns import named_sources
from mklkit.datasets.pipeline import missing_sources_in
from mklkit.errors import SpecError, UnknownNameError, plain_message, quoted, suggest
from mklkit.estimators.fold_scores import needs_probabilities
from mklkit.estimators.missing_sources import counts
from mklkit.protocols.component import Preset


def strategies_of(missing: Any) -> tuple[Any, ...]:
    """Return the strategies of a text such as ``"present, complete(ridge=1)"``, or of several."""
    if isinstance(missing, str):
        return tuple(part.strip() for part in re.split(r",(?![^(]*\))", missing))
    return tuple(missing or ())


def with_missing_sources(data: DataSet, methods: Sequence[Method]) -> DataSet:
    """Return the data with the rows that lack a source of some method's kernels, and notes."""
    encoding = {f"encode__{name}": value for name, value in data.encoding.items()}
    sources: dict[Any, pd.Series] = {}
    for method in methods:
        if not named_sources(method.pipeline[-1]).keys() <= sources.keys():
            model = clone(method.pipeline).set_params(**encoding)
            sources |= dict(missing_sources_in(model, data.features).items())
    missing = pd.DataFrame(sources)
    if not missing.any(axis=None):
        return data
    classes, codes = np.unique(data.target, return_inverse=True)
    named = classes.tolist() if data.task.has_classes else []
    told = counts(list(sources), missing.to_numpy(), codes, named)
    return attrs.evolve(data, incomplete=missing.any(axis=1).to_numpy(), notes=[*data.notes, *told])


def baseline_names(names: Any) -> tuple[str, ...] | None:
    """Return the names of baselines; a single "none" means none."""
    if names is None:
        return None
    words = [names] if isinstance(names, str) else names
    known = tuple(dict.fromkeys(word.strip().replace("-", " ") for word in words))
    return () if known == ("none",) else known


def of_task(
    options: MethodOptions, data: list[DataSet], score: str | None
) -> tuple[MethodOptions, list[str]]:
    """Return the options for the task of the data, with a score defined for it, and notes on it.

    The usual score of one of several data sets is that of all, if it is not the task's first.
    """
    task, notes = data[0].task, []
    if score is None:
        usual = {source.task.usual_score(source.target): source for source in data}
        score = next((name for name in usual if name != task.ranked_by[0]), task.ranked_by[0])
        notes = [reason] if (reason := task.why(score, usual[score].target)) else []
    scorer, is_calibrated = task.scorer(score), True
    for source in data if task.has_classes and task.learned != "none" else ():
        classes, codes = np.unique(source.target, return_inverse=True)
        try:
            is_calibrated = not needs_probabilities(scorer, codes, classes)
        except ValueError as error:
            raise SpecError(
                f"The score {score} is not defined for the classes of {source.name}"
                f" ({plain_message(error)}). Choose another, such as balanced_accuracy or f1_macro."
            ) from error
    if not is_calibrated and not options.probability:
        raise SpecError(
            f"The score {score} needs probabilities, which kernel methods have only if they are"
            " calibrated: add --probability (in Python probability=True)."
        )
    chooses = is_calibrated and score != "accuracy"
    scoring = task.score_named(score).scoring if chooses else None
    if options.tune is not None and scoring is None and score != "accuracy":
        notes.append("parameters are chosen by accuracy, because a search has no probabilities")
    return attrs.evolve(options, task=task, score=score, scoring=scoring), notes


def methods_to_compare(
    requests: Any, presets: Sequence[Any], options: MethodOptions
) -> tuple[list[Method], list[dict[str, Any]], list[str]]:
    """Return the methods with the baselines, the planned questions, and notes on omissions."""
    are_named = requests is not None or bool(presets)
    if requests is None:
        requests = () if presets else options.task.default_methods
    is_pair = (
        isinstance(requests, tuple) and len(requests) == 2 and not isinstance(requests[1], str)
    )
    if is_pair or not isinstance(requests, (list, tuple)):
        requests = [requests]
    chosen = presets_of([presets] if isinstance(presets, (str, Preset)) else presets)
    methods, notes = make_methods(requests, chosen, options)
    bank = options
    if options.kernels is None and not requests:
        # With only presets, their kernels are compared alone, scaled as in the preset.
        banks = {(preset.kernels, preset.scale) for preset in chosen}
        if len(banks) == 1:
            ((kernels, scale),) = banks
            bank = attrs.evolve(options, kernels=kernels, scale=options.scale or scale)
    references, usual = kernel_references(bank), baselines(bank)
    of_kernels = [m for group in references for several in group.values() for m in several]
    named, same = unique_names([*methods, *of_kernels, *usual])
    rivals = [method for method in methods if method.kind == CLASSIFIER]
    names = {method.spec: method.name for method in named}
    questions = [
        {
            "question": title,
            "method": names[method.spec],
            "references": [names[reference.spec] for reference in beside],
        }
        for title, method, beside in planned_questions(
            methods, references, [*rivals, *usual], are_named
        )
    ]
    return named, questions, notes + same


def check_reference(reference: str | None, methods: Sequence[Method]) -> None:
    names = [method.name for method in methods]
    if reference is not None and reference not in names:
        raise UnknownNameError(
            f"No compared method is called {quoted(reference)}.{suggest(reference, names)}"
            f" The methods are {', '.join(names)}.",
            reference,
        )
