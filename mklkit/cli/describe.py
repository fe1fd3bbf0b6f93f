"""``mklkit list`` and ``mklkit describe``: facts about components, presets and commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

import attrs
import typer

from mklkit.cli import options as opt
from mklkit.cli.completion import completers as complete
from mklkit.cli.console import say, show, show_json, without_markup
from mklkit.cli.package_commands import package_commands
from mklkit.display.table import Column, ResultTable
from mklkit.display.terminal import Fact, facts_grid, terminal_table
from mklkit.errors import UnknownNameError, quoted, suggest

if TYPE_CHECKING:
    from mklkit.registry.entries import Entry, Kind
    from mklkit.registry.registry import Registry

KINDS: dict[str, tuple[Kind | Literal["command"], str]] = {
    "kernels": ("kernel", "reads"),
    "maps": ("feature_map", ""),
    "combiners": ("combiner", "learns"),
    "learners": ("learner", "learns"),
    "missing": ("missing", ""),
    "tasks": ("task", ""),
    "presets": ("preset", ""),
    "commands": ("command", ""),
}
"""What can be listed, and the fact shown beside its name, package, source and description."""
ABILITIES = {
    "takes_row_weights": "sample weights",
    "row_weights": "sample weights",
    "several_targets": "several numeric targets",
    "from_moments": "data in parts (partial_fit)",
    "on_features": "explicit features",
    "on_gram": "Gram matrices",
    "one_hot_classes": "several classes in one fit",
    "takes_indefinite": "indefinite kernels",
    "sparse": "sparse sources",
    "allows_gaps": "missing values",
}
"""What a component can do, by the trait that states it."""
_MARK = re.compile(r" \[\d+\]_")
PLAIN = (bool, int, float, str, type(None))


def list_names(
    context: typer.Context,
    kind: Annotated[
        Literal[
            "kernels", "maps", "combiners", "learners", "missing", "tasks", "presets", "commands"
        ]
        | None,
        typer.Argument(
            metavar="KIND",
            show_default="all",
            help="kernels, maps, combiners, learners, strategies for missing sources (missing),"
            " tasks, presets, or the commands of packages.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """List kernels, feature maps, combiners, learners and presets, built in and from plugins.

    Commands that packages bring are listed too. 'mklkit describe NAME' shows a component or preset
    with its parameters.
    """
    facts = {name: _facts_of_all(context, KINDS[name][0]) for name in ([kind] if kind else KINDS)}
    if as_json:
        show_json([entry for entries in facts.values() for entry in entries])
        return
    for name, entries in facts.items():
        if entries:
            show(terminal_table(listed(entries, KINDS[name][1]), title=name))
        elif kind:
            say(f"no {name}")


def listed(entries: list[dict[str, Any]], fact: str) -> ResultTable:
    """Return a table of names, with one more fact of each if it has a name."""
    rows = []
    for entry in entries:
        known = entry.get(fact, "")
        words = [known] if isinstance(known, str) else known
        shown = ", ".join("no labels" if word == "none" else word for word in words)
        package = f"{entry['distribution']} {entry['version']}"
        published = "; ".join(entry.get("published", ()))
        rows.append({**entry, "from": package, fact: shown, "published": published})
    facts = [Column(fact, fact)] if fact else []
    if any(row.get("published") for row in rows):
        facts.append(Column("published", "source"))
    names = Column("name", "name"), Column("from", "from")
    return ResultTable([*names, *facts, Column("help", "what it is")], rows)


def _facts_of_all(context: typer.Context, kind: Kind | Literal["command"]) -> list[dict[str, Any]]:
    """Return the facts of all names of a kind."""
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
    return [_facts_of(registry, entry) for entry in registry.entries(kind)]


def describe(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=complete.components,
            help="A name that 'mklkit list' shows, such as rbf.",
        ),
    ],
    as_json: opt.AsJson = False,
) -> None:
    """Show a component or preset: formula, cost, source, parameters, and an example."""
    from mklkit.registry.columns import AUTO_KERNELS
    from mklkit.registry.entries import HOOKS
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    entries = [entry for kind in HOOKS for entry in registry.entries(kind)]
    bare = name.partition("(")[0].strip()
    # Several kinds may use one name.
    facts = [_facts_of(registry, entry) for entry in entries if entry.name == bare]
    if bare == AUTO_KERNELS:
        raise UnknownNameError(
            "'auto' is no component: it stands for kernels that a fit chooses from the training"
            " samples. 'mklkit kernels DATA -k auto' shows what it chooses, and why."
        )
    if not facts:
        raise UnknownNameError(
            f"Nothing is named {quoted(bare)}.{suggest(bare, [entry.name for entry in entries])}"
            " 'mklkit list' shows all names."
        )
    if as_json:
        show_json(facts)
        return
    for description in facts:
        show(facts_grid(_lines(description)))


def _lines(facts: dict[str, Any]) -> list[Fact]:
    lines: list[Fact] = [
        (facts["kind"].replace("_", " "), [facts["name"], facts["help"]]),
        ("from", f"{facts['distribution']} {facts['version']}"),
    ]
    shown = {
        "details": facts.get("description", ""),
        "reads": facts.get("reads", ""),
        "learns": ", ".join(facts.get("learns", ())),
        "handles": ", ".join(_abilities(facts["traits"])),
        "cost": facts.get("cost", ""),
        "source": facts.get("sources", ""),
    }
    lines += [(name, value) for name, value in shown.items() if value]
    if not facts["parameters"]:
        lines.append(("takes", "no parameters"))
    for parameter in facts["parameters"]:
        default = parameter["default"]
        if parameter["required"]:
            head = "must be given, in Python"
        elif facts["kind"] == "preset":
            head = str(default)
        else:
            head = "not given by default" if default is None else f"default {default!r}"
        lines.append((parameter["name"], [head, *filter(None, [parameter["help"]])]))
    if facts.get("example"):
        lines.append(("example", facts["example"].splitlines()))
    return lines


def _abilities(traits: dict[str, Any]) -> list[str]:
    """Return what a component can do besides its main task, in words."""
    known = {word: traits.get(name) for name, word in ABILITIES.items() if name in traits}
    return [word for word, value in known.items() if value not in (False, "refused")]


def _facts_of(registry: Registry, entry: Entry) -> dict[str, Any]:
    """Return a name's kind, distribution, summary, parameters with defaults, and traits, as JSON.

    ``reads`` says what a kernel reads, ``learns`` what a combiner or learner learns from. Formulas,
    cost, source and example of a component are those of its docstring and of its package's
    ``sources.bib``. Facts are empty if they depend on parameters that must be given.
    """
    from mklkit.registry.composing import reads_of, wraps_another

    facts: dict[str, Any] = {
        "kind": entry.kind,
        "name": entry.name,
        "distribution": entry.distribution,
        "version": entry.version,
        "help": without_markup(entry.help),
        "parameters": _choices(entry) if entry.kind == "preset" else _parameters(entry.target),
        "traits": _stated(registry, entry),
    }
    if entry.kind == "kernel":
        facts["reads"] = "as its kernel" if wraps_another(entry) else reads_of(entry)
    if "learns" in facts["traits"]:
        facts["learns"] = facts["traits"]["learns"]
    return facts if entry.kind == "preset" else {**facts, **_documented(entry)}


def _documented(entry: Entry) -> dict[str, Any]:
    """Return what the docstring and the list of sources say of a component."""
    from mklkit.registry.citations import (
        KINDS as KINDS_WITH_BIBTEX,
    )
    from mklkit.registry.citations import author_year, authors_and_year, citations_of, reference
    from mklkit.registry.docstrings import (
        documented_cost,
        documented_sections,
        documented_source,
    )

    text = inspect.getdoc(entry.target) or ""
    sections = documented_sections(text)
    works = list(citations_of(entry.name).values()) if entry.kind in KINDS_WITH_BIBTEX else []
    source = documented_source(text)
    published = [author_year(work) for work in works] or [authors_and_year(source)]
    return {
        "description": without_markup(" ".join(_MARK.sub("", sections.get("", "")).split())),
        "cost": without_markup(documented_cost(text)),
        "sources": [reference(work) for work in works] or list(filter(None, [source])),
        "published": list(filter(None, published)),
        "example": sections.get("Examples", ""),
    }


def _stated(registry: Registry, entry: Entry) -> dict[str, Any]:
    """Return the traits of a component with default parameters."""
    from mklkit.errors import SpecError
    from mklkit.protocols import traits_of
    from mklkit.registry.entries import TRAITS

    if entry.kind == "preset":
        return {}
    component = entry.target
    with suppress(SpecError):  # It may have parameters without defaults.
        component = registry.create(entry.kind, component)
    try:
        stated = attrs.asdict(traits_of(component, TRAITS[entry.kind]), recurse=False)
    except SpecError:  # Its traits depend on them.
        return {}
    return {name: _plain_value(value) for name, value in stated.items()}


def _choices(entry: Entry) -> list[dict[str, Any]]:
    """Return a preset's choices; an option overrides each of them."""
    chosen = attrs.asdict(entry.target, recurse=False)
    return [
        {"name": key, "required": False, "default": value, "help": ""}
        for key, value in chosen.items()
        if key not in ("name", "help") and value is not None
    ]


def _parameters(cls: type) -> list[dict[str, Any]]:
    from mklkit.registry.docstrings import documented_parameters

    if not attrs.has(cls):
        return []
    documented = documented_parameters(inspect.getdoc(cls) or "")
    return [
        {
            "name": field.name,
            "required": field.default is attrs.NOTHING,
            "default": _default(field.default),
            "help": without_markup(documented.get(field.name, "")),
        }
        for field in attrs.fields(cls)
        if field.init
    ]


def _default(default: Any) -> Any:
    """Return a default as a JSON value, None if there is none."""
    if default is attrs.NOTHING:
        return None
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    return default if isinstance(default, PLAIN) else repr(default)


def _plain_value(value: Any) -> Any:
    """Return a fact as plain dicts, lists, text and numbers; a component as its description."""
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_value(item) for item in value]
    return str(value)
