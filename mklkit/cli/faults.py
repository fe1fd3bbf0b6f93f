"""Whose fault an error is that nobody foresaw."""

from __future__ import annotations

import sys
from traceback import walk_tb
from typing import Any

__all__ = ["whose_fault"]

OURS = "mklkit"
OUR_FAULT = "our fault"
DEPTH = 4
"""How deep a component may lie in what a call knows: in a list of kernels and columns, say."""


def whose_fault(error: BaseException) -> tuple[str, list[str]]:
    """Return whose fault an error is, in words, and the plugins that may have caused it.

    The innermost call that is of a plugin or of mklkit decides; what a library below them raises,
    they caused. So does the plugin of which an object lacks what mklkit reads of it. Where mklkit
    fails while a plugin's component takes part, what that gave it may be at fault, or mklkit.
    """
    homes = _homes_of_plugins()
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    packages = [_package(frame.f_globals.get("__name__", "")) for frame in frames]
    if isinstance(error, AttributeError):
        packages.append(_package(type(error.obj).__module__))
    concerned = [package for package in packages if package in homes or package == OURS]
    if concerned and concerned[-1] in homes:
        name = homes[concerned[-1]]
        return f"the fault of the plugin {name}", [name]
    known = _packages_in([value for frame in frames for value in frame.f_locals.values()])
    partners = sorted({homes[package] for package in known & homes.keys()})
    if not partners:
        return OUR_FAULT, []
    return f"the fault of the plugin {' or '.join(partners)}, or ours", partners


def _homes_of_plugins() -> dict[str, str]:
    """Return the distribution of each plugin's package."""
    if "mklkit.registry.registry" not in sys.modules:
        return {}  # Nothing of a plugin can have run.
    from mklkit.registry.entries import HOOKS
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    homes = {
        _package(getattr(entry.target, "__module__", "")): entry.distribution
        for kind in HOOKS
        for entry in registry.entries(kind)
    }
    homes.pop(OURS, None)
    return homes


def _packages_in(values: list[Any]) -> set[str]:
    """Return the packages of objects, and of those that lists and mklkit's own objects hold."""
    packages, seen = set(), set()
    for _ in range(DEPTH):
        held: list[Any] = []
        for value in values:
            package = _package(type(value).__module__)
            packages.add(package)
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, list | tuple):
                held += value
            elif isinstance(value, dict):
                held += value.values()
            elif package == OURS:
                names = [*getattr(value, "__dict__", ()), *getattr(value, "__slots__", ())]
                held += [getattr(value, name, None) for name in names]
        values = held
    return packages


def _package(module: Any) -> str:
    return module.partition(".")[0] if isinstance(module, str) else ""
