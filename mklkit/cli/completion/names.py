"""The names that can be completed, kept in a file since finding them takes seconds.

Names of kernels, combiners and so on are known once their modules and all plugins are imported. The
file holds them with the state of the installation in which they were found; in another one they
are found anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mklkit._version import __version__
from mklkit.cli.completion.homes import base_folder
from mklkit.cli.package_commands import COMMAND_GROUP
from mklkit.errors import DataError
from mklkit.registry.discovery import InstalledPlugin, installed_plugins
from mklkit.registry.hookspecs import ENTRY_POINT_GROUP

__all__ = ["Names", "kept_names", "known_names", "names_file"]

Names = dict[str, dict[str, Any]]
"""By kind (``"kernel"``, ``"combiner"``, …) what is known of each name, such as its summary."""

STATE = "state"
# What reading a damaged file may raise.
DAMAGED = (ValueError, LookupError, TypeError, RecursionError)


def known_names() -> Names:
    """Return the names by kind, from the file if nothing was installed or changed since.

    Returns
    -------
    dict
        The kinds of the registry, with a summary of each name; ``"data"``: the built-in data sets
        with their columns; ``"package"``: the distributions of plugins.
    """
    return kept_names("names", _find)


def kept_names(topic: str, find: Callable[[], Names]) -> Names:
    """Return what ``find`` returns, from the topic's file if nothing was installed or changed.

    Parameters
    ----------
    topic : str
        The beginning of the file's name.
    find : callable
        Returns the names by kind, with a summary of each.
    """
    state = _state()
    with contextlib.suppress(OSError, DataError, *DAMAGED):
        kept: Names = json.loads(names_file(topic).read_text(encoding="utf-8"))
        if kept[STATE] == _marked(state, {kind: kept[kind] for kind in kept if kind != STATE}):
            return kept
    names = find()
    # Without the file completion is slow, and still right.
    with contextlib.suppress(OSError, DataError):
        _write(names_file(topic), json.dumps({**names, STATE: _marked(state, names)}))
    return names


def _marked(state: dict[str, Any], names: Names) -> dict[str, Any]:
    """Return a state with a digest of the names, by which a damaged file is told."""
    content = json.dumps(names, sort_keys=True).encode()
    return {**state, "content": hashlib.sha256(content).hexdigest()}


def names_file(topic: str = "names") -> Path:
    """Return the file of the names that this Python environment has.

    Raises
    ------
    DataError
        If the folder of caches is not known.
    """
    environment = hashlib.sha256(os.fsencode(sys.prefix)).hexdigest()[:16]
    return base_folder("XDG_CACHE_HOME", ".cache") / "mklkit" / f"{topic}-{environment}.json"


def _plugins() -> list[InstalledPlugin]:
    groups = (ENTRY_POINT_GROUP, COMMAND_GROUP)
    return [plugin for group in groups for plugin in installed_plugins(group, lambda _: None)]


def _state() -> dict[str, Any]:
    """Return what the names depend on: versions, and the last change of a module."""
    plugins = _plugins()
    homes = [Path(__file__).parents[2], *(home for each in plugins for home in _homes(each))]
    files = [file for home in homes for file in home.rglob("*.py")]
    return {
        "mklkit": __version__,
        "switched off": os.environ.get("MKLKIT_DISABLE_PLUGINS", ""),
        "plugins": [[each.name, each.distribution, each.version] for each in plugins],
        "files": len(files),
        "changed": max(map(_changed, files)),
    }


def _changed(file: Path) -> int:
    """Return when a file was changed, 0 for a link that leads nowhere, as editors leave them."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _homes(plugin: InstalledPlugin) -> list[Path]:
    """Return the folder of a plugin's package, found without importing it."""
    with contextlib.suppress(ImportError, ValueError):
        found = importlib.util.find_spec(plugin.package)
        return [Path(place) for place in (found and found.submodule_search_locations) or []]
    return []


def _find() -> Names:
    from mklkit.cli.component_facts import without_markup
    from mklkit.datasets.builtin import BUILTIN_NAMES, read_builtin
    from mklkit.registry.entries import HOOKS
    from mklkit.registry.registry import get_registry

    registry = get_registry()
    packages = registry.distributions() | {plugin.distribution for plugin in _plugins()}
    return {
        **{
            kind: {one.name: without_markup(one.help) for one in registry.entries(kind)}
            for kind in HOOKS
        },
        "data": {name: list(map(str, read_builtin(name).columns)) for name in BUILTIN_NAMES},
        "package": dict.fromkeys(sorted(packages), ""),
    }


def _write(file: Path, text: str) -> None:
    """Write the file at once, since other shells may be reading it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
