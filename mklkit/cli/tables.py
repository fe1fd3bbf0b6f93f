"""Printed results: facts line by line, and tables for the available width."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from mklkit.cli.console import plain
from mklkit.display.numbers import number, percent
from mklkit.display.table import Column
from mklkit.errors import counted

Fact = tuple[str, str | list[str]]
"""A name, and what is printed beside it in one or several lines."""
COMPONENTS = {"combiner": "combiner", "feature_map": "map", "learner": "learner"}
BAR_LENGTHS = (30, 15, 0)
NAME_WIDTH = 24
"""Longer names are folded before a simpler layout of the table is tried."""
UNBOUNDED = 10_000
MOST_CHOSEN = 8
MOST_CLASSES = 12
"""With more classes the worst are listed instead of the confusion matrix."""
PARTS = {
    "train": "train",
    "held_out": "held out",
    "complete": "held out,\nall sources",
    "lacking": "held out,\nlack a source",
}


def facts_grid(metadata: Iterable[Fact]) -> Grid:
    """Return names with one or several lines of text each, side by side."""
    table = Grid.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, lines in metadata:
        for place, line in enumerate([lines] if isinstance(lines, str) else lines):
            table.add_row(Text(name if place == 0 else ""), Text(plain(line)))
    return table


def data_line(table: Any, notes: list[str]) -> Fact:
    """Return the lines on the data."""
    return "data", [f"{table.summary()} ({table.origin})", *notes]


def model_line(model: dict[str, Any], choices: Sequence[str]) -> Fact:
    """Return the lines on a model's components and on the choices made for them."""
    from mklkit.estimators.introspection import shortened

    parts = [f"{word} {model[key]}" for key, word in COMPONENTS.items() if model.get(key)]
    if len(model.get("classes", [])) > 2 and model.get("multiclass"):
        parts.append(model["multiclass"])
    if "members" in model:
        parts.append(f"vote of {model['members']}")
    return "model", [", ".join(parts), *shortened(list(choices))]


def chosen_line(model: dict[str, Any]) -> list[Fact]:
    """Return the lines on the numbers that a fit chose, as ranges over problems."""
    from mklkit.display.numbers import chosen_texts

    texts = chosen_texts(model.get("chosen", {}))
    more = len(texts) - MOST_CHOSEN
    text = ", ".join(texts[:MOST_CHOSEN]) + (f" and {more} more (--json)" if more > 0 else "")
    return [("chosen", text)] if texts else []


def learned_line(metadata: dict[str, Any]) -> str:
    """Return how many rows the model has learned from, and how many the scored one has."""
    rows, time = metadata["model"]["rows"], f"{metadata['seconds']:.2f} s"
    scored = metadata.get("scored_model", {"rows": rows})
    if scored["rows"] == rows:
        return f"learned from {counted(rows, 'row')} in {time}"
    return (
        f"scores of a model of {counted(scored['rows'], 'row')} ({scored['seconds']:.2f} s);"
        f" the saved model has learned from all {rows} ({time})"
    )


def grid(name: str, *numbers: str, words: Sequence[str] = (), **settings: Any) -> Grid:
    """Return a table with columns of names, numbers and further words, without rows."""
    table = Grid(box=box.SIMPLE_HEAD, pad_edge=False, **settings)
    table.add_column(Text(plain(name)), overflow="fold")
    for head in numbers:
        table.add_column(Text(plain(head)), justify="right", no_wrap=True)
    for head in words:
        table.add_column(Text(plain(head)), overflow="fold")
    return table


def result_columns(columns: Sequence[Column], **settings: Any) -> Grid:
    """Return a table with the columns of a table of results, by their short heads, without rows."""
    names = [column.short for column in columns if not column.is_number]
    table = grid(names[0], words=names[1:], **settings)
    for column in columns:
        if column.is_number:
            table.add_column(Text(plain(column.short)), justify="right", no_wrap=True)
    return table


def alignment_grid(alignments: Any) -> Grid:
    """Return a table of alignments, with kernels numbered in the head and named in the rows."""
    table = Grid(box=box.SIMPLE)
    table.add_column("")
    table.add_column("kernel")
    for place in range(1, len(alignments) + 1):
        table.add_column(str(place), justify="right")
    for place, (name, row) in enumerate(alignments.iterrows(), 1):
        table.add_row(str(place), Text(plain(name)), *(number(value, 3) for value in row))
    return table


def measures_grid(measures: Any) -> Grid:
    """Return a table of the measures of kernels."""
    table = grid("kernel", *(name.replace("_", "\n") for name in measures.columns))
    for name, row in measures.iterrows():
        table.add_row(Text(plain(name)), *(f"{value:.4g}" for value in row))
    return table


@attrs.frozen
class FirstThatFits:
    """Layouts of one table, the richest first; the first that fits is shown, or the last."""

    layouts: Sequence[Grid]
    longest_name: int = 0
    """In the first column, which is folded."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table for the available width."""
        available = options.max_width + max(0, self.longest_name - NAME_WIDTH)
        wide = options.update(max_width=UNBOUNDED)
        for layout in self.layouts:
            if Measurement.get(console, wide, layout).maximum <= available:
                break
        yield layout


def spread(row: Mapping[Any, Any], name: str, scale: int, digits: int, shown: bool = True) -> Text:
    """Return a mean with its deviation."""
    value = number(scale * row[name], digits)
    if shown and not math.isnan(row[name]):
        value += f" ± {number(scale * row[f'{name}_std'], digits)}"
    return Text(value)


def weights_table(model: dict[str, Any]) -> FirstThatFits:
    """Return the table of kernel weights, one row per kernel, each with a bar.

    Several binary problems, or clusters of rows, are summarised by their mean and range. A
    narrow terminal loses first the bar and then the range.
    """
    weights: dict[str, list[float]] = {kernel["name"]: [] for kernel in model["kernels"]}
    for row in model["weights"]:
        weights[row["kernel"]].append(float("nan") if row["weight"] is None else row["weight"])
    n_weights = max(map(len, weights.values()))
    n_problems = len({str(row["problem"]) for row in model["weights"]})
    parts = [f"{n_problems} problems"] * (n_problems > 1) + ["clusters"] * (n_weights > n_problems)
    over = " and ".join(parts) if n_weights > 1 else ""
    layouts = [_weights_grid(weights, over, bar, True) for bar in BAR_LENGTHS]
    layouts = [_weights_grid(weights, over, BAR_LENGTHS[0], True, " "), *layouts]
    layouts.append(_weights_grid(weights, over, 0, False))
    return FirstThatFits(layouts, max(len(plain(name)) for name in weights))


def _weights_grid(
    weights: dict[str, list[float]], over: str, bar: int, shows_range: bool, joint: str = "\n"
) -> Grid:
    table = grid("kernel", f"mean{joint}weight" if over else "weight")
    if bar:
        table.add_column("", width=bar, no_wrap=True)
    if shows_range and over:
        table.add_column(f"range over{joint}{over}", no_wrap=True)
    means = {name: sum(values) / len(values) for name, values in weights.items()}
    largest = max((abs(mean) for mean in means.values()), default=0.0) or 1.0
    block = "█" if (sys.stdout.encoding or "").lower().startswith("utf") else "#"
    for name, mean in means.items():
        cells = [Text(plain(name)), Text(number(mean, 3))]
        if bar:
            share = 0.0 if math.isnan(mean) else abs(mean) / largest
            cells.append(Text(block * round(share * bar), style="cyan"))
        if shows_range and over:
            cells.append(Text(" to ".join(number(end(weights[name]), 3) for end in (min, max))))
        table.add_row(*cells)
    return table


def decisive_score(scores: dict[str, dict[str, Any] | None]) -> tuple[str, dict[str, Any]]:
    """Return the scores for assessing a model: of held-out rows if there are any."""
    part = "train" if scores["held_out"] is None else "held_out"
    return PARTS[part], scores[part] or {}


def scores_tables(
    scores: dict[str, dict[str, Any] | None], first: str | None = None
) -> list[Grid | FirstThatFits]:
    """Return the scores of each part of the rows, and those of each class on the decisive part.

    The ``first`` of the scores is the one that counts.
    """
    from mklkit.evaluation.tasks import Classes, Numbers

    part, decisive = decisive_score(scores)
    task = Numbers() if "r2" in decisive else Classes()
    known = {key: score for key, score in scores.items() if score is not None}
    table = parts_grid(task, known, first)
    return [table, class_table(decisive, part)] if "confusion" in decisive else [table]


def scores_in_order(task: Any, first: str | None) -> dict[str, str]:
    """Return the words for a task's scores by their keys, with the one that counts first."""
    ordered = sorted(task.labeled, key=lambda score: score.key != first)
    return {score.key: score.words for score in ordered}


def parts_grid(task: Any, scores: dict[str, dict[str, Any]], first: str | None = None) -> Grid:
    """Return the scores of parts of the rows, side by side."""
    table = grid("", *(PARTS[key] for key in scores))
    table.add_row("rows", *(str(score["rows"]) for score in scores.values()))
    for key, words in scores_in_order(task, first).items():
        table.add_row(words, *(task.shown(key, score[key]) for score in scores.values()))
    return table


def class_table(score: dict[str, Any], rows: str) -> FirstThatFits:
    """Return the confusion matrix if it fits, else each class's recall and commonest confusion."""
    labels = [plain(label) for label in score["classes"]]
    counts = [sum(answers) for answers in score["confusion"]]
    shares = zip(score["recall"], counts, strict=True)
    recalls = [f"{percent(recall)}%" if n else "" for recall, n in shares]
    listing = grid(rows, "rows", "recall", words=["mostly taken for"])
    scored = [place for place, n in enumerate(counts) if n]
    worst = sorted(scored, key=lambda place: score["recall"][place])[:MOST_CLASSES]
    for place in sorted(worst):
        wrong = [0 if at == place else n for at, n in enumerate(score["confusion"][place])]
        likely = f"{labels[wrong.index(max(wrong))]} ({max(wrong)})" if any(wrong) else ""
        name = Text(labels[place], style="bold")
        listing.add_row(name, str(counts[place]), recalls[place], Text(likely))
    if len(scored) > len(worst):
        listing.caption = f"and {len(scored) - len(worst)} classes of higher recall (--json)"
        listing.caption_justify = "left"
    if len(labels) > MOST_CLASSES:
        return FirstThatFits([listing])
    matrix = grid(rows, "rows", "recall", *(f"as {label}" for label in labels))
    for place, answers in enumerate(score["confusion"]):
        name = Text(labels[place], style="bold")
        matrix.add_row(name, str(counts[place]), recalls[place], *map(str, answers))
    return FirstThatFits([matrix, listing])
