"""``mklkit describe``: one kernel, map, combiner, learner or preset, and its parameters."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mklkit.cli import options as opt
from mklkit.cli.console import show, show_json

if TYPE_CHECKING:
    from mklkit.registry.registry import Entry, Registry

__all__ = ["describe"]

# reStructuredText's roles and literals; of a dotted name its last part is what people know.
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?([^`]*)`|``([^`]*)``")


def describe(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name that 'mklkit list' shows, as rbf.")
    ],
    as_json: opt.AsJson = False,
) -> None:
    """Show a component or preset: description, parameters with defaults, and package."""
    from mklkit.registry.registry import get_registry

    found = [_facts_of(entry) for entry in _entries_of(get_registry(), name)]
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


def _facts_of(entry: Entry) -> dict[str, Any]:
    from mklkit.cli.report import reads_in_words

    return {
        "kind": entry.kind,
        "name": entry.name,
        "distribution": entry.distribution,
        "version": entry.version,
        **({"reads": reads_in_words(entry)} if entry.kind == "kernel" else {}),
        "help": _without_markup(entry.help),
        "parameters": _parts(entry) if entry.kind == "preset" else _parameters(entry.target),
    }


def _parts(entry: Entry) -> list[dict[str, Any]]:
    """Return a preset's choices, each of which an option overrides."""
    import attrs

    chosen = attrs.asdict(entry.target, recurse=False)
    return [
        {"name": key, "required": False, "default": value, "help": ""}
        for key, value in chosen.items()
        if key not in ("name", "help") and value is not None
    ]


def _parameters(cls: type) -> list[dict[str, Any]]:
    import attrs

    from mklkit.testing.docstrings import documented_parameters

    if not attrs.has(cls):
        return []
    documented = documented_parameters(inspect.getdoc(cls) or "")
    return [
        {
            "name": field.name,
            "required": field.default is attrs.NOTHING,
            "default": _default(field.default),
            "help": _without_markup(documented.get(field.name, "")),
        }
        for field in attrs.fields(cls)
        if field.init
    ]


def _without_markup(text: str) -> str:
    return ROLE.sub(lambda match: match[1] or match[2] or "", text)


def _default(default: Any) -> Any:
    """Return a default as a JSON value, None if there is none."""
    import attrs

    if default is attrs.NOTHING:
        return None
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    return default if isinstance(default, (bool, int, float, str, type(None))) else repr(default)


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
