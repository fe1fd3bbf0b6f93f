"""The tables of scores, confusions and alignments, which each renderer shows in its way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mklkit.display import numbers
from mklkit.display.table import Bar, Column, ResultTable, Row

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mklkit.protocols import Task

THREE_DECIMALS = partial(numbers.number, digits=3)
FOUR_DIGITS = partial(numbers.significant, digits=4)
MOST_CLASSES = 12
"""With more classes the worst are listed instead of the confusion matrix."""
MOST_PAIRS = 20
"""The most confused pairs of classes that are shown."""


def scores_result(
    task: Task, parts: Sequence[Row], first: str | None = None, with_time: bool = False
) -> ResultTable:
    """Return the scores of named parts of the samples; the ``first`` is the one that counts.

    A part has a ``name``, the number of its ``rows``, the scores of the task by their keys and, if
    they are means, their standard deviations under the keys with ``_std``.
    """
    ordered = sorted(task.labeled, key=lambda score: score.key != first)
    scores = [
        Column(
            score.key,
            score.words,
            score.written,
            absent=score.written(None),
            deviation=f"{score.key}_std",
        )
        for score in ordered
    ]
    time = [Column("seconds", "time", numbers.duration)] * with_time
    rows = [{"rows": None, **part} for part in parts]
    names = Column("name", ""), Column("rows", "samples", numbers.whole, absent="")
    return ResultTable([*names, *scores, *time], rows)


def confusion_result(
    score: Mapping[str, Any],
    part: str,
    style: Callable[[int, Row], str] | None = None,
    caption: str = "",
) -> ResultTable:
    """Return the confusion matrix of the scores of classes, with the recall of each class.

    ``style`` returns the style of the cell of a predicted class, by its place, and a sample.
    """
    places = range(len(score["classes"]))
    predicted = [
        Column(
            str(place),
            f"as {label}",
            numbers.whole,
            style=None if style is None else partial(style, place),
        )
        for place, label in enumerate(score["classes"])
    ]
    confusion = score["confusion"]
    rows = [
        {**row, "place": place, **{str(other): confusion[place][other] for other in places}}
        for place, row in enumerate(_classes(score))
    ]
    return ResultTable([*_class_columns(part), *predicted], rows, caption)


def classes_result(score: Mapping[str, Any], part: str) -> ResultTable:
    """Return the recall of each class and its commonest confusion, the worst of many classes."""
    labels, confusion = score["classes"], score["confusion"]
    rows = []
    for place, row in enumerate(_classes(score)):
        wrong = [0 if other == place else n for other, n in enumerate(confusion[place])]
        likely = f"{labels[wrong.index(max(wrong))]} ({max(wrong)})" if any(wrong) else ""
        rows.append({**row, "likely": likely, "place": place})
    scored = [row for row in rows if row["rows"]]
    worst = sorted(scored, key=lambda row: row["recall"])[:MOST_CLASSES]
    more = len(scored) - len(worst)
    return ResultTable(
        [*_class_columns(part), Column("likely", "mostly taken for")],
        sorted(worst, key=lambda row: row["place"]),
        rest=f"and {more} classes of higher recall (--json)" if more else "",
    )


def _class_columns(part: str) -> list[Column]:
    return [
        Column("class", part),
        Column("rows", "n", numbers.whole),
        Column("recall", "recall", numbers.percentage, absent=""),
    ]


def _classes(score: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return label, number of samples and recall of each class."""
    parts = zip(score["classes"], score["confusion"], score["recall"], strict=True)
    return [
        {"class": label, "rows": sum(answers), "recall": recall if any(answers) else None}
        for label, answers, recall in parts
    ]


def confused_pairs_result(counts: NDArray[np.int64], labels: Sequence[str]) -> ResultTable:
    """Return the most frequent confusions of many classes, from counts (C, C)."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    wrong = np.where(np.eye(len(labels), dtype=bool), 0, counts)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_PAIRS]
    pairs = zip(*np.unravel_index(order, wrong.shape), strict=True)
    rows = [
        {"true": labels[i], "predicted": labels[j], "rows": wrong[i, j], "share": shares[i, j]}
        for i, j in pairs
        if wrong[i, j]
    ]
    columns = [
        Column("true", "true"),
        Column("predicted", "predicted"),
        Column("rows", "samples", numbers.whole),
        Column("share", "of the class", numbers.percentage),
    ]
    caption = f"The most frequent confusions of {len(labels)} classes."
    return ResultTable(columns, rows, caption)


def calibration_result(errors: Mapping[str, float]) -> ResultTable:
    """Return the mean difference between predicted and observed frequencies of each method."""
    columns = [
        Column("method", "Method"),
        Column("error", "Off by", numbers.percent, "points"),
        Bar("error", ""),
    ]
    rows = [{"method": method, "error": error} for method, error in errors.items()]
    return ResultTable(columns, rows, "Mean difference between predicted and observed frequency.")


def alignment_result(alignments: pd.DataFrame) -> ResultTable:
    """Return the alignments of kernels, numbered in the heads and named in the samples."""
    places = range(1, len(alignments) + 1)
    values = alignments.to_numpy(dtype=float).tolist()
    rows = [
        {"place": place, "kernel": name, **dict(zip(map(str, places), row, strict=True))}
        for place, name, row in zip(places, alignments.index, values, strict=True)
    ]
    columns = [Column(str(place), str(place), THREE_DECIMALS) for place in places]
    return ResultTable([Column("place", ""), Column("kernel", "kernel"), *columns], rows)


def measures_result(measures: pd.DataFrame) -> ResultTable:
    """Return the measures of kernels."""
    columns = [
        Column(name, name.replace("_", " "), FOUR_DIGITS, short=name.replace("_", "\n"))
        for name in map(str, measures.columns)
    ]
    rows: list[Row] = list(measures.rename_axis("kernel").reset_index().to_dict("records"))
    return ResultTable([Column("kernel", "kernel"), *columns], rows)
