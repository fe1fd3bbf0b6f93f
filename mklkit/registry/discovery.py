"""The entry points of the installed packages, each read and imported separately.

A package that can't be read, or a plugin that can't be imported, does not stop the others. NumPy is
not imported, so that completion is fast.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from typing import Any, TextIO

import attrs

from mklkit.errors import cut, plain_message, quoted, type_name

ENTRY_POINT_GROUP = "mklkit"
"""The entry points of components: a name, and their module."""
COMMAND_GROUP = "mklkit_commands"
"""The entry points of commands: a name, and the ``typer.Typer`` that it calls."""

SWITCH = "MKLKIT_DISABLE_PLUGINS"
"""The variable of the environment that leaves out plugins: 1 for all, or names of packages."""
LONG_IMPORT = 5.0
"""The number of seconds after which a plugin that is still being imported is named."""


@attrs.frozen
class PluginFailure:
    """The report of a plugin that could not be loaded: one line, with the remedy."""

    name: str | None
    """The entry point; None if the whole distribution can't be read."""
    distribution: str
    error: str

    def __str__(self) -> str:
        error = self.error if self.error.endswith((".", "!", "?", "…")) else f"{self.error}."
        if self.name is None:
            package = f"package {self.distribution} is ignored: {error}"
            return f"{package} Other libraries, such as numba, may fail until it is reinstalled."
        return (
            f"plugin {quoted(self.name)} of {self.distribution} is ignored: {error} 'pip uninstall"
            f" {self.distribution}' removes it; {SWITCH}={self.distribution} leaves it out without"
            " this warning."
        )


@attrs.frozen
class InstalledPlugin:
    """An entry point and its distribution; the summary is the distribution's."""

    name: str
    distribution: str
    version: str
    summary: str
    _point: EntryPoint

    @property
    def package(self) -> str:
        """The top-level package or module of the entry point."""
        return self._point.value.partition(":")[0].partition(".")[0].strip()

    def load(self) -> Any:
        """Import and return what the entry point names; name it if the import takes long."""
        if self._point.pattern.match(self._point.value) is None:
            value = quoted(self._point.value)
            raise ValueError(f"its entry point is {value}, and not of the form 'module:object'")
        notice = threading.Timer(LONG_IMPORT, self._say_still_importing, [sys.stderr])
        notice.daemon = True
        notice.start()
        try:
            return self._point.load()
        finally:
            notice.cancel()

    def _say_still_importing(self, stream: TextIO) -> None:
        """Name a plugin whose import may never return, so that the user can leave it out."""
        print(
            f"still importing the plugin {quoted(self.name)} of {self.distribution} after"
            f" {LONG_IMPORT:g} s; {SWITCH}={self.distribution} leaves it out,"
            f" 'pip uninstall {self.distribution}' removes it",
            file=stream,
            flush=True,
        )


def switched_off() -> bool:
    """Return whether ``MKLKIT_DISABLE_PLUGINS`` leaves out all other packages."""
    return os.environ.get(SWITCH, "").strip().casefold() in ("1", "true", "yes", "on")


def canonical(name: str) -> str:
    """Return a distribution's name as pip normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_plugins(
    group: str, on_failure: Callable[[PluginFailure], None]
) -> list[InstalledPlugin]:
    """Return the entry points of a group, by name.

    ``on_failure`` is called with each distribution of the group that can't be read. Those that
    ``MKLKIT_DISABLE_PLUGINS`` names are ignored.
    """
    plugins: dict[str, list[InstalledPlugin]] = {}
    left_out = {canonical(name.strip()) for name in os.environ.get(SWITCH, "").split(",")}
    for distribution in distributions():
        label = canonical(folder_name(distribution))
        if label in left_out:
            continue
        try:
            # Others are not parsed: they may have any form, and there are many.
            if group in (distribution.read_text("entry_points.txt") or ""):
                members = list(_plugins_of(distribution, group))
                # As for imports, the first one of a name on the path is used.
                plugins.setdefault(canonical(members[0].distribution) if members else "", members)
        except Exception as error:  # Whatever is damaged, the others are read.
            reason = f"its metadata can't be read ({type_name(error)}: {plain_message(error)})"
            on_failure(PluginFailure(None, label, reason))
    every = (plugin for members in plugins.values() for plugin in members)
    return sorted(every, key=lambda plugin: plugin.name)


def folder_name(distribution: Distribution) -> str:
    """Return the name under which a distribution is stored, without reading its metadata."""
    return Path(getattr(distribution, "_path", "unknown")).name.partition("-")[0]


def _plugins_of(distribution: Distribution, group: str) -> list[InstalledPlugin]:
    """Return a distribution's entry points of a group."""
    metadata = distribution.metadata
    for field in ("Name", "Version"):
        if not metadata[field]:
            raise ValueError(f"METADATA has no {field}")
    [summary, *_] = metadata.get_all("Summary", [""])
    told = (cut(metadata["Name"], 100), cut(metadata["Version"], 100), cut(str(summary), 200))
    points = distribution.entry_points.select(group=group)
    return [InstalledPlugin(point.name, *told, point) for point in points]
