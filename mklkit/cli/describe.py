"""``mklkit list`` and ``mklkit describe``: the names of components and presets, and one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.component_facts import component_facts
from mklkit.cli.console import say, show, show_json
from mklkit.cli.package_commands import package_commands

if TYPE_CHECKING:
    from mklkit.registry.registry import Kind

__all__ = ["KINDS", "describe", "list_names"]

KINDS: dict[str, tuple[Kind | Literal["command"], str]] = {
    "kernels": ("kernel", "reads"),
    "maps": ("feature_map", ""),
    "combiners": ("combiner", "learns"),
    "learners": ("learner", "learns"),
    "presets": ("preset", ""),
    "commands": ("command", ""),
}
"""What can be listed, and what a line says of it beside name, package and description."""


def list_names(
    context: typer.Context,
    kind: Annotated[
        Literal["kernels", "maps", "combiners", "learners", "presets", "commands"] | None,
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
    from mklkit.cli.report import listing

    facts = {name: _facts(context, KINDS[name][0]) for name in ([kind] if kind else KINDS)}
    if as_json:
        show_json([component for components in facts.values() for component in components])
        return
    for name, components in facts.items():
        extra = KINDS[name][1]
        heads = ["name", "from", *filter(None, [extra]), "what it is"]
        if components:
            show(listing(name, heads, [_row(component, extra) for component in components]))
        elif kind:
            say(f"no {name}")


def _facts(context: typer.Context, kind: Kind | Literal["command"]) -> list[dict[str, Any]]:
    """Return what is known of all names of a kind."""
    if kind == "command":
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
    return [component_facts(registry, entry) for entry in registry.entries(kind)]


def _row(facts: dict[str, Any], extra: str) -> tuple[str, ...]:
    """Return the cells of a line: what it reads or learns stands before what it is."""
    cells = [facts["name"], f"{facts['distribution']} {facts['version']}"]
    if extra == "learns":
        tasks = facts.get("learns", [])
        cells.append(", ".join("no labels" if task == "none" else task for task in tasks))
    elif extra:
        cells.append(facts[extra])
    return (*cells, facts["help"])


def describe(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=complete.components,
            help="A name that 'mklkit list' shows, as rbf.",
        ),
    ],
    as_json: opt.AsJson = False,
) -> None:
    """Show a component or preset: description, parameters with defaults, and package."""
    from mklkit.errors import UnknownNameError, quoted, suggest
    from mklkit.registry.entries import HOOKS
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    entries = [entry for kind in HOOKS for entry in registry.entries(kind)]
    bare = name.partition("(")[0].strip()
    # Several kinds may use one name.
    components = [component_facts(registry, entry) for entry in entries if entry.name == bare]
    if not components:
        raise UnknownNameError(
            f"Nothing is named {quoted(bare)}.{suggest(bare, [entry.name for entry in entries])}"
            " 'mklkit list' shows all names."
        )
    if as_json:
        show_json(components)
        return
    for facts in components:
        _report(facts)


def _report(facts: dict[str, Any]) -> None:
    from mklkit.cli.report import facts_grid

    kind = facts["kind"].replace("_", " ")
    lines: list[tuple[str, str | list[str]]] = [
        (kind, [facts["name"], facts["help"]]),
        ("from", f"{facts['distribution']} {facts['version']}"),
    ]
    if "reads" in facts:
        lines.append(("reads", facts["reads"]))
    if not facts["parameters"]:
        lines.append(("takes", "no parameters"))
    for parameter in facts["parameters"]:
        default = parameter["default"]
        if parameter["required"]:
            head = "must be given, in Python"
        elif kind == "preset":
            head = str(default)
        else:
            head = "not given by default" if default is None else f"default {default!r}"
        lines.append((parameter["name"], [head, *filter(None, [parameter["help"]])]))
    show(facts_grid(lines))
