"""The origin of an unforeseen error."""

from __future__ import annotations

import sys
from traceback import walk_tb
from typing import Any

__all__ = ["lacks_memory_to_load", "whose_fault"]

OURS = "mklkit"
OURS_ALONE = "a bug in mklkit"
NO_MEMORY = ("failed to map segment", "annot allocate memory")
"""What the loader of shared libraries says where memory is short."""
DEPTH = 4
"""How deep a component may lie in what a call knows: in a list of kernels and columns, say."""


def lacks_memory_to_load(error: BaseException) -> bool:
    """Return whether a library could not be imported because memory is limited, as by ulimit -v.

    The system's words may be in an error that led to this one.
    """
    causes = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    frames = [frame for cause in causes for frame, _ in walk_tb(cause.__traceback__)]
    importing = any(frame.f_code.co_name == "<module>" for frame in frames)
    return importing and any(
        isinstance(cause, MemoryError) or any(words in str(cause) for words in NO_MEMORY)
        for cause in causes
    )


def whose_fault(error: BaseException) -> tuple[str, list[str]]:
    """Return where a bug is, in words, and the plugins that may have caused it.

    The innermost stack frame of a plugin or of mklkit decides, also for errors raised in a library
    called from there. A missing attribute is attributed to the package of the object's class. If
    mklkit fails while a plugin's component takes part, either may be the cause.
    """
    homes = _homes_of_plugins()
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    packages = [_package(frame.f_globals.get("__name__", "")) for frame in frames]
    if isinstance(error, AttributeError):
        packages.append(_package(type(error.obj).__module__))
    concerned = [package for package in packages if package in homes or package == OURS]
    if concerned and concerned[-1] in homes:
        name = homes[concerned[-1]]
        return f"a bug in the plugin {name}", [name]
    known = _packages_in([value for frame in frames for value in frame.f_locals.values()])
    partners = sorted({homes[package] for package in known & homes.keys()})
    if not partners:
        return OURS_ALONE, []
    return f"a bug in the plugin {' or '.join(partners)}, or in mklkit", partners


def _homes_of_plugins() -> dict[str, str]:
    """Return the distribution of each imported plugin's package."""
    from mklkit.cli.package_commands import imported_packages

    commands = imported_packages()
    if "mklkit.registry.registry" not in sys.modules:
        return commands  # No components have been imported.
    from mklkit.registry.entries import HOOKS
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    homes = commands | {
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
