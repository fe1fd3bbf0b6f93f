"""``mklkit describe``: one kernel, map, combiner, learner or preset, and its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.component_facts import component_facts
from mklkit.cli.console import show, show_json

if TYPE_CHECKING:
    from mklkit.registry.registry import Entry, Registry

__all__ = ["describe"]


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
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    found = [component_facts(registry, entry) for entry in _entries_of(registry, name)]
    if as_json:
        show_json(found)
        return
    for facts in found:
        _report(facts)


def _entries_of(registry: Registry, name: str) -> list[Entry]:
    """Return every entry of a name, which may be used by several kinds.

    Raises
    ------
    UnknownNameError
        If there is none; the closest name is suggested.
    """
    from mklkit.errors import UnknownNameError, quoted, suggest
    from mklkit.registry.entries import HOOKS

    entries = [entry for kind in HOOKS for entry in registry.entries(kind)]
    bare = name.partition("(")[0].strip()
    found = [entry for entry in entries if entry.name == bare]
    if not found:
        raise UnknownNameError(
            f"Nothing is named {quoted(bare)}.{suggest(bare, [entry.name for entry in entries])}"
            " 'mklkit list' shows all names."
        )
    return found


def _report(facts: dict[str, Any]) -> None:
    from mklkit.cli.report import facts_grid

    kind, parameters = facts["kind"].replace("_", " "), facts["parameters"]
    lines: list[tuple[str, str | list[str]]] = [
        (kind, [facts["name"], facts["help"]]),
        ("from", f"{facts['distribution']} {facts['version']}"),
    ]
    if "reads" in facts:
        lines.append(("reads", facts["reads"]))
    if not parameters:
        lines.append(("takes", "no parameters"))
    for parameter in parameters:
        default = parameter["default"]
        if parameter["required"]:
            head = "must be given, in Python"
        elif kind == "preset":
            head = str(default)
        else:
            head = "not given by default" if default is None else f"default {default!r}"
        lines.append((parameter["name"], [head, *filter(None, [parameter["help"]])]))
    show(facts_grid(lines))
