"""Curves over one quantity, several on the same axes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mklkit.errors import DataError
from mklkit.plotting.base import Display
from mklkit.plotting.parts import COLOURS, FAINT, SHAPES, ink, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":", "-.")
"""Line styles that are distinct without colours."""


def draw_curves(ax: Axes, curves: Mapping[str, Any]) -> None:
    """Draw curves by name: places, heights and, as a band, standard deviations if all are known."""
    looks = zip(cycle(COLOURS), cycle(STYLES), cycle(SHAPES))
    for (name, curve), (color, style, marker) in zip(curves.items(), looks, strict=False):
        places, heights, *bands = map(np.asarray, curve)
        ax.plot(places, heights, style, color=color, marker=marker, markersize=4, label=name)
        for band in bands:
            if not np.isnan(band).any():
                ends = heights - band, heights + band
                ax.fill_between(places, *ends, color=color, alpha=0.15, lw=0)
    if curves:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


@attrs.define(eq=False, repr=False, slots=False)
class CurvesDisplay(Display):
    """Curves of methods on the same axes, such as calibration or survival curves.

    Parameters
    ----------
    curves : mapping of str to tuple of array
        By method, the places and the heights of the points of its curve.
    across, up : str
        What the places and the heights are, beside the axes.
    has_diagonal : bool, default=False
        Whether a line shows where both are equal.

    See Also
    --------
    ComparisonDisplay : The scores of methods, without curves.

    Examples
    --------
    >>> from mklkit.plotting import CurvesDisplay
    >>> display = CurvesDisplay({"svm": ([0, 12], [1.0, 0.4])}, "months", "alive")
    >>> display.plot().figure_.savefig("curves.png")  # doctest: +SKIP
    """

    curves: Mapping[str, tuple[ArrayLike, ArrayLike]]
    across: str
    up: str
    has_diagonal: bool = False

    def _check(self) -> None:
        if not self.curves:
            raise DataError("No method has a curve to draw.")

    def _size(self) -> tuple[float, float]:
        return 5.3, 3.5

    def _draw(self, ax: Axes) -> None:
        if self.has_diagonal:
            ax.axline((0, 0), slope=1, color=ink(), alpha=3 * FAINT, linewidth=1, zorder=0)
        draw_curves(ax, {short(name): curve for name, curve in self.curves.items()})
        ax.set(xlabel=self.across, ylabel=self.up)
