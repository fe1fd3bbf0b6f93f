"""What the report says about one data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mklkit.comparison.report.charts import Axis, accuracy_chart, calibration_chart, chart, strip
from mklkit.comparison.report.confusion import confusion_table
from mklkit.comparison.report.methods_table import methods_table
from mklkit.display.markup import EMPTY, Html, breakable, element, joined, section
from mklkit.display.numbers import number, percent
from mklkit.errors import counted

if TYPE_CHECKING:
    from mklkit.comparison.comparison import Comparison
    from mklkit.comparison.running import Cell

__all__ = ["results_on"]

OPEN = 4
"""Methods whose details are shown at first; those of the others unfold."""
CONFUSIONS = 3
"""Methods with the best accuracy whose confusion matrices are shown, and the best of each kind."""
MOST_KERNELS = 25
TABLE_NOTE = (
    "Means over the splits ± standard deviation, with a 95 % interval by the variance of the"
    " corrected test. “p corrected”: corrected resampled t-test against the best (Nadeau and"
    " Bengio 2003) with Holm's correction. “p paired”: the ordinary paired t-test without"
    " correction, which papers often use and which finds differences that are not there too often."
    " Fit: seconds, tuning included. Rise of memory: of the process's peak during the fit. What"
    " methods share on the same rows is made once and counted with the first of them."
)
WEIGHTS_NOTE = (
    "Means over the splits, the line from the lowest to the highest. A weight is not what a kernel"
    " is worth: kernels that are alike share it, and it depends on their scales."
)


def results_on(comparison: Comparison, name: str, title: str, level: int) -> Html:
    """Return the section of one data set.

    Parameters
    ----------
    comparison : Comparison
    name : str
        The data set's.
    title : str
    level : int
        Of its heading.
    """
    table = comparison.table(name)
    cells = comparison.compared_cells(name)
    (facts,) = (one for one in comparison.plan["data"] if one["name"] == name)
    labels = [str(label) for label in facts["classes"]]
    below = level + 1
    place = [one["name"] for one in comparison.plan["data"]].index(name)
    note = element("span", TABLE_NOTE, class_="note") if place == 0 else None
    details = joined(
        section(
            below,
            "Accuracy",
            accuracy_chart(table, "Mean accuracy in percent with its 95 % interval, best first."),
        ),
        section(below, "Kernel weights", _weights(table, cells)),
        section(below, "Confusion matrices", _confusions(table, cells, labels)),
        section(below, "Calibration", _calibration(table, cells, labels)),
    )
    if len(comparison.plan["data"]) > 1:
        details = element("details", element("summary", "Charts and confusion matrices"), details)
    return section(
        level,
        title,
        section(below, "Methods", methods_table(table, joined("Methods on ", name, ". ", note))),
        details,
        id=f"data-{place + 1}",
    )


def _by_method(
    table: pd.DataFrame, cells: list[Cell], get: Callable[[Cell], Any]
) -> dict[str, list[Any]]:
    """Return what each method's cells have, the best method first, without those without any."""
    found: dict[str, list[Any]] = {str(name): [] for name in table["method"]}
    for cell in cells:
        if (value := get(cell)) is not None:
            found[cell.method].append(value)
    return {name: values for name, values in found.items() if values}


def _folded(figures: list[Html]) -> Html:
    """Return figures side by side, all but the first few under a line that unfolds them."""
    first, others = figures[:OPEN], figures[OPEN:]
    rest = EMPTY
    if others:
        words = counted(len(others), "more method")
        rest = element("details", element("summary", words), element("div", *others, class_="few"))
    return joined(element("div", *first, class_="few"), rest)


def _weights(table: pd.DataFrame, cells: list[Cell]) -> Html:
    """Return a chart of weights per method with several kernels, its kernels in their order."""
    found = _by_method(table, cells, lambda cell: cell.weights)
    frames = {name: pd.DataFrame(values) for name, values in found.items()}
    frames = {name: frame for name, frame in frames.items() if frame.shape[1] > 1}
    if not frames:
        return EMPTY
    ends = [
        float(end) for frame in frames.values() for end in (frame.min().min(), frame.max().max())
    ]
    axis = Axis.around([0.0, *ends])
    figures = []
    for name, frame in frames.items():
        lines = []
        shown = set(frame.mean().nlargest(MOST_KERNELS).index)
        for kernel in (kernel for kernel in frame if kernel in shown):
            values = frame[kernel].fillna(0.0)
            mean = float(values.mean())
            deviation = f" ± {values.std():.2f}" if len(values) > 1 else ""
            lines.append(
                joined(
                    element("span", breakable(str(kernel)), class_="name"),
                    strip(axis, mean, float(values.min()), float(values.max())),
                    element("span", number(mean, 2), deviation, class_="value"),
                )
            )
        more = frame.shape[1] - len(lines)
        words = f" – {counted(more, 'kernel')} with less weight not shown" if more else None
        figures.append(chart(lines, axis, joined(element("b", name), words)))
    return joined(element("p", WEIGHTS_NOTE, class_="note"), _folded(figures))


def _confusions(table: pd.DataFrame, cells: list[Cell], labels: list[str]) -> Html:
    """Return the matrices of the best methods and of the best of each kind, the first unfolded."""
    found = _by_method(table, cells, lambda cell: cell.confusion)
    own = table[table["method"].isin(list(found))]
    chosen = pd.concat([own.head(CONFUSIONS), own.drop_duplicates("kind")]).sort_index()
    parts = []
    chosen = chosen.drop_duplicates("method")
    for place, (name, accuracy) in enumerate(
        zip(chosen["method"], chosen["accuracy"], strict=True)
    ):
        counts = np.sum(found[name], axis=0)
        words = f" – {percent(accuracy)} % accuracy"
        parts.append(
            element(
                "details",
                element("summary", element("b", name), words),
                confusion_table(counts, labels),
                open="" if place == 0 else None,
            )
        )
    return joined(*parts)


def _calibration(table: pd.DataFrame, cells: list[Cell], labels: list[str]) -> Html:
    """Return a chart per method that gives probabilities."""
    found = _by_method(table, cells, lambda cell: cell.calibration)
    if not found:
        return EMPTY
    what = f"class {labels[1]}" if len(labels) == 2 else "the likeliest class"
    words = (
        f"Across: the predicted probability of {what}, in ten bins over all splits; up: how often"
        " it was right. On the dashed line both are equal; a larger dot has more rows. Methods"
        " without probabilities are left out."
    )
    figures = [
        calibration_chart(name, sum(map(pd.DataFrame, values[1:]), pd.DataFrame(values[0])))
        for name, values in found.items()
    ]
    return joined(element("p", words, class_="note"), _folded(figures))
