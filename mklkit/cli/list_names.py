"""``mklkit list``: the names of all components and presets, and their packages."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.component_facts import component_facts
from mklkit.cli.console import say, show, show_json

if TYPE_CHECKING:
    from mklkit.registry.registry import Kind

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

HEADS = {
    Listed.kernels: ("name", "from", "reads", "what it is"),
    Listed.maps: ("name", "from", "what it is"),
    Listed.combiners: ("name", "from", "learns", "what it is"),
    Listed.learners: ("name", "from", "learns", "what it is"),
    Listed.presets: ("name", "from", "what it is"),
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

    from mklkit.registry.registry import get_registry

    registry = get_registry()
    wanted = [kind] if kind is not None else list(Listed)
    entries = {one: registry.entries(KINDS[one]) for one in wanted}
    if as_json:
        show_json([component_facts(registry, entry) for one in wanted for entry in entries[one]])
        return
    from mklkit.cli.report import listing

    for one in wanted:
        rows = [_row(component_facts(registry, entry)) for entry in entries[one]]
        if rows:
            show(listing(one.value, HEADS[one], rows))
        else:
            say(f"no {one.value}")


def _row(facts: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of a line of the table: what it reads or learns stands before what it is."""
    origin = f"{facts['distribution']} {facts['version']}"
    reads = [facts["reads"]] if "reads" in facts else []
    learns = [_spoken(facts.get("learns", []))] if facts["kind"] in ("combiner", "learner") else []
    return (facts["name"], origin, *reads, *learns, facts["help"])


def _spoken(tasks: list[str]) -> str:
    return ", ".join("no labels" if task == "none" else task for task in tasks)
