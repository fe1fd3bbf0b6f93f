"""What is known of a registered name, for ``list`` and ``describe``, as values of JSON."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mklkit.registry.registry import Entry, Registry

__all__ = ["component_facts", "without_markup"]

# reStructuredText's roles and literals; of a dotted name its last part is what people know.
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?([^`]*)`|``([^`]*)``")


def component_facts(registry: Registry, entry: Entry) -> dict[str, Any]:
    """Return a name's kind, distribution, summary, parameters with defaults, and facts.

    Returns
    -------
    dict
        ``kind``, ``name``, ``distribution``, ``version``, ``help``, ``parameters`` and ``facts``.
        Kernels have what they read as ``reads``, combiners and learners what they learn from as
        ``learns``. Facts are empty where they depend on parameters that must be given.
    """
    from mklkit.cli.report import reads_in_words

    facts = _facts(registry, entry)
    return {
        "kind": entry.kind,
        "name": entry.name,
        "distribution": entry.distribution,
        "version": entry.version,
        **({"reads": reads_in_words(entry)} if entry.kind == "kernel" else {}),
        "help": without_markup(entry.help),
        **({"learns": facts["tasks"]} if "tasks" in facts else {}),
        "parameters": _parts(entry) if entry.kind == "preset" else _parameters(entry.target),
        "facts": facts,
    }


def without_markup(text: str) -> str:
    """Return a docstring's text without reStructuredText's roles and literals.

    Examples
    --------
    >>> without_markup("As :func:`mklkit.plugin.solve_dual` does, with ``C=1``.")
    'As solve_dual does, with C=1.'
    """
    return ROLE.sub(lambda match: match[1] or match[2] or "", text)


def _facts(registry: Registry, entry: Entry) -> dict[str, Any]:
    """Return the facts that a component states, of its default parameters."""
    import attrs

    from mklkit.errors import SpecError
    from mklkit.protocols import facts_of
    from mklkit.registry.entries import FACTS

    if entry.kind == "preset":
        return {}
    component = entry.target
    if isinstance(getattr(component, "facts", None), property):
        try:
            component = registry.create(entry.kind, component)
        except SpecError:  # It needs parameters to be made.
            return {}
    stated = attrs.asdict(facts_of(component, FACTS[entry.kind]), recurse=False)
    return {name: _plain(value) for name, value in stated.items()}


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
            "help": without_markup(documented.get(field.name, "")),
        }
        for field in attrs.fields(cls)
        if field.init
    ]


def _default(default: Any) -> Any:
    """Return a default as a JSON value, None if there is none."""
    import attrs

    if default is attrs.NOTHING:
        return None
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    return default if isinstance(default, (bool, int, float, str, type(None))) else repr(default)


def _plain(value: Any) -> Any:
    """Return a fact as plain dicts, lists, text and numbers; a component as its description."""
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value)
