"""What components can do and read, and refusals with the names of those that can."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from mklkit.errors import IncompatibleError, MKLKitError, SpecError, quoted, type_name
from mklkit.protocols import (
    TASK_NAMES,
    Combiner,
    CombinerFacts,
    Decision,
    KernelFacts,
    LearnerFacts,
    Reads,
    Task,
    facts_of,
)
from mklkit.registry.entries import Entry, Kind
from mklkit.registry.registry import Registry, get_registry

__all__ = [
    "check_able",
    "checked_decision",
    "default_instances",
    "is_around_another",
    "kernels_on",
    "names_of_able",
    "reads_of",
]

Learning = Literal["combiner", "learner"]


def default_instances(registry: Registry, kind: Kind) -> Iterator[Any]:
    """Yield the registered components of a kind that can be created without parameters."""
    for entry in registry.entries(kind):
        with suppress(SpecError):
            yield registry.create(kind, entry.target)


def names_of_able(
    registry: Registry, kind: Learning, task: Task, weighted: bool = False
) -> list[str]:
    """Return the names of the combiners or learners that can do a task, with weights of rows.

    Examples
    --------
    >>> from mklkit.registry.registry import get_registry
    >>> "kda" in names_of_able(get_registry(), "learner", "several classes")
    True
    """
    return [
        component.name
        for component in default_instances(registry, kind)
        if _lacks(_facts(kind, component), task, weighted) == ""
    ]


def check_able(
    registry: Registry, kind: Learning, component: Any, task: Task, weighted: bool = False
) -> None:
    """Refuse a combiner or learner that can't do a task, or can't weigh rows.

    Raises
    ------
    IncompatibleError
        The message has the names of those that can.
    """
    lacking = _lacks(_facts(kind, component), task, weighted)
    if lacking:
        able = ", ".join(names_of_able(registry, kind, task, weighted)) or "none"
        raise IncompatibleError(
            f"The {kind} {component.name!r} {lacking}; {kind}s that can: {able}."
        )


def _facts(kind: Learning, component: Any) -> CombinerFacts | LearnerFacts:
    if kind == "combiner":
        return facts_of(component, CombinerFacts)
    return facts_of(component, LearnerFacts)


def _lacks(facts: CombinerFacts | LearnerFacts, task: Task, weighted: bool) -> str:
    """Return what is missing, in words; nothing if it can do both."""
    if task not in facts.tasks:
        return f"can't learn from {TASK_NAMES[task]}"
    if not weighted:
        return ""
    if isinstance(facts, LearnerFacts):
        weighs = facts.takes_row_weights
    else:
        weighs = facts.row_weights != "refused"
    return "" if weighs else "can't take weights of rows or classes"


def kernels_on(reads: Reads, column: str = "") -> str:
    """Return advice to use a kernel that reads columns of some kind, or one such column.

    Examples
    --------
    >>> kernels_on("row ids")
    "use a kernel on row ids, such as 'precomputed'"
    """
    entries = get_registry().entries("kernel")
    at = f"@{column}" if column else ""
    names = [quoted(f"{entry.name}{at}") for entry in entries if reads_of(entry) == reads]
    return f"use a kernel on {reads}, such as {' or '.join(names[:2])}"


def is_around_another(kernel: Entry) -> bool:
    """Return whether a registered kernel is one around another kernel."""
    instances = default_instances(get_registry(), "kernel")
    return any(type(k) is kernel.target and k.kernel is not None for k in instances)


def reads_of(kernel: Entry) -> Reads:
    """Return what a registered kernel reads: by default, where it depends on its parameters."""
    target: Any = kernel.target
    if isinstance(getattr(target, "facts", None), property):
        instances = default_instances(get_registry(), "kernel")
        target = next((k for k in instances if type(k) is target), None)
    return facts_of(target, KernelFacts).reads


def checked_decision(combiner: Combiner, decision: object, n_kernels: int) -> Decision:
    """Return what a combiner's fit has returned, if it is a decision on that many kernels.

    Raises
    ------
    MKLKitError
        If it is not.
    """
    wanted = f"{combiner.name} must return an object with 'weights' and 'decide' from fit;"
    if not isinstance(decision, Decision):
        raise MKLKitError(f"{wanted} it returned a value of type {type_name(decision)}.")
    shape = np.shape(decision.weights)
    if shape[-1:] != (n_kernels,):
        raise MKLKitError(
            f"{wanted} its weights must be an array of shape ({n_kernels},), one per kernel; their"
            f" shape is {shape}."
        )
    return decision
