"""The origin of an unforeseen error."""

from __future__ import annotations

import sys
from traceback import walk_tb

__all__ = ["plugin_at_fault"]

OURS = "mklkit"


def plugin_at_fault(error: BaseException) -> str | None:
    """Return the distribution of the plugin that caused an error, None if it was mklkit.

    The innermost stack frame of either decides, also for errors raised in a library called from
    there. A missing attribute is attributed to the package of the object's class.
    """
    if "mklkit.registry.registry" not in sys.modules:
        return None  # No plugin has been imported.
    from mklkit.registry.entries import HOOKS
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    homes = {
        _package(getattr(entry.target, "__module__", "")): entry.distribution
        for kind in HOOKS
        for entry in registry.entries(kind)
    }
    packages = [
        _package(frame.f_globals.get("__name__", "")) for frame, _ in walk_tb(error.__traceback__)
    ]
    if isinstance(error, AttributeError):
        packages.append(_package(type(error.obj).__module__))
    concerned = [package for package in packages if package in homes]
    return homes[concerned[-1]] if concerned and concerned[-1] != OURS else None


def _package(module: str) -> str:
    return module.partition(".")[0]
