"""A progress bar below a cell of a notebook, by IPython's own displays: no widgets are needed.

A cell has one bar, however much work it does one after another, and none is left when it is done.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from time import monotonic
from typing import Any

from mklkit.display.markup import element

__all__ = ["cell_bar"]

PAUSE = 0.2
"""Seconds between two pictures of a bar: each is a message to the browser."""

_last: dict[str, Any] = {}
"""The cell that had a bar last, by its number, and the display that the next one can use again."""


@contextmanager
def cell_bar(title: str, after: float) -> Iterator[Any]:
    """Yield a function of the parts done, all parts and the name of what runs next.

    Parameters
    ----------
    title : str
    after : float
        Seconds before the bar is shown.
    """
    bar = _Bar(title, after)
    try:
        yield bar
    finally:
        bar.clear()


class _Bar:
    """A bar that is drawn when a part is done, but not too often."""

    def __init__(self, title: str, after: float) -> None:
        self._title, self._start = title, monotonic()
        self._next = self._start + after
        self._drawn = False
        self._lock = Lock()

    def __call__(self, done: int, total: int, what: str = "") -> None:
        """Draw it, from any thread."""
        with self._lock:
            now = monotonic()
            if now < self._next:
                return
            self._next = now + PAUSE
            self._drawn = True
            text = self._text(done, total, what, now - self._start)
            length = {"value": done, "max": max(total, 1)}
            drawn = element("progress", **length, style="width:16em;vertical-align:middle")
            _draw({"text/html": element("div", drawn, " ", text), "text/plain": text})

    def clear(self) -> None:
        """Leave nothing."""
        if self._drawn:
            _draw({"text/html": "", "text/plain": ""})

    def _text(self, done: int, total: int, what: str, seconds: float) -> str:
        parts = [f"{self._title}: {done} of {total}", what, clock(seconds)]
        if 0 < done < total:
            parts.append(f"about {clock(seconds * (total - done) / done)} left")
        return ", ".join(part for part in parts if part)


def _draw(content: dict[str, str]) -> None:
    """Show content in the cell's display, in place of what it has."""
    cell = sys.modules["IPython"].get_ipython().execution_count
    if _last.get("cell") == cell:
        _last["display"].update(content, raw=True)
    else:
        display = import_module("IPython.display").display
        _last.update(cell=cell, display=display(content, raw=True, display_id=True))


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds.

    Examples
    --------
    >>> clock(75.4), clock(3725)
    ('1:15', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
