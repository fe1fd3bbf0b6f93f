"""Results as aligned lines and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli.console import plain
from mklkit.errors import counted

if TYPE_CHECKING:
    from mklkit.registry.entries import Entry

__all__ = [
    "alignment_grid",
    "columns_grid",
    "facts_grid",
    "listing",
    "model_lines",
    "percent",
    "reads_in_words",
]

COLUMNS_SHOWN = 40


def percent(share: float) -> str:
    """Return a share as a percentage with one decimal."""
    return f"{100 * share:.1f}%"


def facts_grid(facts: Iterable[tuple[str, str | list[str]]]) -> Grid:
    """Return names with one or several lines of text each, side by side."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    for name, lines in facts:
        for place, line in enumerate([lines] if isinstance(lines, str) else lines):
            grid.add_row(Text(name if place == 0 else ""), Text(plain(line)))
    return grid


def model_lines(model: dict[str, Any]) -> str:
    """Return a model's components in one line."""
    parts = [f"{word} {model[key]}" for word, key in _COMPONENTS if model.get(key)]
    if len(model.get("classes", [])) > 2 and model.get("multiclass"):
        parts.append(model["multiclass"])
    if "members" in model:
        parts.append(f"vote of {model['members']}")
    return ", ".join(parts)


_COMPONENTS = (("combiner", "combiner"), ("map", "feature_map"), ("learner", "learner"))


def listing(title: str, heads: Sequence[str], rows: list[tuple[str, ...]]) -> Grid:
    """Return a table of registered names: name, package, what it reads or learns, description."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for name in heads:
        grid.add_column(name, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(plain(cell)) for cell in row))
    return grid


def reads_in_words(kernel: Entry) -> str:
    """Return what a registered kernel reads, ``"as its kernel"`` where it is around another one."""
    from mklkit.registry.composing import is_around_another, reads_of

    return "as its kernel" if is_around_another(kernel) else reads_of(kernel)


def alignment_grid(table: Any) -> Grid:
    """Return a table of alignments, with kernels numbered in the head and named in the rows."""
    grid = Grid(box=box.SIMPLE)
    grid.add_column("")
    grid.add_column("kernel")
    for number in range(1, len(table) + 1):
        grid.add_column(str(number), justify="right")
    for number, (name, row) in enumerate(table.iterrows(), 1):
        values = [f"{value:.3f}" for value in row]
        grid.add_row(str(number), Text(plain(name)), *values)
    return grid


def columns_grid(columns: list[dict[str, Any]]) -> Grid:
    """Return a table of the input columns: what each was taken for, and its gaps in training."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("column", overflow="fold")
    grid.add_column("taken for", overflow="fold")
    grid.add_column("gaps", justify="right")
    for column in columns[:COLUMNS_SHOWN]:
        taken_for = Text(plain(_taken_for(column)))
        grid.add_row(Text(plain(column["name"])), taken_for, str(column["gaps"] or ""))
    if len(columns) > COLUMNS_SHOWN:
        grid.add_row(f"{len(columns) - COLUMNS_SHOWN} more", "--json shows them", "")
    return grid


def _taken_for(column: dict[str, Any]) -> str:
    if column["kind"] == "identifier":
        return "identifier, left out"
    if column.get("kept"):
        return "kept for kernels"
    if column["kind"] == "category":
        return f"category, {counted(column['values'], 'value')}"
    return f"{column['kind']} ({column['reading']})" if "reading" in column else column["kind"]
