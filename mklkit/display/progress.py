"""Progress of long work: a bar in notebooks, and on a terminal on request."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mklkit.errors import SpecError

if TYPE_CHECKING:
    from rich.console import Console

Report = Callable[..., Any]
"""Called with the parts done, all parts and, if known, the name of the next part."""


@runtime_checkable
class SpokenReport(Protocol):
    """A report that is told sentences too, such as how long the work will take."""

    def __call__(self, done: int, total: int, part: str = "") -> Any:
        """Report the parts that are done."""

    def say(self, text: str) -> None:
        """Tell a sentence."""


Progress = Report | bool | None
"""None: a bar in a notebook only; True: on a terminal too; False: none; or a function."""

BRIEF = 1.0
"""Work that takes fewer seconds shows no bar if it is often part of other work, as fits are."""

PAUSE = 0.2
"""Seconds between two updates of a notebook's bar: each is a message to the browser."""

_ONE_AT_A_TIME = Lock()
"""Held by the outermost work: nested work, such as a search in a comparison, shows no bar."""

_listener: ContextVar[Report | None] = ContextVar("listener", default=None)
"""The function that work reports to if its own ``progress`` is None."""

_last: dict[str, Any] = {}
"""The number of the last cell with a bar, and the display that its next bar can reuse."""


def check_progress(progress: Any) -> None:
    """Raise a ``SpecError`` if a parameter ``progress`` is not a :data:`Progress`."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise SpecError(f"progress must be None, True, False or a function; got {progress!r:.80}.")


@contextmanager
def reporting_to(report: Report) -> Iterator[None]:
    """Have work whose ``progress`` is None, such as a fit inside a pipeline, report to a function.

    Only the outermost work reports.
    """
    token = _listener.set(report)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def reported(progress: Progress, title: str, after: float = 0.0) -> Iterator[Report]:
    """Yield the function that work calls when a part of it is done.

    The title names the work in a word or two. In a notebook, work shorter than ``after`` seconds
    shows no bar.
    """
    check_progress(progress)
    outermost = _ONE_AT_A_TIME.acquire(blocking=False)
    try:
        if callable(progress):
            yield progress
        elif not outermost or progress is False:
            yield silent
        elif progress is None and (listener := _listener.get()) is not None:
            yield listener
        elif in_notebook():
            bar = _CellBar(title, after)
            try:
                yield bar
            finally:
                bar.clear()
        elif progress:
            with terminal_bar(title) as tell:
                yield tell
        else:
            yield silent
    finally:
        if outermost:
            _ONE_AT_A_TIME.release()


def in_notebook() -> bool:
    """Return whether this runs in a notebook, whose outputs can be updated."""
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


def silent(*_: Any) -> None:
    """Say nothing."""


@contextmanager
def terminal_bar(title: str, console: Console | None = None) -> Iterator[Report]:
    """Yield a function that moves rich's bar on a terminal; in a pipe it does nothing.

    The title is shown until something has a name. The console is that of standard error.
    """
    from rich import progress as rich
    from rich.console import Console

    console = console or Console(stderr=True, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        # Before rich 15 even a disabled bar left an empty line.
        yield silent
        return
    done = (rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeElapsedColumn())
    left = (rich.TextColumn("left:"), rich.TimeRemainingColumn())
    name = rich.TextColumn("{task.description:<24.24}")
    with rich.Progress(name, *done, *left, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total, part="": bar.update(
            task, completed=done, total=total, description=part or title
        )


class _CellBar:
    """A bar below a cell of a notebook, with IPython's own displays and no widgets.

    A cell has one bar for all its work, and none at the end.
    """

    def __init__(self, title: str, after: float) -> None:
        self._title = title
        self._start = monotonic()
        self._next = self._start + after
        self._drawn = False
        self._said = ""
        self._lock = Lock()

    def __call__(self, done: int, total: int, part: str = "") -> None:
        """Draw it, from any thread, but not too often."""
        from mklkit.display.html import progress_bar

        with self._lock:
            now = monotonic()
            if now < self._next:
                return
            self._next = now + PAUSE
            self._drawn = True
            minutes, seconds = divmod(round(now - self._start), 60)
            place = f"{self._title}: {done} of {total}"
            said = (place, part, f"{minutes}:{seconds:02}", self._said)
            text = ", ".join(filter(None, said))
            _draw({"text/html": progress_bar(done, max(total, 1), text), "text/plain": text})

    def say(self, text: str) -> None:
        """Show a sentence beside the bar from now on."""
        self._said = text

    def clear(self) -> None:
        """Leave nothing."""
        if self._drawn:
            _draw({"text/html": "", "text/plain": ""})


def _draw(content: dict[str, str]) -> None:
    """Replace the content of the cell's display."""
    cell = sys.modules["IPython"].get_ipython().execution_count
    if _last.get("cell") == cell:
        _last["display"].update(content, raw=True)
    else:
        display = import_module("IPython.display").display
        _last.update(cell=cell, display=display(content, raw=True, display_id=True))
