"""Registered tasks by name, and the kinds of targets of their problems."""

from __future__ import annotations

from collections.abc import Sequence

from mklkit.protocols import TargetKind, Task
from mklkit.registry.registry import get_registry


def task_named(name: str, targets: Sequence[str] = ()) -> Task:
    """Return the task of a name, of these target columns if any are given.

    Raises
    ------
    UnknownNameError
        If no task has the name.

    Examples
    --------
    >>> task_named("regression", ["height"])
    Regression(targets=('height',))
    """
    task: Task = get_registry().create("task", name)
    return task.with_params(targets=tuple(targets)) if targets else task


def all_tasks() -> list[type[Task]]:
    """Return the classes of all registered tasks, by name."""
    return [entry.target for entry in get_registry().entries("task")]


def kind_named(name: str) -> TargetKind:
    """Return the kind of targets of a name, from the tasks whose problems are of it."""
    kinds = {kind.name: kind for task in all_tasks() for kind in task.kinds}
    return kinds[name]
