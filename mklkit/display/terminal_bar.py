"""A progress bar on a terminal; nothing in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.progress import TimeRemainingColumn as Remaining

from mklkit.display.progress import silent

__all__ = ["terminal_bar"]


@contextmanager
def terminal_bar(title: str, console: Console | None = None) -> Iterator[Any]:
    """Yield a function of the parts done, all parts and the name of what runs next.

    Parameters
    ----------
    title : str
        Shown until something has a name.
    console : Console, optional
        By default that of standard error.
    """
    console = console or Console(stderr=True, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        # Before rich 15 even a disabled bar left an empty line.
        yield silent
        return
    columns = (TextColumn("{task.description:<24.24}"), BarColumn(), MofNCompleteColumn())
    left = (Elapsed(), TextColumn("left:"), Remaining())
    with Progress(*columns, *left, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total, what="": bar.update(
            task, completed=done, total=total, description=what or title
        )
