"""The methods that a comparison has: those requested, the references, and the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import attrs

from mklkit.comparison.baselines import baselines
from mklkit.comparison.design import Design
from mklkit.comparison.methods import (
    CLASSIFIER,
    Method,
    make_methods,
    presets_of,
    unique_names,
)
from mklkit.comparison.questions import planned_questions
from mklkit.comparison.references import kernel_references
from mklkit.errors import UnknownNameError, quoted, suggest
from mklkit.protocols.component import Preset


def methods_to_compare(
    requests: Any, presets: Sequence[Any], design: Design
) -> tuple[list[Method], list[dict[str, Any]], list[str]]:
    """Return the methods with the baselines, the planned questions, and notes on omissions."""
    are_named = requests is not None or bool(presets)
    if requests is None:
        requests = () if presets else design.task.default_methods
    is_pair = (
        isinstance(requests, tuple) and len(requests) == 2 and not isinstance(requests[1], str)
    )
    if is_pair or not isinstance(requests, (list, tuple)):
        requests = [requests]
    chosen = presets_of([presets] if isinstance(presets, (str, Preset)) else presets)
    methods, notes = make_methods(requests, chosen, design)
    bank = design
    if design.settings.kernels is None and not requests:
        # With only presets, their kernels are compared alone, scaled as in the preset.
        banks = {(preset.kernels, preset.scale) for preset in chosen}
        if len(banks) == 1:
            ((kernels, scale),) = banks
            of_presets = attrs.evolve(design.settings, kernels=kernels)
            if of_presets.scale is None:
                of_presets = attrs.evolve(of_presets, scale=cast(Any, scale))
            bank = attrs.evolve(design, settings=of_presets)
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
