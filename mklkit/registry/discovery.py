"""The plugins that are installed, whatever state their packages are in."""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from importlib.metadata import Distribution, EntryPoint, EntryPoints, distributions
from pathlib import Path
from typing import Any

import attrs

from mklkit.errors import cut, plain_message, quoted

__all__ = [
    "InstalledPlugin",
    "PluginFailure",
    "canonical",
    "installed_plugins",
    "stdout_to_stderr",
]

_IDENTITY = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9.+!_-]{1,100}")


@attrs.frozen
class PluginFailure:
    """A plugin that could not be loaded, in one line.

    Attributes
    ----------
    name : str or None
        The entry point; None where the whole distribution can't be read.
    distribution : str
    error : str
    """

    name: str | None
    distribution: str
    error: str

    def __str__(self) -> str:
        what = "package" if self.name is None else f"plugin {quoted(self.name)} of"
        return f"{what} {self.distribution} is left out: {self.error}"


@attrs.frozen
class InstalledPlugin:
    """An entry point, and the distribution that it is of."""

    name: str
    distribution: str
    version: str
    _point: EntryPoint

    def load(self) -> Any:
        """Import what the entry point names, and return it."""
        return self._point.load()


def canonical(name: str) -> str:
    """Return a distribution's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_plugins(
    group: str, on_failure: Callable[[PluginFailure], None]
) -> list[InstalledPlugin]:
    """Return the entry points of a group, by name.

    ``importlib.metadata.entry_points`` does this for all distributions at once, and fails with
    the first that is damaged. Here each is read by itself. Numba and scikit-learn would stop at
    the same one, as they ask for extensions of their own: where one is damaged, that function is
    replaced, for this process, by one that passes over it.

    Parameters
    ----------
    group : str
    on_failure : callable
        Is told of each distribution that can't be read.
    """
    found: list[InstalledPlugin] = []
    seen: set[str] = set()
    for distribution in distributions():
        label = "unknown"
        try:
            label = _label(distribution)
            # As for imports, the first of a name on the path is the one that counts.
            if label in seen:
                continue
            seen.add(label)
            points = [point for point in distribution.entry_points if point.group == group]
            if points:
                name, version = _identity(distribution)
                found += [InstalledPlugin(point.name, name, version, point) for point in points]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reason = f"{type(error).__name__}: {plain_message(error)}"
            message = f"its metadata can't be read ({reason}); install it again"
            on_failure(PluginFailure(None, label, message))
            importlib.metadata.entry_points = _entry_points  # type: ignore[assignment]
    return sorted(found, key=lambda plugin: plugin.name)


def _entry_points(**wanted: Any) -> EntryPoints:
    """Return the entry points of the distributions that can be read."""
    points: list[EntryPoint] = []
    for distribution in distributions():
        with suppress(Exception):
            points += distribution.entry_points
    return EntryPoints(points).select(**wanted)


def _label(distribution: Distribution) -> str:
    """Return the name by which a distribution is stored, which needs none of its metadata."""
    folder = getattr(distribution, "_path", None)
    if folder is None:  # Not from a folder, but from an import hook of somebody's.
        return canonical(distribution.metadata["Name"])
    stem = re.sub(r"\.(dist|egg)-info$", "", Path(str(folder)).name)
    return cut(canonical(stem.partition("-")[0]), 100)


def _identity(distribution: Distribution) -> tuple[str, str]:
    """Return a distribution's name and version, or fail with what is wrong with them."""
    metadata = distribution.metadata
    name, version = metadata["Name"], metadata["Version"]
    if not isinstance(name, str) or not _IDENTITY.fullmatch(name):
        raise ValueError(f"METADATA gives the Name {quoted(name)}")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise ValueError(f"METADATA gives the Version {quoted(version)}")
    return name, version


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send what foreign code prints to stderr: stdout is for what a command was asked for.

    Writes to the file descriptor itself are caught too, where there is one.
    """
    kept = None
    with suppress(OSError, ValueError, AttributeError):
        _flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if kept is not None:
            _flush()
            os.dup2(kept, 1)
            os.close(kept)


def _flush() -> None:
    for stream in (sys.stdout, sys.__stdout__):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]
