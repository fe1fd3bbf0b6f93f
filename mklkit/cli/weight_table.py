"""The table of kernel weights, laid out for the available width."""

from __future__ import annotations

import math
import sys
from typing import Any

import attrs
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli.console import plain

__all__ = ["WeightTable", "weights_grid"]

BAR_LENGTH = 30
SHORT_BAR_LENGTH = 15
# Kernel names beyond this width are folded before the bar or the range is left out.
NAME_WIDTH = 24
UNBOUNDED = 10_000


@attrs.frozen
class _Layout:
    """What a table shows besides names and weights."""

    bar_length: int
    shows_range: bool = True
    one_line_heads: bool = False


# From the widest to the narrowest; the last one is used for any smaller width.
LAYOUTS = (
    _Layout(BAR_LENGTH, one_line_heads=True),
    _Layout(BAR_LENGTH),
    _Layout(SHORT_BAR_LENGTH),
    _Layout(0),
    _Layout(0, shows_range=False),
)


@attrs.frozen
class WeightTable:
    """Names, weights, bars and ranges; rich renders it for the available width."""

    by_kernel: dict[str, list[float]]
    """The kernel's weights, one per binary problem and cluster."""
    over: str
    """What the range is over; empty where each kernel has one weight."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the richest layout in which only kernel names are folded."""
        longest = max((len(plain(name)) for name in self.by_kernel), default=0)
        available = options.max_width + max(0, longest - NAME_WIDTH)
        wide = options.update(max_width=UNBOUNDED)
        for layout in LAYOUTS:
            grid = self._laid_out(layout)
            if Measurement.get(console, wide, grid).maximum <= available:
                break
        yield grid

    def _laid_out(self, layout: _Layout) -> Grid:
        joint = " " if layout.one_line_heads else "\n"
        shows_range = layout.shows_range and bool(self.over)
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        grid.add_column("kernel", overflow="fold")
        head = f"mean{joint}weight" if self.over else "weight"
        grid.add_column(head, justify="right", no_wrap=True)
        if layout.bar_length:
            grid.add_column("", width=layout.bar_length, no_wrap=True)
        if shows_range:
            grid.add_column(f"range over{joint}{self.over}", no_wrap=True)
        means = {name: sum(weights) / len(weights) for name, weights in self.by_kernel.items()}
        largest = max((abs(mean) for mean in means.values()), default=0.0) or 1.0
        for name, mean in means.items():
            cells = [Text(plain(name)), Text(f"{mean:.3f}")]
            if layout.bar_length:
                cells.append(Text(_bar(mean / largest, layout.bar_length), style="cyan"))
            if shows_range:
                weights = self.by_kernel[name]
                cells.append(Text(f"{min(weights):.3f} to {max(weights):.3f}"))
            grid.add_row(*cells)
        return grid


def weights_grid(model: dict[str, Any]) -> WeightTable:
    """Return the table of kernel weights, one row per kernel, each with a bar.

    Several binary problems, or clusters of rows, are summarised by their mean and range. On a
    narrow terminal first the bar and then the range is left out.
    """
    by_kernel: dict[str, list[float]] = {kernel["name"]: [] for kernel in model["kernels"]}
    for row in model["weights"]:
        by_kernel[row["kernel"]].append(float("nan") if row["weight"] is None else row["weight"])
    n_weights = max(len(weights) for weights in by_kernel.values())
    n_problems = len({str(row["problem"]) for row in model["weights"]})
    parts = [f"{n_problems} problems"] * (n_problems > 1)
    parts += ["clusters"] * (n_weights > n_problems)
    return WeightTable(by_kernel, " and ".join(parts) if n_weights > 1 else "")


def _bar(share: float, longest: int) -> str:
    if math.isnan(share):
        return ""
    blocks = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    return ("█" if blocks else "#") * round(abs(share) * longest)
