"""Isolation of foreign code: its output and its changes to the process state are contained."""

from __future__ import annotations

import builtins
import locale
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np

__all__ = ["keeping_state", "stdout_to_stderr"]

STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")
# The signals that Python handles itself, and those that end a program.
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE")


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
    """Send the output of foreign code to stderr, as stdout is for the result of a command.

    Writes to the file descriptors are redirected too, where there are any. Streams and descriptors
    that the code closes or replaces are restored at the end.
    """
    before = {name: getattr(sys, name) for name in STREAMS}
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
                setattr(
                    sys, name, _Unclosable(sys.__stderr__ if "__" in name else before["stderr"])
                )
            yield
        finally:
            for name, stream in before.items():
                setattr(sys, name, stream)


def _flush(streams: Mapping[str, Any]) -> None:
    for stream in streams.values():
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()


@contextmanager
def keeping_state(on_change: Callable[[str], None]) -> Iterator[None]:
    """Restore the process state that foreign code changes.

    Parameters
    ----------
    on_change : callable
        Called with the name of each change after it was undone.
    """
    kept = [read() for _, read, _ in _STATE]
    try:
        yield
    finally:
        for before, (label, read, write) in zip(kept, _STATE, strict=True):
            if before is not None and _changed(read, before):
                write(before)
                if label is not None:
                    on_change(label)


def _changed(read: Callable[[], Any], before: Any) -> bool:
    now = read()
    if read is _module_folders:  # More folders do no harm.
        return not set(before) <= set(now)
    # Libraries may set filters for their own warnings.
    return bool(_everybodys(now) != _everybodys(before) if read is _filters else now != before)


def _folder() -> str | None:
    with suppress(OSError):  # The folder may have been removed.
        return os.getcwd()
    return None


def _module_folders() -> list[str]:
    return list(sys.path)


def _search_in(folders: list[str]) -> None:
    sys.path[:] = [*(folder for folder in sys.path if folder not in folders), *folders]


def _handlers() -> dict[int, Any] | None:
    if threading.current_thread() is not threading.main_thread():
        return None  # Only the main thread can set handlers.
    numbers = (getattr(signal, name, None) for name in SIGNALS)
    return {number: signal.getsignal(number) for number in numbers if number is not None}


def _handle(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        if handler is not None:  # Handlers not set from Python can't be restored.
            signal.signal(number, handler)


def _generator() -> Any:
    everybodys: Any = np.random  # Its type stubs lack these functions.
    return everybodys.get_bit_generator()


def _numpy_state() -> dict[str, Any]:
    state = _generator().state
    return {**state, "state": {**state["state"], "key": state["state"]["key"].tolist()}}


def _set_numpy_state(state: dict[str, Any]) -> None:
    _generator().state = state


def _filters() -> list[tuple[Any, ...]]:
    return list(warnings.filters)


def _filter(before: list[tuple[Any, ...]]) -> None:
    added = [
        entry
        for entry in warnings.filters
        if entry not in before and entry not in _everybodys([entry])
    ]
    # A call of the module's function makes Python read the filters again.
    warnings.resetwarnings()
    warnings.filters[:] = [*added, *before]  # type: ignore[index]


def _everybodys(filters: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the filters for Python's own categories with any message and library."""
    return [
        entry
        for entry in filters
        if entry[1] is None
        and entry[3] is None
        and getattr(builtins, entry[2].__name__, None) is entry[2]
    ]


_STATE: tuple[tuple[str | None, Callable[[], Any], Callable[[Any], Any]], ...] = (
    ("the working folder", _folder, os.chdir),
    ("sys.path", _module_folders, _search_in),
    ("the handling of signals", _handlers, _handle),
    ("the filters of warnings", _filters, _filter),
    (
        "the locale",
        partial(locale.setlocale, locale.LC_ALL),
        partial(locale.setlocale, locale.LC_ALL),
    ),
    ("the limit of recursion", sys.getrecursionlimit, sys.setrecursionlimit),
    ("NumPy's handling of errors", np.geterr, lambda kept: np.seterr(**kept)),
    ("NumPy's print options", np.get_printoptions, lambda kept: np.set_printoptions(**kept)),
    # Many libraries draw random numbers on import, which is not reported.
    (None, random.getstate, random.setstate),
    (None, _numpy_state, _set_numpy_state),
)
