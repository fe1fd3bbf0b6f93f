"""Progress of long work: a bar in a notebook by itself, on a terminal where it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from mklkit.errors import SpecError

__all__ = ["BRIEF", "Progress", "Report", "check_progress", "reported", "silent"]

Report = Callable[..., Any]
"""Called with the parts done, all parts and, if it is known, the name of what runs next."""

Progress = Report | bool | None
"""None: a bar in a notebook only; True: on a terminal too; False: none; or a function."""

BRIEF = 1.0
"""Seconds of work that needs no bar where it is often a part of other work, as fits are."""

_ONE_AT_A_TIME = Lock()
"""Held by the outermost work: what it calls, a search within a comparison say, shows no bar."""


def check_progress(given: Any) -> None:
    """Raise a ``SpecError`` if a parameter ``progress`` is no :data:`Progress`."""
    if given is not None and not isinstance(given, bool) and not callable(given):
        raise SpecError(f"progress must be None, True, False or a function; got {given!r:.80}.")


@contextmanager
def reported(given: Progress, title: str, after: float = 0.0) -> Iterator[Report]:
    """Yield the function that work calls when a part of it is done.

    Parameters
    ----------
    given : callable, bool or None
        The user's function; or whether to show a bar: None only in a notebook.
    title : str
        What is done, in a word or two.
    after : float, default=0.0
        Seconds before a bar is shown in a notebook: work that is quicker leaves nothing there.

    Raises
    ------
    SpecError
        If ``given`` is anything else.
    """
    check_progress(given)
    outermost = _ONE_AT_A_TIME.acquire(blocking=False)
    try:
        if callable(given):
            yield given
        elif not outermost or given is False:
            yield silent
        elif in_notebook():
            from mklkit.display.cell_bar import cell_bar

            with cell_bar(title, after) as tell:
                yield tell
        elif given:
            from mklkit.display.terminal_bar import terminal_bar

            with terminal_bar(title) as tell:
                yield tell
        else:
            yield silent
    finally:
        if outermost:
            _ONE_AT_A_TIME.release()


def in_notebook() -> bool:
    """Return whether this runs in a notebook, whose outputs can be changed."""
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


def silent(*_: Any) -> None:
    """Say nothing."""
