"""Arrays that components get and must not change, and the error that names one that tries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any

from mklkit.errors import MKLKitError, plain_message, quoted

READ_ONLY = re.compile(r"read-?only", re.IGNORECASE)
"""What NumPy, Cython and numba say of an array that can't be written to."""
OURS = "mklkit"


@contextmanager
def writes_explained(components: Iterable[Any]) -> Iterator[None]:
    """Turn the error of a component that writes into an array it was given into one with its name.

    Components get samples, targets and weights that others use after them, so these are read-only.
    Errors in mklkit's own components are bugs and are not changed.
    """
    try:
        yield
    except MKLKitError:
        raise
    except Exception as error:
        component = _writer(error, components) if READ_ONLY.search(str(error)) else None
        if component is None:
            raise
        raise MKLKitError(
            f"{quoted(component.name)} writes into an array that it was given"
            f" ({plain_message(error)}). Other components use the same data, targets and weights:"
            " let it change a copy, such as y.copy(). The data are not at fault."
        ) from error


def _writer(error: Exception, components: Iterable[Any]) -> Any:
    """Return the component whose code raised an error; None if that was mklkit's.

    The innermost frame in a component's module decides, or else in its package.
    """
    modules = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    foreign = {type(c).__module__: c for c in components if _package(type(c).__module__) != OURS}
    packages = {_package(module): component for module, component in foreign.items()}
    for module in reversed(modules):
        if _package(module) == OURS:
            return None
        if module in foreign or _package(module) in packages:
            return foreign.get(module) or packages[_package(module)]
    return None


def _package(module: str) -> str:
    return module.partition(".")[0]
