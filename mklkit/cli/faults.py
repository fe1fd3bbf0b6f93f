"""Whose fault an error is that nobody foresaw."""

from __future__ import annotations

import sys
from traceback import walk_tb

__all__ = ["plugin_at_fault"]

OURS = "mklkit"


def plugin_at_fault(error: BaseException) -> str | None:
    """Return the distribution of the plugin that raised an error, None where mklkit did itself.

    The innermost call that is of either decides; what a library below them raises, they caused. So
    does the plugin of which an object lacks what mklkit reads of it.
    """
    if "mklkit.registry.registry" not in sys.modules:
        return None  # Nothing of a plugin can have run.
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
