"""``mklkit list``: the names of all components and presets, and their packages."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from mklkit.cli import options as opt
from mklkit.cli.console import say, show, show_json

if TYPE_CHECKING:
    from mklkit.protocols import Task
    from mklkit.registry.entries import Entry
    from mklkit.registry.registry import Kind, Registry

__all__ = ["Listed", "list_names"]


class Listed(StrEnum):
    """The kinds that can be listed."""

    kernels = "kernels"
    maps = "maps"
    combiners = "combiners"
    learners = "learners"
    presets = "presets"


KINDS: dict[Listed, Kind] = {
    Listed.kernels: "kernel",
    Listed.maps: "feature_map",
    Listed.combiners: "combiner",
    Listed.learners: "learner",
    Listed.presets: "preset",
}


def list_names(
    kind: Annotated[
        Listed | None,
        typer.Argument(
            metavar="KIND",
            show_default="all",
            help="kernels, maps, combiners, learners or presets.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """List kernels, feature maps, combiners, learners and presets, built in and from plugins.

    'mklkit describe NAME' shows one of them with its parameters.
    """
    from mklkit.cli.report import reads_in_words
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    wanted = [kind] if kind is not None else list(Listed)
    entries = {one: registry.entries(KINDS[one]) for one in wanted}
    if as_json:
        show_json(
            [
                {
                    "kind": entry.kind,
                    "name": entry.name,
                    "distribution": entry.distribution,
                    "version": entry.version,
                    **({"reads": reads_in_words(entry)} if entry.kind == "kernel" else {}),
                    "help": entry.help,
                    **({"learns": list(tasks)} if (tasks := _tasks(registry, entry)) else {}),
                }
                for one in wanted
                for entry in entries[one]
            ]
        )
        return
    from mklkit.cli.report import listing

    for one in wanted:
        heads: tuple[str, ...] = "name", "from", "what it is"
        rows: list[tuple[str, ...]] = [
            (entry.name, f"{entry.distribution} {entry.version}", entry.help)
            for entry in entries[one]
        ]
        if one is Listed.kernels:
            heads = *heads[:2], "reads", heads[2]
            pairs = zip(rows, entries[one], strict=True)
            rows = [(*row[:2], reads_in_words(entry), row[2]) for row, entry in pairs]
        elif one in (Listed.combiners, Listed.learners):
            heads = *heads[:2], "learns", heads[2]
            spoken = [_spoken(_tasks(registry, entry)) for entry in entries[one]]
            rows = [(*row[:2], own, row[2]) for row, own in zip(rows, spoken, strict=True)]
        if rows:
            show(listing(one.value, heads, rows))
        else:
            say(f"no {one.value}")


def _tasks(registry: Registry, entry: Entry) -> tuple[Task, ...]:
    """Return what a combiner or learner can learn from; nothing for others."""
    from mklkit.errors import SpecError
    from mklkit.protocols import CombinerFacts, LearnerFacts, facts_of

    try:
        if entry.kind == "combiner":
            return facts_of(registry.create("combiner", entry.target), CombinerFacts).tasks
        if entry.kind == "learner":
            return facts_of(registry.create("learner", entry.target), LearnerFacts).tasks
    except SpecError:  # It needs parameters to be made.
        return ()
    return ()


def _spoken(tasks: tuple[Task, ...]) -> str:
    return ", ".join("no labels" if task == "none" else task for task in tasks)
