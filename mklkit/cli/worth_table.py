"""The tables of what kernels and columns are worth, laid out for the available width."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli.console import plain

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GroupTable", "KernelTable"]

SHOWN = 15
"""Groups of columns; --json shows all."""
NAME_WIDTH = 24
# Deviations over folds, and what is beside the weights; the last is used for any smaller width.
LAYOUTS = ((True, True), (True, False), (False, False))
UNBOUNDED = 10_000


@attrs.frozen
class KernelTable:
    """Weight, and points of the score lost when left out and shuffled, per kernel."""

    kernels: pd.DataFrame

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the richest layout in which only kernel names are folded."""
        longest = max(len(plain(name)) for name in self.kernels["kernel"])
        available = options.max_width + max(0, longest - NAME_WIDTH)
        wide = options.update(max_width=UNBOUNDED)
        for spread, details in LAYOUTS:
            grid = self._laid_out(spread, details)
            if Measurement.get(console, wide, grid).maximum <= available:
                break
        yield grid

    def _laid_out(self, spread: bool, details: bool) -> Grid:
        frame = self.kernels
        by_row = details and bool(frame["row_spread"].notna().any())
        by_size = details and _sizes_differ(frame)
        grid = _grid("kernel", "weight", *["over\nrows"] * by_row, *["sized\nweight"] * by_size)
        grid.add_column("lost if\nleft out", justify="right", no_wrap=True)
        grid.add_column("lost if\nshuffled", justify="right", no_wrap=True)
        for row in frame.to_dict("records"):
            cells = [_number(row, "weight", 1, 3, spread)]
            cells += [_cell(row["row_spread"], 1, 3, "± ")] * by_row
            cells += [_cell(row["sized_weight"], 1, 3)] * by_size
            cells += [_number(row, name, 100, 1, spread) for name in ("left_out", "shuffled")]
            grid.add_row(Text(plain(row["kernel"])), *cells)
        return grid


@attrs.frozen
class GroupTable:
    """Points of the score lost when columns are shuffled, the dearest first."""

    columns: pd.DataFrame

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table."""
        grid = _grid("columns", "lost if\nshuffled")
        grid.add_column("read by", overflow="fold")
        for row in self.columns.head(SHOWN).to_dict("records"):
            lost = _number(row, "shuffled", 100, 1, True)
            readers = ", ".join(plain(name) for name in row["kernels"])
            grid.add_row(Text(plain(row["group"])), lost, Text(readers))
        if len(self.columns) > SHOWN:
            grid.add_row(f"{len(self.columns) - SHOWN} more", "", "--json shows them")
        yield grid


def _grid(name: str, *numbers: str) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column(name, overflow="fold")
    for head in numbers:
        grid.add_column(head, justify="right", no_wrap=True)
    return grid


def _sizes_differ(frame: pd.DataFrame) -> bool:
    """Return whether weight × size says something else than the weight, as shown."""
    found = frame["sized_weight"].dropna()
    return bool((abs(found - frame["weight"].loc[found.index]) >= 0.001).any())


def _number(row: dict[Any, Any], name: str, scale: int, digits: int, spread: bool) -> Text:
    shown = _cell(row[name], scale, digits)
    if spread and shown.plain != "–":
        shown = Text(f"{shown.plain} ± {scale * row[f'{name}_std']:.{digits}f}")
    return shown


def _cell(value: float, scale: int, digits: int, before: str = "") -> Text:
    return Text("–" if math.isnan(value) else f"{before}{scale * value:z.{digits}f}")
