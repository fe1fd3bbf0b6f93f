"""The installed plugins, each found separately and imported without side effects.

Packages may be damaged, and their code may print or change the state of the process: neither
affects the rest. NumPy is imported only where needed, so that completion works without it.
"""

from __future__ import annotations

import importlib.metadata
import locale
import os
import random
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from configparser import ConfigParser
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib.metadata import Distribution, EntryPoint, EntryPoints, distributions
from typing import Any, TextIO

import attrs

from mklkit.errors import cut, plain_message, quoted, type_name

_IDENTITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+!_-]{0,99}")
_TARGET = re.compile(r"\w+(\.\w+)*(\s*:\s*\w+(\.\w+)*)?\s*(\[.*\])?")
LONG_IMPORT = 5.0
"""The number of seconds after which a plugin that is still being imported is named."""
STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")
# The signals that Python handles itself, and those that end a program.
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE")

_entry_points_of_all = importlib.metadata.entry_points


@attrs.frozen
class PluginFailure:
    """The report of a plugin that could not be loaded: one line, with the remedy."""

    name: str | None
    """The entry point; None if the whole distribution can't be read."""
    distribution: str
    error: str

    def __str__(self) -> str:
        subject = "package" if self.name is None else f"plugin {quoted(self.name)} of"
        end = "" if self.error.endswith((".", "!", "?", "…")) else "."
        # An unreadable package can't be uninstalled either, and must be reinstalled.
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
        """The top-level package or module of the entry point."""
        return self._point.value.partition(":")[0].partition(".")[0].strip()

    def load(self) -> Any:
        """Import the module that the entry point names, and return it."""
        if not _TARGET.fullmatch(self._point.value.strip()):
            raise ValueError(
                f"its entry point refers to {quoted(self._point.value)}; expected the name of"
                " a module, such as my_package.my_module"
            )
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
            f" {LONG_IMPORT:g} s; MKLKIT_DISABLE_PLUGINS=1 leaves out all plugins,"
            f" 'pip uninstall {self.distribution}' removes it",
            file=stream,
            flush=True,
        )


def switched_off() -> bool:
    """Return whether ``MKLKIT_DISABLE_PLUGINS`` disables other packages."""
    value = os.environ.get("MKLKIT_DISABLE_PLUGINS", "").strip().casefold()
    return value not in ("", "0", "false", "no")


def canonical(name: str) -> str:
    """Return a distribution's name as pip normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_plugins(
    group: str, on_failure: Callable[[PluginFailure], None]
) -> list[InstalledPlugin]:
    """Return the entry points of a group, by name.

    ``on_failure`` is called with each distribution that can't be read. Numba and scikit-learn
    would fail on it, since ``importlib.metadata.entry_points`` reads all at once; so that function
    is made to skip it in this process.
    """
    plugins: list[InstalledPlugin] = []
    labels: set[str] = set()
    entry_points: Callable[..., Any] = _entry_points_of_all
    for distribution in distributions():
        label = "unknown"
        try:
            label = _label(distribution)
            # As for imports, the first one of a name on the path is used.
            if label not in labels and (points := _points_of(distribution, group)):
                origin = _identity(distribution)
                plugins += [InstalledPlugin(point.name, *origin, point) for point in points]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reason = f"{type_name(error)}: {plain_message(error)}"
            message = f"its metadata can't be read ({reason}); reinstall it"
            on_failure(PluginFailure(None, label, message))
            entry_points = _readable_entry_points
        labels.add(label)
    importlib.metadata.entry_points = entry_points
    return sorted(plugins, key=lambda plugin: plugin.name)


def _readable_entry_points(**wanted: Any) -> EntryPoints:
    """Return the entry points of the distributions that can be read."""
    points: list[EntryPoint] = []
    for distribution in distributions():
        with suppress(Exception):
            points += distribution.entry_points
    return EntryPoints(points).select(**wanted)


def _points_of(distribution: Distribution, group: str) -> list[EntryPoint]:
    """Return the entry points of a group; fail on unreadable ones, which Python would ignore.

    Only a file that mentions the group is read: files of other packages may have any form.
    """
    text = distribution.read_text("entry_points.txt")
    folder = _folder_of(distribution)
    if text is None and folder is not None and (folder / "entry_points.txt").exists():
        raise ValueError("entry_points.txt is not a readable file")
    if text is None or _letters(group) not in _letters(text):
        return []
    sections = ConfigParser(delimiters="=", comment_prefixes="#", interpolation=None)
    sections.optionxform = str  # type: ignore[assignment, method-assign]
    sections.read_string(text)
    for section in sections.sections():
        if section != group and _letters(section) == _letters(group):
            raise ValueError(f"entry_points.txt has {quoted(section)} for the section '[{group}]'")
    points = sections.items(group) if sections.has_section(group) else []
    return [EntryPoint(name, value, group) for name, value in points]


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.casefold())


def _label(distribution: Distribution) -> str:
    """Return the name under which a distribution is stored, without reading its metadata."""
    folder = _folder_of(distribution)
    if folder is None:  # It comes from a custom import hook.
        return canonical(distribution.metadata["Name"])
    stem = re.sub(r"\.(dist|egg)-info$", "", folder.name)
    return cut(canonical(stem.partition("-")[0]), 100)


def _folder_of(distribution: Distribution) -> Any:
    """Return the folder of a distribution's metadata; None if there is none.

    Distributions have another class if the backport of importlib.metadata was imported.
    """
    return getattr(distribution, "_path", None)


def _identity(distribution: Distribution) -> tuple[str, str, str]:
    """Return a distribution's name, version and summary, or fail with the reason."""
    metadata = distribution.metadata
    for field in ("Name", "Version"):
        if not isinstance(metadata[field], str) or not _IDENTITY.fullmatch(metadata[field]):
            raise ValueError(f"METADATA gives the {field} {quoted(metadata[field])}")
    [summary, *_] = metadata.get_all("Summary", [""])
    return metadata["Name"], metadata["Version"], cut(" ".join(str(summary).split()), 200)


class _Unclosable:
    """A stream with several writers, none of which may close it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Do nothing: the stream stays open."""

    detach = close


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send the output of foreign code to stderr, since stdout is for the result of a command.

    Streams and file descriptors that the code closes or replaces are restored at the end.
    """
    before = {name: vars(sys)[name] for name in STREAMS}
    with ExitStack() as at_the_end:
        with suppress(OSError, ValueError, AttributeError):
            _flush(before)
            for descriptor in (1, 2):
                kept = os.dup(descriptor)
                at_the_end.callback(os.close, kept)
                at_the_end.callback(os.dup2, kept, descriptor)
            at_the_end.callback(_flush, before)
            os.dup2(2, 1)
        try:
            for name in STREAMS:
                vars(sys)[name] = _Unclosable(before["__stderr__" if "__" in name else "stderr"])
            yield
        finally:
            vars(sys).update(before)


def _flush(streams: Mapping[str, Any]) -> None:
    for stream in streams.values():
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()


@contextmanager
def keeping_state(on_change: Callable[[str], None]) -> Iterator[None]:
    """Restore the process state that foreign code changes, and report the name of each change."""
    import numpy as np

    set_locale = partial(locale.setlocale, locale.LC_ALL)
    # The state to restore: its name, how to read it, and how to set it.
    state: list[tuple[str, Callable[[], Any], Callable[[Any], Any]]] = [
        ("the working folder", _folder, os.chdir),
        ("the handling of signals", _handlers, _handle),
        ("the locale", set_locale, set_locale),
        ("the limit of recursion", sys.getrecursionlimit, sys.setrecursionlimit),
        ("NumPy's handling of errors", np.geterr, lambda kept: np.seterr(**kept)),
        ("NumPy's print options", np.get_printoptions, lambda kept: np.set_printoptions(**kept)),
    ]
    kept = [read() for _, read, _ in state]
    folders, filters = list(sys.path), list(warnings.filters)
    # Many libraries draw random numbers on import, which is not reported.
    numpy_random: Any = np.random  # Its type stubs lack this function.
    generator = numpy_random.get_bit_generator()
    drawn, drawn_by_numpy = random.getstate(), generator.state
    try:
        yield
    finally:
        random.setstate(drawn)
        generator.state = drawn_by_numpy
        if not set(folders) <= set(sys.path):  # More folders do no harm.
            sys.path[:] = [*(folder for folder in sys.path if folder not in folders), *folders]
            on_change("sys.path")
        if _for_everybody(warnings.filters) != _for_everybody(filters):
            added = [entry for entry in warnings.filters if entry not in filters]
            shared = _for_everybody(added)
            # A call of the module's function makes Python read the filters again.
            warnings.resetwarnings()
            kept_filters: Any = warnings.filters
            kept_filters[:] = [*(entry for entry in added if entry not in shared), *filters]
            on_change("the filters of warnings")
        for before, (label, read, write) in zip(kept, state, strict=True):
            if before is not None and read() != before:
                write(before)
                on_change(label)


def _for_everybody(filters: Any) -> list[tuple[Any, ...]]:
    """Return the filters for Python's own categories; a library may set filters for its own."""
    return [
        entry
        for entry in filters
        if entry[1] is None and entry[3] is None and entry[2].__module__ == "builtins"
    ]


def _folder() -> str | None:
    with suppress(OSError):  # It may have been removed.
        return os.getcwd()
    return None


def _handlers() -> dict[int, Any] | None:
    if threading.current_thread() is not threading.main_thread():
        return None  # Only the main thread can set handlers.
    handlers = {s: signal.getsignal(s) for s in signal.Signals if s.name in SIGNALS}
    # Handlers not set from Python can't be restored.
    return {number: handler for number, handler in handlers.items() if handler is not None}


def _handle(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
