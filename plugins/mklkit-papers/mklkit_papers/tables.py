"""A reproduction as a table: on a terminal, in Markdown for pages, in LaTeX for papers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from typing import Any

import attrs
from rich.text import Text

from mklkit._version import __version__
from mklkit.cli.console import show
from mklkit.display.latex import latex_result
from mklkit.display.numbers import number, p_value, signed, whole
from mklkit.display.table import Column, ResultTable, Row, is_known
from mklkit.display.terminal import terminal_table
from mklkit.errors import counted
from mklkit_papers.entries import PAPERS, Entry, Reproduction, paper_of
from mklkit_papers.lines import Line

HOLDS = {True: "yes", False: "no"}


@attrs.frozen
class OfMeasure(Column):
    """A column of numbers with the decimals of their line's measure, with a sign if ``signed``."""

    signed: bool = False

    def text(self, row: Row) -> str:
        """Return the value of a row, with its standard deviation, as text."""
        write = signed if self.signed else number
        values = [row[key] for key in self.keys]
        known = [write(value, row["digits"]) for value in values if is_known(value)]
        return " ± ".join(known) if is_known(values[0]) else self.absent


def table_of(result: Reproduction) -> ResultTable:
    """Return a row for each line with a number; columns of numbers are not empty."""
    rows = [_row(line) for line in result.lines if line.printed or not math.isnan(line.ours)]
    row, column = result.entry.heads
    names = [Column("row", row), Column("column", column)]
    ours = OfMeasure("ours", "ours", str, absent="", deviation="spread")
    numbers = [
        OfMeasure("published", "published", str, absent="", deviation="published_spread"),
        OfMeasure("difference", "difference", str, short="diff.", absent="", signed=True),
        Column("holds", "holds", HOLDS.__getitem__, absent=""),
        Column("p_paired", "paired p", p_value, short="paired\np", absent=""),
        Column("p_corrected", "corrected p", p_value, short="corrected\np", absent=""),
        Column("test", "published test", str, short="published\ntest", absent=""),
    ]
    filled = [number for number in numbers if any(number.text(row) for row in rows)]
    return ResultTable([*names, ours, *filled], rows, section="row")


def _row(line: Line) -> dict[str, Any]:
    """Return the raw values of a line."""
    printed = line.printed
    return {
        "row": line.row,
        "column": line.column,
        "digits": line.measure.digits,
        "ours": line.ours,
        "spread": line.spread,
        "published": printed.value if printed else math.nan,
        "published_spread": printed.spread if printed else math.nan,
        "difference": line.shown_difference,
        "holds": line.holds,
        "p_paired": line.p_paired,
        "p_corrected": line.p_corrected,
        "test": printed.test if printed else None,
    }


def summary(result: Reproduction) -> str:
    """Return in a sentence how many numbers hold, and how many are above the published ones."""
    if not result.has_numbers:
        return "not run"
    measures = ", ".join(dict.fromkeys(line.measure.name for line in result.lines))
    held = "no printed number"
    compared = len(result.compared)
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
        *_by_reason("omitted", result.left_out.items()),
        *_by_reason("missed", missed),
    ]


def rules_of(result: Reproduction) -> list[str]:
    """Return the meaning of "holds" for each measure that is compared."""
    return list(dict.fromkeys(line.measure.rule for line in result.compared))


def markdown(result: Reproduction) -> str:
    """Return the table with notes: when it was made, omissions, misses and reasons."""
    table = table_of(result)
    rule = ["--:" if column.is_number else "---" for column in table.columns]
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in table.cells()]
    heads = [column.full_head for column in table.columns]
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, rule, *escaped)] if escaped else []
    stamp = f"mklkit {__version__}, {date.today().isoformat()}"
    notes = [f"{summary(result)} ({stamp})", *notes_of(result)]
    return "\n".join([*lines, "", *(f"- {note}." for note in notes)]).lstrip()


def latex(result: Reproduction) -> str:
    """Return the table for LaTeX (packages booktabs and, if it is long, longtable)."""
    caption = ". ".join([f"{result.entry.title}: {summary(result)}", *rules_of(result)]) + "."
    table = attrs.evolve(table_of(result), caption=caption)
    return latex_result(table, f"tab:{result.entry.name}")


def show_list(known: list[Entry]) -> None:
    """Print names, titles, times, and what can't be run anywhere."""
    rows = []
    for entry in known:
        paper = paper_of(entry.name)
        told = [f"sets: {', '.join(entry.labels())}"] if entry.labels() else []
        told += [f"without {name}: {reason}" for name, reason in entry.missing.items()]
        quick, full = entry.minutes
        rows.append(
            {
                "paper": f"{paper}  {PAPERS[paper]}",
                "name": entry.name,
                "told": "\n".join([entry.title, *told]),
                "quick": quick,
                "full": full,
            }
        )
    columns = [
        Column("paper", "paper"),
        Column("name", "name"),
        Column("told", "what it is"),
        Column("quick", "quick", _minutes),
        Column("full", "full", _minutes),
    ]
    show(
        terminal_table(ResultTable(columns, rows, section="paper")),
        "Times were measured on a machine with two cores. Tables of a paper share their runs, so"
        " several together take less than their sum.",
    )


def show_reproduction(result: Reproduction) -> None:
    """Print a table with its notes."""
    show(Text(f"\n{result.entry.name}: {result.entry.title}", style="bold"))
    table = table_of(result)
    if table.rows:
        show(terminal_table(table, dense=True))
    show(summary(result), *notes_of(result))


def _minutes(time: float) -> str:
    return "<1 min" if time < 1 else f"{whole(time)} min"


def _by_reason(word: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each reason, with the names that have it."""
    names: dict[str, list[str]] = {}
    for name, reason in pairs:
        names.setdefault(" ".join(reason.split()).rstrip("."), []).append(name)
    return [f"{word}: {'; '.join(of_it)}: {reason}" for reason, of_it in names.items()]
