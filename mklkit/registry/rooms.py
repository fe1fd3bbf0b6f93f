"""The component classes of a room, which its package exports without a list of them."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module, util
from typing import Any

from mklkit.registry.hookspecs import registered_by

__all__ = ["exports"]


def exports(room: str, base: type) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__``, by which it exports component classes.

    Its modules are imported when a class is first asked for.

    Parameters
    ----------
    room : str
        The package's name.
    base : type
        What its component classes derive from.

    Examples
    --------
    >>> import mklkit.kernels
    >>> mklkit.kernels.Linear()
    Linear()
    """
    package = sys.modules[room]
    classes: dict[str, type] = {}

    def exported() -> dict[str, type]:
        if not classes:
            for info in pkgutil.walk_packages(package.__path__, f"{room}."):
                for cls in registered_by(import_module(info.name)):
                    if issubclass(cls, base):
                        classes[cls.__name__] = cls
        return classes

    def find(name: str) -> Any:
        # Python asks for special names, and for modules before it imports them.
        if name.startswith("_") or util.find_spec(f"{room}.{name}") or name not in exported():
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        setattr(package, name, classes[name])
        return classes[name]

    return find, lambda: sorted(exported())
