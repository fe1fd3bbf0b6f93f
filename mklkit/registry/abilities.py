"""What combiners and learners can do, and refusals with the names of those that can."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

from mklkit.errors import IncompatibleError, SpecError
from mklkit.protocols import TASK_NAMES, CombinerFacts, LearnerFacts, Task, facts_of
from mklkit.registry.entries import Kind
from mklkit.registry.registry import Registry

__all__ = ["check_able", "made", "names_of_able"]

Learning = Literal["combiner", "learner"]


def made(registry: Registry, kind: Kind) -> Iterator[Any]:
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
        one.name for one in made(registry, kind) if _lacks(_facts(kind, one), task, weighted) == ""
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
