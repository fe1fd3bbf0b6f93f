"""A reproduction as rows of text: cells for a terminal, Markdown for pages, LaTeX for papers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date

from mklkit._version import __version__
from mklkit.comparison.writing import latex_table, latex_text
from mklkit.errors import counted
from mklkit_papers.entry import Reproduction
from mklkit_papers.lines import Line

__all__ = ["WORDS", "heads_of", "latex", "markdown", "notes_of", "rows_of", "summary"]

TESTS = ("paired p", "corrected p")
NO, YES = "no", "yes"
WORDS = 2
"""The first columns hold words, the others numbers."""


def heads_of(result: Reproduction) -> list[str]:
    """Return the heads of the table's columns."""
    heads = [*result.entry.heads, "ours"]
    if _has_printed(result):
        heads += ["published", "difference", "holds"]
    heads += list(TESTS) * _has_tests(result)
    return heads + ["published test"] * _has_printed_tests(result)


def rows_of(result: Reproduction) -> list[list[str]]:
    """Return the cells of each line that has a number of ours or a printed one."""
    printed, tests = _has_printed(result), _has_tests(result)
    printed_tests = _has_printed_tests(result)
    rows = []
    for line in result.lines:
        if math.isnan(line.ours) and line.printed is None:
            continue
        row = [line.row, line.column, _with_spread(line.ours, line.spread, line)]
        if printed:
            row += _beside(line)
        if tests:
            row += [_p(line.p_paired), _p(line.p_corrected)]
        if printed_tests:
            row.append(line.printed.test if line.printed else "")
        rows.append(row)
    return rows


def summary(result: Reproduction) -> str:
    """Return in a sentence how many numbers hold, and how many are above the published ones."""
    if not result.has_numbers:
        return "not run"
    measures = dict.fromkeys(line.measure.name for line in result.lines)
    repeats = sorted({line.repeats for line in result.lines if line.repeats})
    compared = len(result.compared)
    held = "no printed number"
    if compared:
        held = f"{result.held} of {counted(compared, 'number')} hold, {result.above} above print"
    return f"{', '.join(measures)}: {held}{_span(repeats)}"


def markdown(result: Reproduction) -> str:
    """Return the table with notes: when it was made, what is left out, what misses and why."""
    heads = heads_of(result)
    rule = ["---"] * WORDS + ["--:"] * (len(heads) - WORDS)
    rows = [[cell.replace("|", r"\|") for cell in row] for row in rows_of(result)]
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)] if rows else []
    stamp = f"mklkit {__version__}, {date.today().isoformat()}"
    notes = [f"{summary(result)} ({stamp})", *notes_of(result)]
    return "\n".join([*lines, "", *(f"- {note}." for note in notes)]).lstrip()


def rules_of(result: Reproduction) -> list[str]:
    """Return what it means that a number holds, for each measure that is compared."""
    return list(dict.fromkeys(line.measure.rule for line in result.compared))


def notes_of(result: Reproduction) -> list[str]:
    """Return what is to be said below a table: remarks on data, what is left out or missed, why."""
    against = dict.fromkeys(line.against for line in result.lines if not math.isnan(line.p_paired))
    missed = [
        (f"{line.row}, {line.column}", _reason(result.entry.why(line)))
        for line in result.compared
        if not line.holds
    ]
    return [
        *rules_of(result),
        *(f"note: {label}: {text}" for label, text in result.notes.items()),
        *(f"p values are of tests against {system}" for system in against),
        *_by_reason("left out", result.left_out.items()),
        *_by_reason("missed", missed),
    ]


def _reason(why: str) -> str:
    """Return why a number misses: known from the full run, though this may be a part of it."""
    return f"explained after the full run: {why}" if why else "not explained"


def _by_reason(word: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each reason, with the names that have it."""
    names: dict[str, list[str]] = {}
    for name, reason in pairs:
        names.setdefault(" ".join(reason.split()).rstrip("."), []).append(name)
    return [f"{word}: {'; '.join(of_it)}: {reason}" for reason, of_it in names.items()]


def latex(result: Reproduction) -> str:
    """Return the table for LaTeX (packages booktabs and, if it is long, longtable)."""
    rows = [
        [
            *(latex_text(cell) for cell in row[:WORDS]),
            *(latex_text(cell.replace("-", "−")) for cell in row[WORDS:]),
        ]
        for row in rows_of(result)
    ]
    heads = [latex_text(head) for head in heads_of(result)]
    told = ". ".join([f"{result.entry.title}: {summary(result)}", *rules_of(result)]) + "."
    return latex_table(heads, rows, told, left=WORDS, label=f"tab:{result.entry.name}")


def _span(repeats: list[int]) -> str:
    if not repeats:
        return ""
    least, most = repeats[0], repeats[-1]
    return f"; {counted(most, 'repeat') if least == most else f'{least} to {most} repeats'}"


def _beside(line: Line) -> list[str]:
    if line.printed is None:
        return ["", "", ""]
    difference = ""
    if not math.isnan(line.difference):
        difference = f"{line.shown_difference:+.{line.measure.digits}f}"
    holds = "" if line.holds is None else YES if line.holds else NO
    return [_with_spread(line.printed.value, line.printed.spread, line), difference, holds]


def _with_spread(value: float, spread: float, line: Line) -> str:
    if math.isnan(value):
        return ""
    digits = line.measure.digits
    shown = f"{value:.{digits}f}"
    return shown if math.isnan(spread) else f"{shown} ± {spread:.{digits}f}"


def _p(value: float) -> str:
    if math.isnan(value):
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _has_printed(result: Reproduction) -> bool:
    return any(line.printed is not None for line in result.lines)


def _has_tests(result: Reproduction) -> bool:
    return any(not math.isnan(line.p_paired) for line in result.lines)


def _has_printed_tests(result: Reproduction) -> bool:
    return any(line.printed is not None and line.printed.test for line in result.lines)
