"""Tables and figures of the papers on a terminal: their list, and ours beside the published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklkit.cli.console import plain, show, show_json

if TYPE_CHECKING:
    from mklkit_papers.entry import Entry, Reproduction

__all__ = ["show_list", "show_reproduction"]


SHORT = {"difference": "diff."}
"""Heads that would take more space than their numbers."""


def show_list(known: list[Entry], as_json: bool) -> None:
    """Print names, titles, times, and what can't be run anywhere."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    if as_json:
        show_json([entry.facts() for entry in known])
        return
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("name", no_wrap=True)
    grid.add_column("what it is")
    grid.add_column("quick", justify="right", no_wrap=True)
    grid.add_column("full", justify="right", no_wrap=True)
    for entry in known:
        told = [f"sets: {', '.join(entry.labels())}"] if entry.labels() else []
        told += [f"without {name}: {reason}" for name, reason in entry.missing.items()]
        quick, full = (_minutes(minutes) for minutes in entry.minutes)
        grid.add_row(entry.name, Text("\n".join([entry.title, *told])), quick, full)
    show(
        grid,
        "Times were measured on a machine with two cores. Tables of a paper share their runs, so"
        " that several together take less than their sum.",
    )


def _minutes(minutes: float) -> str:
    return "<1 min" if minutes < 1 else f"{minutes:.0f} min"


def show_reproduction(reproduction: Reproduction) -> None:
    """Print a table with its notes."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    from mklkit_papers.tables import WORDS, heads_of, notes_of, rows_of, summary

    show(Text(f"\n{reproduction.entry.name}: {reproduction.entry.title}", style="bold"))
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    rows = rows_of(reproduction)
    for place, head in enumerate(heads_of(reproduction)):
        if place < WORDS:
            grid.add_column(head, overflow="fold")
        else:
            # On a narrow terminal names are folded, numbers are not.
            folded = SHORT.get(head, head).replace(" ", "\n")
            grid.add_column(folded, justify="right", no_wrap=True)
    last = None
    for row in rows:
        cells = ["" if row[0] == last else row[0], *row[1:]]
        grid.add_row(*(Text(plain(cell)) for cell in cells))
        last = row[0]
    if rows:
        show(grid)
    show(summary(reproduction), *notes_of(reproduction))
