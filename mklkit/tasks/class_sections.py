"""The sections of a report about classes: what is confused, and how exact probabilities are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.display.numbers import percent
from mklkit.display.section import FoldedTable, Picture, Section
from mklkit.display.table import ResultTable, Row
from mklkit.evaluation.result_tables import (
    calibration_result,
    confused_pairs_result,
    confusion_result,
)

CONFUSIONS = 3
"""The number of best methods whose confusion matrices are shown, besides the best of each kind."""
MOST_CLASSES = 20
"""With more classes, the most confused pairs are shown and no matrix."""
SHADES = 5
MOST_CURVES = 6


def class_sections(
    data: Mapping[str, Any], methods: pd.DataFrame, details: Mapping[str, Sequence[Any]]
) -> Iterator[Section]:
    """Yield the sections, of what runs have kept; those of methods, the best first."""
    labels = [str(label) for label in data["classes"]]
    if confusions := _by_method(details, "confusion"):
        yield _confusions(methods, confusions, labels)
    if bins := _by_method(details, "calibration"):
        yield _calibration(str(data["name"]), bins, labels)


def _by_method(details: Mapping[str, Sequence[Any]], key: str) -> dict[str, list[Any]]:
    """Return a value of each method's runs, without methods that lack it."""
    values = {name: [run[key] for run in runs if key in run] for name, runs in details.items()}
    return {name: of_runs for name, of_runs in values.items() if of_runs}


def _confusions(
    methods: pd.DataFrame, counts: Mapping[str, list[Any]], labels: list[str]
) -> Section:
    """Return the matrices of the best methods and of the best of each kind."""
    known = methods[methods["method"].isin(list(counts))]
    best = known[(np.arange(len(known)) < CONFUSIONS) | ~known["kind"].duplicated()]
    sums = {name: np.sum(counts[name], axis=0) for name in best["method"]}
    tables = [
        FoldedTable(
            confusion_table(matrix, labels),
            "confusion",
            name,
            f"{percent(matrix.trace() / matrix.sum())} % accuracy",
        )
        for name, matrix in sums.items()
    ]
    return Section("Confusion matrices", tables)


def confusion_table(counts: NDArray[np.int64], labels: list[str]) -> ResultTable:
    """Return counts (C, C) by true and predicted class, darker for a larger share of a row."""
    if len(labels) > MOST_CLASSES:
        return confused_pairs_result(counts, labels)
    n_rows = counts.sum(axis=1)
    shares = counts / np.maximum(n_rows, 1)[:, None]
    shades = np.ceil(shares * SHADES).astype(int)

    def style(place: int, row: Row) -> str:
        kind = "right" if row["place"] == place else "wrong"
        return f"{kind}-{shades[row['place'], place]}"

    score = {"classes": labels, "confusion": counts.tolist(), "recall": np.diag(shares).tolist()}
    caption = "Test samples by true and predicted class, summed over the splits."
    return confusion_result(score, "true class", style, caption)


def _calibration(name: str, bins_of: Mapping[str, list[Any]], labels: list[str]) -> Section:
    """Return the observed frequencies of events by predicted probability, and the errors."""
    from mklkit.plotting import CurvesDisplay  # models and their estimators

    curves, errors = {}, {}
    for method, parts in bins_of.items():
        bins = sum(map(pd.DataFrame, parts[1:]), pd.DataFrame(parts[0]))
        bins = bins[bins["rows"] > 0]
        predicted, happened = bins["probability"] / bins["rows"], bins["hits"] / bins["rows"]
        errors[method] = float(np.average((predicted - happened).abs(), weights=bins["rows"]))
        curves[method] = predicted.to_numpy(), happened.to_numpy()
    first = dict(list(curves.items())[:MOST_CURVES])
    event = f"class {labels[1]}" if len(labels) == 2 else "the likeliest class"
    more = f", and of the others all but the first {len(first)}" if len(curves) > len(first) else ""
    caption = (
        f"How often what was predicted happened: {event}, in ten bins over all splits. On the line"
        " from corner to corner both are equal. Methods without probabilities are"
        f" omitted{more}."
    )
    display = CurvesDisplay(
        first, "predicted probability", "how often it happened", has_diagonal=True
    )
    picture = Picture(display, caption, f"Calibration on {name}")
    return Section("Calibration", [picture, calibration_result(errors)])
