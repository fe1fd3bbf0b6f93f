"""The installed plugins, even if some of their packages are damaged."""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import Distribution, EntryPoint, EntryPoints, distributions
from pathlib import Path
from typing import Any

import attrs

from mklkit.errors import cut, plain_message, quoted, type_name

__all__ = [
    "InstalledPlugin",
    "PluginFailure",
    "canonical",
    "installed_plugins",
    "switched_off",
]

_IDENTITY = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_TARGET = re.compile(r"\w+(\.\w+)*(\s*:\s*\w+(\.\w+)*)?\s*(\[.*\])?")
_VERSION = re.compile(r"[A-Za-z0-9.+!_-]{1,100}")
POINTS = "entry_points.txt"


@attrs.frozen
class PluginFailure:
    """The report of a plugin that could not be loaded, one line with what to do about it.

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
        subject = "package" if self.name is None else f"plugin {quoted(self.name)} of"
        end = "" if self.error.endswith((".", "!", "?", "…")) else "."
        # What can't be read can't be uninstalled either, and is to be installed again.
        removing = "" if self.name is None else f"'pip uninstall {self.distribution}' removes it; "
        return (
            f"{subject} {self.distribution} is left out: {self.error}{end}"
            f" {removing}MKLKIT_DISABLE_PLUGINS=1 leaves out all plugins, without this warning."
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
        """The top-level package or module in which the entry point lies."""
        return self._point.value.partition(":")[0].partition(".")[0].strip()

    def load(self) -> Any:
        """Import the module that the entry point names, and return it."""
        if not _TARGET.fullmatch(self._point.value.strip()):
            raise ValueError(
                f"its entry point refers to {quoted(self._point.value)}; the name of a module is"
                " expected, as my_package.my_module"
            )
        return self._point.load()


def switched_off() -> bool:
    """Return whether ``MKLKIT_DISABLE_PLUGINS`` leaves out what other packages bring."""
    value = os.environ.get("MKLKIT_DISABLE_PLUGINS", "").strip().casefold()
    return value not in ("", "0", "false", "no")


def canonical(name: str) -> str:
    """Return a distribution's name in the normalised form of pip."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_plugins(
    group: str, on_failure: Callable[[PluginFailure], None]
) -> list[InstalledPlugin]:
    """Return the entry points of a group, by name.

    ``importlib.metadata.entry_points`` reads all distributions at once and fails with the first
    that is damaged; here each is read separately. Numba and scikit-learn would fail on the same
    one, as they look for their own extensions: if one is damaged, that function is replaced in
    this process by one that skips it.

    Parameters
    ----------
    group : str
    on_failure : callable
        Called with each distribution that can't be read.
    """
    plugins: list[InstalledPlugin] = []
    labels: set[str] = set()
    for distribution in distributions():
        label = "unknown"
        try:
            label = _label(distribution)
            # As for imports, the first of a name on the path is used.
            if label in labels:
                continue
            labels.add(label)
            points = _entry_points_of(distribution, group)
            if points:
                origin = _identity(distribution)
                plugins += [InstalledPlugin(point.name, *origin, point) for point in points]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reason = f"{type_name(error)}: {plain_message(error)}"
            message = f"its metadata can't be read ({reason}); install it again"
            on_failure(PluginFailure(None, label, message))
            importlib.metadata.entry_points = _entry_points  # type: ignore[assignment]
    return sorted(plugins, key=lambda plugin: plugin.name)


def _entry_points(**wanted: Any) -> EntryPoints:
    """Return the entry points of the distributions that can be read."""
    points: list[EntryPoint] = []
    for distribution in distributions():
        with suppress(Exception):
            points += distribution.entry_points
    return EntryPoints(points).select(**wanted)


def _entry_points_of(distribution: Distribution, group: str) -> list[EntryPoint]:
    """Return the entry points of a group, or fail if they can't be read.

    Python ignores what can't be read, or reports it in its own terms. Packages without entry
    points of the group may have any text before a section.
    """
    text = distribution.read_text(POINTS)
    if text is None:
        folder = getattr(distribution, "_path", None)
        if folder is not None and (folder / POINTS).exists():
            raise ValueError(f"{POINTS} is not a readable file")
        return []
    section = False
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("#"):
            continue
        expected = ""
        if "[" in line and _letters(line) == _letters(group):
            expected = "" if line == f"[{group}]" else f"'[{group}]'"
            section = True
        elif line.startswith("[") and line.endswith("]"):
            section = True
        elif section and not re.match(r"[^=]+=", line):
            expected = "name = module"
        elif not section and group in line:
            expected = f"a section such as '[{group}]' before it"
        if expected:
            raise ValueError(f"line {number} of {POINTS} is {quoted(line)}; expected {expected}")
    if group not in text:
        return []
    return [point for point in distribution.entry_points if point.group == group]


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.casefold())


def _label(distribution: Distribution) -> str:
    """Return the name by which a distribution is stored, without reading its metadata."""
    folder = getattr(distribution, "_path", None)
    if folder is None:  # Not from a folder, but from a custom import hook.
        return canonical(distribution.metadata["Name"])
    stem = re.sub(r"\.(dist|egg)-info$", "", Path(str(folder)).name)
    return cut(canonical(stem.partition("-")[0]), 100)


def _identity(distribution: Distribution) -> tuple[str, str, str]:
    """Return a distribution's name, version and summary, or fail with the reason."""
    metadata = distribution.metadata
    name, version = metadata["Name"], metadata["Version"]
    if not isinstance(name, str) or not _IDENTITY.fullmatch(name):
        raise ValueError(f"METADATA gives the Name {quoted(name)}")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise ValueError(f"METADATA gives the Version {quoted(version)}")
    [summary, *_] = metadata.get_all("Summary", [""])
    return name, version, cut(" ".join(str(summary).split()), 200)
