"""Tables of results and facts on a terminal, in the layout that fits its width."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

import attrs
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from mklkit.display.html import printable
from mklkit.display.table import Bar, Column, ResultTable, Row, is_known

Fact = tuple[str, str | list[str]]
"""A name, and what is printed beside it in one or several lines."""
NAME_WIDTH = 24
"""Longer names are folded before a simpler layout of the table is tried."""
UNBOUNDED = 10_000


def facts_grid(pairs: Iterable[Fact]) -> Grid:
    """Return names with one or several lines of text each, side by side."""
    table = Grid.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, lines in pairs:
        for place, line in enumerate([lines] if isinstance(lines, str) else lines):
            table.add_row(Text(name if place == 0 else ""), Text(printable(line)))
    return table


def terminal_table(
    table: ResultTable,
    style: Callable[[Row], str] | None = None,
    caption: str = "",
    title: str | None = None,
    dense: bool = False,
) -> Grid:
    """Return a table of results for a terminal.

    ``style`` returns the style of a row's name. The rows of a section are below its name, and a
    ``dense`` table has less space between its columns.
    """
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    if dense:
        grid.padding = (0, 1, 0, 0)
    if title is not None:
        grid.title = Text(printable(title), style="bold")
        grid.title_justify = "left"
    columns = [column for column in table.columns if column.key != table.section]
    beside_bar = False
    for column in columns:
        _add_column(grid, column, beside_bar)
        beside_bar = isinstance(column, Bar)
    section = None
    for row in table.rows:
        if table.section and row[table.section] != section:
            section = row[table.section]
            grid.add_row(Text(printable(section), style="bold"))
        cells = [_cell(table, column, row) for column in columns]
        if table.section:
            cells[0] = Text(" ").append_text(cells[0])
        cells[0].stylize(style(row) if style else "")
        grid.add_row(*cells)
    lines = [*filter(None, [table.rest, caption])]
    if lines:
        grid.caption = Text(printable("\n".join(lines)), style="dim")
        grid.caption_justify = "left"
    return grid


def terminal_list(table: ResultTable) -> Grid:
    """Return a table of few rows on its side: a line for each column, by its head."""
    name, *columns = table.columns
    sides = [(str(place), row) for place, row in enumerate(table.rows)]
    rows = [{"head": c.head, **{side: c.text(row) for side, row in sides}} for c in columns]
    heads = [Column("head", ""), *(Column(side, name.text(row), str) for side, row in sides)]
    return terminal_table(ResultTable(heads, rows))


def _add_column(grid: Grid, column: Column, beside_bar: bool) -> None:
    head = Text(printable(column.short or column.full_head))
    if isinstance(column, Bar):
        grid.add_column(head, width=column.length, no_wrap=True)
    elif column.is_number:
        grid.add_column(head, justify="left" if beside_bar else "right", no_wrap=True)
    else:
        grid.add_column(head, overflow="fold")


def _cell(table: ResultTable, column: Column, row: Row) -> Text:
    if not isinstance(column, Bar):
        return Text(printable(column.text(row)))
    value = row[column.key]
    largest = column.scale(table.rows) or 1.0
    share = abs(value) / largest if is_known(value) else 0.0
    block = "█" if (sys.stdout.encoding or "").lower().startswith("utf") else "#"
    return Text(block * round(min(share, 1.0) * column.length), style="cyan")


@attrs.frozen
class FirstThatFits:
    """Layouts of one table, the richest first; the first that fits is shown, or the last."""

    layouts: Sequence[Grid]
    longest_name: int = 0
    """In the first column, which is folded."""

    @classmethod
    def of(cls, tables: Sequence[ResultTable]) -> FirstThatFits:
        """Return the layouts of tables of results, whose first columns hold names."""
        names = [table.columns[0].text(row) for table in tables for row in table.rows]
        longest = max((len(printable(name)) for name in names), default=0)
        return cls([terminal_table(table) for table in tables], longest)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table for the available width."""
        available = options.max_width + max(0, self.longest_name - NAME_WIDTH)
        wide = options.update(max_width=UNBOUNDED)
        for layout in self.layouts:
            if Measurement.get(console, wide, layout).maximum <= available:
                break
        yield layout
