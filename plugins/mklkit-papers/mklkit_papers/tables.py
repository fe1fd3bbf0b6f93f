"""A reproduction as a table: on a terminal, in Markdown for pages, in LaTeX for papers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from mklkit._version import __version__
from mklkit.cli.console import plain, show
from mklkit.display.latex import latex_table, latex_text
from mklkit.errors import counted
from mklkit_papers.entries import PAPERS, Entry, Reproduction
from mklkit_papers.lines import Line

HOLDS = {True: "yes", False: "no", None: ""}
WORDS = 2
"""The first columns hold words, the others numbers."""
SHORT = {"difference": "diff."}
"""Heads that would be wider than their numbers on a terminal."""


def table_of(result: Reproduction) -> tuple[list[str], list[list[str]]]:
    """Return heads, and the cells of each line with a number; columns of numbers are not empty."""
    lines = [line for line in result.lines if line.printed or not math.isnan(line.ours)]
    published = [(line.printed, line) for line in lines]
    rows, columns = result.entry.heads
    cells = {
        rows: [line.row for line in lines],
        columns: [line.column for line in lines],
        "ours": [_with_spread(line.ours, line.spread, line) for line in lines],
        "published": [_with_spread(p.value, p.spread, line) if p else "" for p, line in published],
        "difference": [_number(line.shown_difference, line, "+") for line in lines],
        "holds": [HOLDS[line.holds] for line in lines],
        "paired p": [_p(line.p_paired) for line in lines],
        "corrected p": [_p(line.p_corrected) for line in lines],
        "published test": [p.test if p else "" for p, _ in published],
    }
    heads = [head for place, head in enumerate(cells) if place <= WORDS or any(cells[head])]
    return heads, [list(row) for row in zip(*(cells[head] for head in heads), strict=True)]


def summary(result: Reproduction) -> str:
    """Return in a sentence how many numbers hold, and how many are above the published ones."""
    if not result.has_numbers:
        return "not run"
    measures = ", ".join(dict.fromkeys(line.measure.name for line in result.lines))
    held, compared = "no printed number", len(result.compared)
    if compared:
        held = f"{result.held} of {counted(compared, 'number')} hold, {result.above} above print"
    repeats = {line.repeats for line in result.lines if line.repeats}
    if not repeats:
        return f"{measures}: {held}"
    least, most = min(repeats), max(repeats)
    span = counted(most, "repeat") if least == most else f"{least} to {most} repeats"
    return f"{measures}: {held}; {span}"


def notes_of(result: Reproduction) -> list[str]:
    """Return the notes below a table: remarks on data, omissions, misses, and their reasons."""
    against = dict.fromkeys(line.against for line in result.lines if not math.isnan(line.p_paired))
    missed = []
    for line in result.compared:
        if not line.holds:
            # The reason is from the full run, of which this may be a part.
            why = result.entry.why(line)
            reason = f"explained after the full run: {why}" if why else "not explained"
            missed.append((f"{line.row}, {line.column}", reason))
    return [
        *rules_of(result),
        *(f"note: {label}: {text}" for label, text in result.notes.items()),
        *(f"p values are of tests against {system}" for system in against),
        *_by_reason("left out", result.left_out.items()),
        *_by_reason("missed", missed),
    ]


def rules_of(result: Reproduction) -> list[str]:
    """Return the meaning of "holds" for each measure that is compared."""
    return list(dict.fromkeys(line.measure.rule for line in result.compared))


def markdown(result: Reproduction) -> str:
    """Return the table with notes: when it was made, omissions, misses and reasons."""
    heads, rows = table_of(result)
    rule = ["---"] * WORDS + ["--:"] * (len(heads) - WORDS)
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, rule, *escaped)] if rows else []
    stamp = f"mklkit {__version__}, {date.today().isoformat()}"
    notes = [f"{summary(result)} ({stamp})", *notes_of(result)]
    return "\n".join([*lines, "", *(f"- {note}." for note in notes)]).lstrip()


def latex(result: Reproduction) -> str:
    """Return the table for LaTeX (packages booktabs and, if it is long, longtable)."""
    heads, rows = table_of(result)
    signed = [[*row[:WORDS], *(cell.replace("-", "−") for cell in row[WORDS:])] for row in rows]
    written = [[latex_text(cell) for cell in row] for row in signed]
    told = ". ".join([f"{result.entry.title}: {summary(result)}", *rules_of(result)]) + "."
    label = f"tab:{result.entry.name}"
    return latex_table([latex_text(head) for head in heads], written, told, left=WORDS, label=label)


def show_list(known: list[Entry]) -> None:
    """Print names, titles, times, and what can't be run anywhere."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("name", no_wrap=True)
    grid.add_column("what it is")
    for head in ("quick", "full"):
        grid.add_column(head, justify="right", no_wrap=True)
    last = None
    for entry in known:
        paper = entry.name[:3]
        if paper != last:
            grid.add_row(Text(paper, style="bold"), Text(PAPERS[paper], style="bold"))
        last = paper
        told = [f"sets: {', '.join(entry.labels())}"] if entry.labels() else []
        told += [f"without {name}: {reason}" for name, reason in entry.missing.items()]
        times = ["<1 min" if time < 1 else f"{time:.0f} min" for time in entry.minutes]
        grid.add_row(entry.name, Text("\n".join([entry.title, *told])), *times)
    show(
        grid,
        "Times were measured on a machine with two cores. Tables of a paper share their runs, so"
        " several together take less than their sum.",
    )


def show_reproduction(result: Reproduction) -> None:
    """Print a table with its notes."""
    heads, rows = table_of(result)
    show(Text(f"\n{result.entry.name}: {result.entry.title}", style="bold"))
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for head in heads[:WORDS]:
        grid.add_column(head, overflow="fold")
    for head in heads[WORDS:]:
        # On a narrow terminal names are folded, numbers are not.
        grid.add_column(SHORT.get(head, head).replace(" ", "\n"), justify="right", no_wrap=True)
    last = None
    for row, *cells in rows:
        grid.add_row(*(Text(plain(cell)) for cell in ("" if row == last else row, *cells)))
        last = row
    if rows:
        show(grid)
    show(summary(result), *notes_of(result))


def _by_reason(word: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each reason, with the names that have it."""
    names: dict[str, list[str]] = {}
    for name, reason in pairs:
        names.setdefault(" ".join(reason.split()).rstrip("."), []).append(name)
    return [f"{word}: {'; '.join(of_it)}: {reason}" for reason, of_it in names.items()]


def _number(value: float, line: Line, sign: str = "") -> str:
    return "" if math.isnan(value) else f"{value:{sign}.{line.measure.digits}f}"


def _with_spread(value: float, spread: float, line: Line) -> str:
    shown = [_number(value, line), _number(spread, line)]
    return " ± ".join(filter(None, shown if shown[0] else []))


def _p(value: float) -> str:
    if math.isnan(value):
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"
