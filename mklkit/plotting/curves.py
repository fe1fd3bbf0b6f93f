"""Curves over one quantity, several on the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from mklkit.plotting.base import Display
from mklkit.plotting.cells import short
from mklkit.plotting.parts import COLOURS, FAINT, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CurvesDisplay"]

WIDTH, HEIGHT = 5.3, 3.5
STYLES = ("-", "--", ":", "-.")
"""Told apart without colours."""
MARKERS = "osD^v<>PX*"
BAND = 0.15


class CurvesDisplay(Display):
    """Curves, each with the standard deviation at its points as a band.

    Parameters
    ----------
    curves : mapping of str to sequence of (x, y, deviation)
        By name, in the order of x; a deviation that is NaN is not drawn.
    x, y : str
        What the axes show.
    base : float, optional
        Of a logarithmic horizontal axis.
    even : bool, default=False
        Whether a faint line shows where both are equal.

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
        even: bool = False,
    ) -> None:
        self.curves, self.x, self.y, self.base, self.even = curves, x, y, base, even

    def _check(self) -> None:
        """Allow any curves, and none."""

    def _size(self) -> tuple[float, float]:
        return WIDTH, HEIGHT

    def _draw(self, ax: Axes) -> None:
        looks = zip(cycle(COLOURS), cycle(STYLES), cycle(MARKERS), strict=False)
        for (name, points), (colour, style, marker) in zip(
            self.curves.items(), looks, strict=False
        ):
            places, means, deviations = np.asarray(points, dtype=float).T
            label = short(name)
            ax.plot(places, means, style, color=colour, marker=marker, markersize=4, label=label)
            if not np.isnan(deviations).any():
                low, high = means - deviations, means + deviations
                ax.fill_between(places, low, high, color=colour, alpha=BAND, lw=0)
        if self.even:
            ax.axline((0, 0), slope=1, color=ink(), alpha=3 * FAINT, linewidth=1, zorder=0)
        if self.base is not None:
            ax.set_xscale("log", base=self.base)
        ax.set_xlabel(self.x)
        ax.set_ylabel(self.y)
        if self.curves:
            ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
