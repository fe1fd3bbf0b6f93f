"""The names that can be completed, cached in a file since finding them takes seconds.

Names of kernels, combiners and so on are known only once their modules and all plugins are
imported. The file records the state of the installation; when that changes, the names are
collected again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from mklkit._version import __version__
from mklkit.registry.discovery import (
    COMMAND_GROUP,
    ENTRY_POINT_GROUP,
    InstalledPlugin,
    installed_plugins,
)

Names = dict[str, dict[str, Any]]
"""By kind (``"kernel"``, ``"combiner"``, …) the facts of each name, such as its summary."""

# Errors of a missing, damaged or unwritable file, or of a missing home folder.
NO_FILE = (OSError, ValueError, LookupError, TypeError, RecursionError, RuntimeError)


def known_names() -> Names:
    """Return the names of all kinds, target columns, columns of built-in data, and packages."""
    return kept_names("names", _find)


def kept_names(topic: str, find: Callable[[], Names]) -> Names:
    """Return what ``find`` returns, from the topic's file if nothing was installed or changed."""
    state = _state()
    with suppress(*NO_FILE):
        kept = json.loads(names_file(topic).read_text(encoding="utf-8"))
        names: Names = kept["names"]
        if kept["state"] == _digest(state, names):
            return names
    names = find()
    # Without the file, completion is slow but still right.
    with suppress(*NO_FILE):
        from mklkit.persistence.atomic import replacing

        names_file(topic).parent.mkdir(parents=True, exist_ok=True)
        with replacing(names_file(topic)) as file:
            file.write(json.dumps({"state": _digest(state, names), "names": names}).encode())
    return names


def names_file(topic: str = "names") -> Path:
    """Return this Python environment's file in the folder of caches, as XDG specifies it."""
    environment = hashlib.sha256(os.fsencode(sys.prefix)).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # A relative path is ignored.
    folder = folder if folder.is_absolute() else Path.home() / ".cache"
    return folder / "mklkit" / f"{topic}-{environment}.json"


def _digest(*content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def plugins() -> list[InstalledPlugin]:
    """Return the installed plugins, of components and of commands, without importing them."""
    groups = (ENTRY_POINT_GROUP, COMMAND_GROUP)
    return [plugin for group in groups for plugin in installed_plugins(group, lambda _: None)]


def _state() -> list[Any]:
    """Return what the names depend on: versions, and the last change of a module."""
    installed = plugins()
    homes = [Path(__file__).parents[2], *(home for plugin in installed for home in _homes(plugin))]
    changes = [0]
    for file in (file for home in homes for file in home.rglob("*.py")):
        with suppress(OSError):  # of a dangling link, such as editors leave
            changes.append(file.stat().st_mtime_ns)
    versions = [[plugin.name, plugin.distribution, plugin.version] for plugin in installed]
    switched_off = os.environ.get("MKLKIT_DISABLE_PLUGINS", "")
    return [__version__, switched_off, versions, len(changes), max(changes)]


def _homes(plugin: InstalledPlugin) -> list[Path]:
    """Return the folder of a plugin's package, found without importing it."""
    with suppress(ImportError, ValueError):
        package = importlib.util.find_spec(plugin.package)
        return [Path(place) for place in (package and package.submodule_search_locations) or []]
    return []


def _find() -> Names:
    from mklkit.cli.console import without_markup
    from mklkit.datasets.builtin import BUILTIN_NAMES, read_builtin
    from mklkit.registry.entries import HOOKS
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    names: Names = {
        kind: {entry.name: without_markup(entry.help) for entry in registry.entries(kind)}
        for kind in HOOKS
    }
    columns = [column for task in registry.entries("task") for column in task.target.columns]
    names["target"] = {column.name: without_markup(column.help) for column in columns}
    names["data"] = {name: list(map(str, read_builtin(name).columns)) for name in BUILTIN_NAMES}
    packages = registry.distributions() | {plugin.distribution for plugin in plugins()}
    return {**names, "package": dict.fromkeys(sorted(packages), "")}
