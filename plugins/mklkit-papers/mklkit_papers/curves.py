"""Curves over one quantity, several on the same axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

import attrs
import numpy as np

from mklkit.plotting.base import Display
from mklkit.plotting.curves import draw_curves
from mklkit_papers.lines import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@attrs.define(eq=False, repr=False, slots=False)
class CurvesDisplay(Display):
    """Curves through (x, y, standard deviation), with the last as a band; a NaN is not drawn.

    ``base`` is that of a logarithmic horizontal axis.
    """

    curves: Mapping[str, Sequence[tuple[float, float, float]]]
    x: str
    y: str
    base: float | None = None

    @classmethod
    def of_lines(cls, lines: Iterable[Line], x: str, y: str, base: float | None = None) -> Self:
        """Return the drawn picture of lines: a curve per row, with the columns as its places."""
        curves: dict[str, list[tuple[float, float, float]]] = {}
        for line in lines:
            if not math.isnan(line.ours):
                points = curves.setdefault(line.row, [])
                points.append((float(line.column), line.ours, line.spread))
        return cls(curves, x, y, base).plot()

    def _check(self) -> None:
        """Accept zero curves, as an empty picture."""

    def _size(self) -> tuple[float, float]:
        return 7.0, 4.0

    def _draw(self, ax: Axes) -> None:
        draw_curves(ax, {name: np.transpose(points) for name, points in self.curves.items()})
        if self.base is not None:
            ax.set_xscale("log", base=self.base)
        ax.set(xlabel=self.x, ylabel=self.y)
