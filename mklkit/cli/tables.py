"""What several commands print of a model: its data, components, weights and scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
from rich.table import Table as Grid

from mklkit.display.numbers import chosen_texts, seconds
from mklkit.display.table import Bar, Column
from mklkit.display.terminal import Fact, FirstThatFits, terminal_list, terminal_table
from mklkit.errors import counted

if TYPE_CHECKING:
    from mklkit.protocols import Task

COMPONENTS = {"combiner": "combiner", "feature_map": "map", "learner": "learner"}
MOST_CHOSEN = 8
PARTS = {
    "train": "train",
    "held_out": "held out",
    "complete": "held out,\nall sources",
    "incomplete": "held out,\nmiss a source",
}


def data_line(table: Any, notes: list[str]) -> Fact:
    """Return the lines on the data."""
    return "data", [f"{table.summary()} ({table.origin})", *notes]


def model_line(model: dict[str, Any], choices: Sequence[str]) -> Fact:
    """Return the lines on a model's components and on the choices made for them."""

    parts = [f"{word} {model[key]}" for key, word in COMPONENTS.items() if model.get(key)]
    if len(model.get("classes", [])) > 2 and model.get("multiclass"):
        parts.append(model["multiclass"])
    if "members" in model:
        parts.append(f"vote of {model['members']}")
    return "model", [", ".join(parts), *choices]


def chosen_line(model: dict[str, Any]) -> list[Fact]:
    """Return the lines on the numbers that a fit chose, as ranges over problems."""
    texts = chosen_texts(model.get("chosen", {}))
    more = len(texts) - MOST_CHOSEN
    text = ", ".join(texts[:MOST_CHOSEN]) + (f" and {more} more (--json)" if more > 0 else "")
    return [("chosen", text)] if texts else []


def learned_line(metadata: dict[str, Any]) -> str:
    """Return how many samples the model has learned from, and how many the scored one has."""
    rows = metadata["model"]["rows"]
    time = seconds(metadata["seconds"])
    scored = metadata.get("scored_model", {"rows": rows})
    if scored["rows"] == rows:
        return f"learned from {counted(rows, 'sample')} in {time}"
    return (
        f"scores of a model of {counted(scored['rows'], 'sample')} ({seconds(scored['seconds'])});"
        f" the saved model has learned from all {rows} ({time})"
    )


def weights_table(model: dict[str, Any]) -> FirstThatFits:
    """Return the table of kernel weights, one row per kernel, each with a bar.

    A narrow terminal loses first the bar and then the range.
    """
    from mklkit.estimators.weights_table import weights_result

    weights: dict[str, list[float]] = {kernel["name"]: [] for kernel in model["kernels"]}
    for row in model["weights"]:
        weights[row["kernel"]].append(math.nan if row["weight"] is None else row["weight"])
    n_problems = len({str(row["problem"]) for row in model["weights"]})
    names = [{"kernel": name} for name in weights]
    table = weights_result(names, list(weights.values()), n_problems)
    flat = [attrs.evolve(column, short=column.head) for column in table.columns]
    without_bar = table.keeping(lambda column: not isinstance(column, Bar))
    layouts = [
        attrs.evolve(table, columns=flat),
        table,
        attrs.evolve(table, columns=[_shorter(column) for column in table.columns]),
        without_bar,
        without_bar.without("range"),
    ]
    return FirstThatFits.of(layouts)


def _shorter(column: Column) -> Column:
    """Return a column with bars of half the length."""
    return attrs.evolve(column, length=column.length // 2) if isinstance(column, Bar) else column


def decisive_score(scores: dict[str, dict[str, Any] | None]) -> tuple[str, dict[str, Any]]:
    """Return the scores for assessing a model: of held-out samples if there are any."""
    part = "train" if scores["held_out"] is None else "held_out"
    return PARTS[part], scores[part] or {}


def scores_tables(
    task: Task, scores: dict[str, dict[str, Any] | None], first: str | None = None
) -> list[Grid | FirstThatFits]:
    """Return the scores of each part of the samples, and those of each class on the decisive part.

    The scores are those of the ``task`` of a name; the ``first`` of them is the one that counts.
    """
    part, decisive = decisive_score(scores)
    known = {PARTS[key]: score for key, score in scores.items() if score is not None}
    table = parts_table(task, known, first)
    return [table, class_table(decisive, part)] if "confusion" in decisive else [table]


def parts_table(task: Task, scores: dict[str, dict[str, Any]], first: str | None = None) -> Grid:
    """Return the scores of parts of the samples, by their names, side by side."""
    from mklkit.evaluation.result_tables import scores_result

    parts = [{"name": name, **score} for name, score in scores.items()]
    return terminal_list(scores_result(task, parts, first))


def class_table(score: dict[str, Any], part: str) -> FirstThatFits:
    """Return the confusion matrix if it fits, else each class's recall and commonest confusion."""
    from mklkit.evaluation.result_tables import MOST_CLASSES, classes_result, confusion_result

    layouts = [classes_result(score, part)]
    if len(score["classes"]) <= MOST_CLASSES:
        layouts.insert(0, confusion_result(score, part))
    return FirstThatFits([terminal_table(layout, lambda _: "bold") for layout in layouts])
