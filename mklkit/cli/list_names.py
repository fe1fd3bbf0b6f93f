"""``mklkit list``: the names of all components and presets, and their packages."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.component_facts import component_facts
from mklkit.cli.console import say, show, show_json
from mklkit.cli.package_commands import package_commands

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
    commands = "commands"


# Commands are of packages, not of the registry.
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
    Listed.commands: ("name", "from", "what it is"),
}


def list_names(
    context: typer.Context,
    kind: Annotated[
        Listed | None,
        typer.Argument(
            metavar="KIND",
            show_default="all",
            help="kernels, maps, combiners, learners, presets, or the commands of packages.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """List kernels, feature maps, combiners, learners and presets, built in and from plugins.

    Commands that packages bring are listed too. 'mklkit describe NAME' shows a component or preset
    with its parameters.
    """
    listed = {each: _facts(context, each) for each in ([kind] if kind else Listed)}
    if as_json:
        show_json([facts for every in listed.values() for facts in every])
        return
    from mklkit.cli.report import listing

    for each, every in listed.items():
        if every:
            show(listing(each.value, HEADS[each], [_row(facts) for facts in every]))
        elif kind:
            say(f"no {each.value}")


def _facts(context: typer.Context, kind: Listed) -> list[dict[str, Any]]:
    """Return what is known of all names of a kind."""
    if kind is Listed.commands:
        return [
            {
                "kind": "command",
                "name": name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "help": plugin.summary,
            }
            for name, command in package_commands(context).items()
            for plugin in command.plugins
        ]
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    return [component_facts(registry, entry) for entry in registry.entries(KINDS[kind])]


def _row(facts: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of a line of the table: what it reads or learns stands before what it is."""
    origin = f"{facts['distribution']} {facts['version']}"
    reads = [facts["reads"]] if "reads" in facts else []
    learns = [_spoken(facts.get("learns", []))] if facts["kind"] in ("combiner", "learner") else []
    return (facts["name"], origin, *reads, *learns, facts["help"])


def _spoken(tasks: list[str]) -> str:
    return ", ".join("no labels" if task == "none" else task for task in tasks)
