"""Charts as SVG inside the page.

A strip is a row of a chart as wide as its box: places along it are percentages, so that a chart
fits a telephone and a sheet of paper, and its letters keep their size.
"""

from __future__ import annotations

import math

import attrs
import numpy as np
import pandas as pd

from mklkit.display.markup import EMPTY, Html, breakable, element, joined
from mklkit.display.numbers import number, percent

__all__ = ["Axis", "accuracy_chart", "calibration_chart", "chart", "round_step", "strip"]

MOST_STEPS = 5
"""Of an axis between the values; one more may come at each end."""
LEAST_WIDTH = 0.1
PLOT = 200
MARGIN = 34
"""Width of a calibration chart's plot and of the space for its labels, in pixels."""

FORMS = {
    "one kernel": "M-5-5h10v10h-10z",
    "classifier": "M0-6 6 5h-12z",
    "baseline": "M0-6.5 6.5 0 0 6.5-6.5 0z",
}


def round_step(width: float, most: int) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that fits at most so often.

    Examples
    --------
    >>> round_step(13.0, 5), round_step(0.9, 5)
    (5.0, 0.2)
    """
    power = 10.0 ** math.floor(math.log10(width / most))
    return next(power * one for one in (1, 2, 5, 10) if width / (power * one) <= most)


@attrs.frozen
class Axis:
    """An axis that begins and ends at the first and last of its ticks, evenly apart."""

    ticks: tuple[float, ...]

    @classmethod
    def around(cls, values: list[float]) -> Axis:
        """Return an axis around values that are finite."""
        low, high = min(values), max(values)
        step = round_step(max(high - low, LEAST_WIDTH), MOST_STEPS)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls(tuple(one * step for one in range(first, max(last, first + 1) + 1)))

    def place(self, value: float) -> str:
        """Return where a value lies, in percent of the axis."""
        share = (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return f"{round(100 * min(max(share, 0), 1), 2):g}%"

    def labels(self) -> Html:
        """Return the numbers below the chart."""
        texts = [
            element("text", f"{tick:g}", x=self.place(tick), y="1em", text_anchor="middle")
            for tick in self.ticks
        ]
        return element("svg", *texts, class_="axis", aria_hidden="true")


def strip(axis: Axis, value: float, low: float, high: float, kind: str = "method") -> Html:
    """Return a row of a chart: a mark at the value, and a line from low to high."""
    parts = []
    if not (math.isnan(low) or math.isnan(high)):
        ends = {"x1": axis.place(low), "x2": axis.place(high), "y1": "50%", "y2": "50%"}
        parts.append(element("line", class_="spread", **ends))
    parts.append(_mark(kind, axis.place(value)))
    # The style draws the grid.
    class_ = f"strip by-{len(axis.ticks) - 1} {kind.replace(' ', '-')}"
    return element("svg", *parts, class_=class_, aria_hidden="true")


def _mark(kind: str, x: str) -> Html:
    """Return a kind's mark; they differ in form too, as colours may not be seen."""
    if kind == "method":
        return element("circle", cx=x, cy="50%", r="5")
    # Percentages place an inner drawing, in which the form is given in pixels.
    form = FORMS[kind]
    return element("svg", element("path", d=form), x=x, y="50%", class_="mark")


def accuracy_chart(table: pd.DataFrame, caption: str) -> Html:
    """Return mean accuracies with intervals, in the order of the table.

    Parameters
    ----------
    table : pandas.DataFrame
        As :meth:`mklkit.Comparison.table` returns it.
    caption : str
    """
    scored = table[table["accuracy"].notna()]
    if scored.empty:
        return EMPTY
    values = 100 * scored[["accuracy", "low", "high"]].to_numpy(dtype=float)
    axis = Axis.around(values[~np.isnan(values)].tolist())
    lines = [
        joined(
            element("span", breakable(method), class_="name"),
            strip(axis, found[0], found[1], found[2], kind),
            element("span", percent(found[0] / 100), class_="value"),
        )
        for method, kind, found in zip(
            scored["method"], scored["kind"], values.tolist(), strict=True
        )
    ]
    return chart(lines, axis, caption)


def chart(lines: list[Html], axis: Axis, caption: object) -> Html:
    """Return a figure of lines of a name, a strip and a value."""
    return element(
        "figure",
        element("figcaption", caption),
        element(
            "div",
            *(element("div", line, class_="line") for line in lines),
            element("div", element("span"), axis.labels(), element("span"), class_="line"),
            class_="chart",
        ),
    )


def calibration_chart(name: str, bins: pd.DataFrame) -> Html:
    """Return how often events happened beside their predicted probability.

    Parameters
    ----------
    name : str
        The method.
    bins : pandas.DataFrame
        ``rows``, the sums of ``probability``, and ``hits``, per bin.
    """
    bins = bins[bins["rows"] > 0]
    told, held = bins["probability"] / bins["rows"], bins["hits"] / bins["rows"]
    error = float((bins["rows"] * (told - held).abs()).sum() / bins["rows"].sum())
    radii = 2.5 + 5 * np.sqrt(bins["rows"] / bins["rows"].max())
    xs, ys = MARGIN + PLOT * told, PLOT * (1 - held) + 8
    dots = [
        element("circle", cx=round(a, 1), cy=round(b, 1), r=round(r, 1))
        for a, b, r in zip(xs, ys, radii, strict=True)
    ]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(xs, ys, strict=True))
    frame = {"x": MARGIN, "y": 8, "width": PLOT, "height": PLOT}
    labels = []
    for tick in (0.0, 0.5, 1.0):
        x, y = MARGIN + PLOT * tick, PLOT * (1 - tick) + 12
        labels += [
            element("text", f"{tick:g}", x=x, y=PLOT + 24, text_anchor="middle"),
            element("text", f"{tick:g}", x=MARGIN - 6, y=y, text_anchor="end"),
        ]
    drawing = element(
        "svg",
        element("rect", class_="frame", **frame),
        element("line", class_="even", x1=MARGIN, y1=PLOT + 8, x2=MARGIN + PLOT, y2=8),
        element("polyline", points=path, class_="spread"),
        *dots,
        *labels,
        class_="calibration",
        width=MARGIN + PLOT + 12,
        height=PLOT + 30,
        role="img",
        aria_label=f"Calibration of {name}",
    )
    words = f" – off by {number(100 * error, 1)} points on average"
    return element("figure", element("figcaption", element("b", name), words), drawing)
