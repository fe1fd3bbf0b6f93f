"""The methods that a comparison has: those requested, the references, and the baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from mklkit.errors import SpecError, UnknownNameError, counted, quoted, suggest
from mklkit.protocols.component import Preset

ROLES = "'alone' are all single kernels, and 'baselines' scikit-learn's estimators"
"""What the names of several methods stand for, in words."""


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
    alone = [method for group in references for method in group["alone"]]
    kept = _without(design.without, named, {"alone": alone, "baselines": usual})
    names = {method.spec: method.name for method in kept}
    present = [method for method in methods if method.spec in names]
    rivals = [method for method in present if method.kind == CLASSIFIER]
    rivals += [method for method in usual if method.spec in names]
    planned = [
        (title, method, [reference for reference in beside if reference.spec in names])
        for title, method, beside in planned_questions(present, references, rivals, are_named)
    ]
    questions = [
        {
            "question": title,
            "method": names[method.spec],
            "references": [names[reference.spec] for reference in beside],
        }
        for title, method, beside in planned
        if method.spec in names and beside
    ]
    if left_out := [method.name for method in named if method.spec not in names]:
        unasked = len(planned) - len(questions)
        more = f"; {counted(unasked, 'planned question')} about them not asked" if unasked else ""
        notes.append(f"omitted as requested: {', '.join(left_out)}{more}")
    return kept, questions, notes + same


def _without(
    requests: Sequence[str], methods: Sequence[Method], roles: Mapping[str, Sequence[Method]]
) -> list[Method]:
    """Return the methods that are not omitted, by their names or roles.

    A name stands for the method with each learner and strategy.
    """
    out: set[str] = set()
    for request in requests:
        word = _folded(request)
        of_role = {method.spec for role, each in roles.items() if role == word for method in each}
        matching = {
            method.spec
            for method in methods
            if word == (name := _folded(method.name))
            or name.startswith((f"{word} + ", f"{word}, "))
        }
        if not (of_role or matching):
            names = [*(method.name for method in methods), *roles]
            raise UnknownNameError(
                f"There is no method {quoted(request)} to leave out.{suggest(request, names)}"
                f" The methods are {', '.join(names[: -len(roles)])}; {ROLES}.",
                request,
            )
        out |= of_role | matching
    kept = [method for method in methods if method.spec not in out]
    if not kept:
        raise SpecError("All methods are omitted: keep at least one of them.")
    return kept


def _folded(name: str) -> str:
    return name.strip().replace("-", " ").casefold()


def check_reference(reference: str | None, methods: Sequence[Method]) -> None:
    names = [method.name for method in methods]
    if reference is not None and reference not in names:
        raise UnknownNameError(
            f"No compared method is called {quoted(reference)}.{suggest(reference, names)}"
            f" The methods are {', '.join(names)}.",
            reference,
        )
