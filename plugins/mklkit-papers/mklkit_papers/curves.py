"""Curves over one quantity, several on the same axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from mklkit.plotting.parts import COLOURS, figure_of, new_figure
from mklkit_papers.lines import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CurvesDisplay"]

WIDTH, HEIGHT = 7.0, 4.0
STYLES = ("-", "--", ":", "-.")
"""Told apart without colours."""
MARKERS = "osD^v<>PX*"
BAND = 0.15


class CurvesDisplay:
    """Curves, each with the standard deviation at its points as a band.

    Parameters
    ----------
    curves : mapping of str to sequence of (x, y, deviation)
        By name, in the order of x; a deviation that is NaN is not drawn.
    x, y : str
        What the axes show.
    base : float, optional
        Of a logarithmic horizontal axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> CurvesDisplay({"wine": [(1, 0.9, 0.1), (2, 0.95, 0.05)]}, "λ", "accuracy").curves["wine"][0]
    (1, 0.9, 0.1)
    """

    def __init__(
        self,
        curves: Mapping[str, Sequence[tuple[float, float, float]]],
        x: str,
        y: str,
        base: float | None = None,
    ) -> None:
        self.curves, self.x, self.y, self.base = curves, x, y, base

    @classmethod
    def of_lines(
        cls, lines: Iterable[Line], x: str, y: str, base: float | None = None
    ) -> CurvesDisplay:
        """Return the picture of lines, drawn: a curve per row, its places the columns."""
        curves: dict[str, list[tuple[float, float, float]]] = {}
        for line in lines:
            if not math.isnan(line.ours):
                points = curves.setdefault(line.row, [])
                points.append((float(line.column), line.ours, line.spread))
        return cls(curves, x, y, base).plot()

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curves on axes, by default those of a new figure."""
        if ax is None:
            ax = new_figure(WIDTH, HEIGHT).subplots()
        self.figure_: Figure = figure_of(ax)
        for place, (name, points) in enumerate(self.curves.items()):
            places, means, deviations = zip(*points, strict=True)
            style, marker = STYLES[place % len(STYLES)], MARKERS[place % len(MARKERS)]
            colour = COLOURS[place % len(COLOURS)]
            ax.plot(places, means, style, color=colour, marker=marker, markersize=4, label=name)
            if not any(math.isnan(deviation) for deviation in deviations):
                low = [mean - deviation for mean, deviation in zip(means, deviations, strict=True)]
                high = [mean + deviation for mean, deviation in zip(means, deviations, strict=True)]
                ax.fill_between(places, low, high, color=colour, alpha=BAND, lw=0)
        if self.base is not None:
            ax.set_xscale("log", base=self.base)
        ax.set_xlabel(self.x)
        ax.set_ylabel(self.y)
        if self.curves:
            ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        self.ax_: Axes = ax
        return self
