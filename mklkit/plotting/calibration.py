"""How often what was predicted happened, beside its predicted probability."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

from mklkit.errors import DataError
from mklkit.plotting.base import Display
from mklkit.plotting.cells import short
from mklkit.plotting.parts import COLOURS, FAINT, SHAPES, ink
from mklkit.protocols import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CalibrationDisplay"]

SIZE = 5.3, 3.5
STYLES = ("-", "--", ":", "-.")
"""Told apart without colours."""


class CalibrationDisplay(Display):
    """Curves of methods; on the line from corner to corner probabilities are right.

    Parameters
    ----------
    curves : mapping of str to pair of ndarray of shape (n,)
        By method, the mean predicted probability and the share that happened of each bin.

    Attributes
    ----------
    curves : as above
    ax_, figure_ : matplotlib Axes and Figure
    """

    def __init__(self, curves: Mapping[str, tuple[Array, Array]]) -> None:
        self.curves = curves

    def _check(self) -> None:
        if not self.curves:
            raise DataError("No method has probabilities to draw.")

    def _size(self) -> tuple[float, float]:
        return SIZE

    def _draw(self, ax: Axes) -> None:
        ax.axline((0, 0), slope=1, color=ink(), alpha=3 * FAINT, linewidth=1, zorder=0)
        looks = zip(cycle(COLOURS), cycle(STYLES), cycle(SHAPES))
        for (name, curve), (colour, style, marker) in zip(self.curves.items(), looks, strict=False):
            ax.plot(*curve, style, color=colour, marker=marker, markersize=4, label=short(name))
        ax.set(xlabel="predicted probability", ylabel="how often it happened")
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
