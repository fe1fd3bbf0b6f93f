"""What the report says about one data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mklkit.comparison.report.confusion import confusion_table
from mklkit.comparison.report.tables import Cell, Head, Table, methods_table, number_cell
from mklkit.display.html import bar
from mklkit.display.numbers import number, percent
from mklkit.plotting.comparison import ComparisonDisplay
from mklkit.plotting.curves import CalibrationDisplay
from mklkit.plotting.svg import svg_of

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison
    from mklkit.comparison.running import Cell as Run

__all__ = ["results_on"]

CONFUSIONS = 3
"""Methods with the best accuracy whose confusion matrices are shown, and the best of each kind."""
MOST_KERNELS = 25
MOST_CURVES = 6
NOTE = (
    "Means over the splits ± standard deviation, with a 95 % interval by the variance of the"
    " corrected test. “p corrected”: corrected resampled t-test against the best (Nadeau and"
    " Bengio 2003) with Holm's correction. “p paired”: the ordinary paired t-test without"
    " correction, which papers often use and which finds differences that are not there too often."
    " Fit: seconds, tuning included. Rise of memory: of the process's peak during the fit. What"
    " methods share on the same rows is made once and counted with the first of them."
)


def results_on(comparison: Comparison, name: str) -> dict[str, Any]:
    """Return the parts of the section on one data set.

    Parameters
    ----------
    comparison : Comparison
    name : str
        The data set's.
    """
    methods = comparison.table(name)
    runs = comparison.compared_cells(name)
    names = [facts["name"] for facts in comparison.plan["data"]]
    place = names.index(name)
    labels = [str(label) for label in comparison.plan["data"][place]["classes"]]
    chart = None
    if methods["accuracy"].notna().any():
        chart = svg_of(ComparisonDisplay(methods), f"Mean accuracy on {name}")
    return {
        "id": f"data-{place + 1}",
        "name": name,
        "methods": methods_table(methods, f"Methods on {name}.", "" if place else NOTE),
        "accuracy": chart,
        "weights": _weights(methods, runs),
        "confusions": _confusions(methods, runs, labels),
        **_calibration(name, methods, runs, labels),
    }


def _by_method(
    methods: pd.DataFrame, runs: list[Run], get: Callable[[Run], Any]
) -> dict[str, list[Any]]:
    """Return what each method's runs have, the best method first, without those without any."""
    values: dict[str, list[Any]] = {str(name): [] for name in methods["method"]}
    for run in runs:
        if (value := get(run)) is not None:
            values[run.method].append(value)
    return {name: of_runs for name, of_runs in values.items() if of_runs}


def _weights(methods: pd.DataFrame, runs: list[Run]) -> list[Table]:
    """Return a table of weights per method with several kernels, its kernels in their order."""
    by_method = _by_method(methods, runs, lambda run: run.weights)
    frames = {name: pd.DataFrame(weights).fillna(0.0) for name, weights in by_method.items()}
    frames = {name: frame for name, frame in frames.items() if frame.shape[1] > 1}
    largest = max((float(frame.abs().max().max()) for frame in frames.values()), default=0.0)
    tables = []
    for name, frame in frames.items():
        heaviest = set(frame.mean().nlargest(MOST_KERNELS).index)
        rows = []
        for kernel in filter(heaviest.__contains__, frame):
            weights = frame[kernel]
            mean, low, high = float(weights.mean()), float(weights.min()), float(weights.max())
            deviation = f" ± {number(weights.std(), 2)}" if len(weights) > 1 else ""
            spread = f"{number(low, 2)} to {number(high, 2)}" if len(weights) > 1 else ""
            cells = [Cell(bar(mean, largest, (low, high))), Cell(spread)]
            rows.append([Cell(kernel), number_cell(mean, number(mean, 2) + deviation), *cells])
        more = frame.shape[1] - len(rows)
        rest = f"The {len(rows)} heaviest of {frame.shape[1]} kernels." if more else ""
        heads = [Head("Kernel"), Head("Mean weight"), Head(""), Head("Lowest to highest")]
        tables.append(Table(name, heads, rows, "weights", rest))
    return tables


def _confusions(
    methods: pd.DataFrame, runs: list[Run], labels: list[str]
) -> list[tuple[str, str, Table]]:
    """Return name, accuracy and matrix of the best methods and of the best of each kind."""
    counts = _by_method(methods, runs, lambda run: run.confusion)
    known = methods[methods["method"].isin(list(counts))]
    best = pd.concat([known.head(CONFUSIONS), known.drop_duplicates("kind")]).sort_index()
    best = best.drop_duplicates("method")
    return [
        (name, percent(accuracy), confusion_table(np.sum(counts[name], axis=0), labels))
        for name, accuracy in zip(best["method"], best["accuracy"], strict=True)
    ]


def _calibration(
    name: str, methods: pd.DataFrame, runs: list[Run], labels: list[str]
) -> dict[str, Any]:
    """Return how often events happened beside their predicted probability, and the errors."""
    curves, rows = {}, []
    by_method = _by_method(methods, runs, lambda run: run.calibration)
    for method, parts in by_method.items():
        bins = sum(map(pd.DataFrame, parts[1:]), pd.DataFrame(parts[0]))
        bins = bins[bins["rows"] > 0]
        predicted, happened = bins["probability"] / bins["rows"], bins["hits"] / bins["rows"]
        error = float((bins["rows"] * (predicted - happened).abs()).sum() / bins["rows"].sum())
        curves[method] = predicted.to_numpy(), happened.to_numpy()
        rows.append((method, error))
    if not rows:
        return {"calibration": None}
    event = f"class {labels[1]}" if len(labels) == 2 else "the likeliest class"
    largest = max(error for _, error in rows)
    first = dict(list(curves.items())[:MOST_CURVES])
    cells = [
        [Cell(method), number_cell(error, number(100 * error, 1)), Cell(bar(error, largest))]
        for method, error in rows
    ]
    heads = [Head("Method"), Head("Off by", "points"), Head("")]
    errors = Table("Mean difference of predicted and happened.", heads, cells, "weights")
    return {
        "calibration": svg_of(CalibrationDisplay(first), f"Calibration on {name}"),
        "errors": errors,
        "event": event,
        "curves": len(first),
        "probabilistic": len(rows),
    }
