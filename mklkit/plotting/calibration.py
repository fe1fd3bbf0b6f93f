"""How often what was predicted happened, beside its predicted probability."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

import attrs

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


@attrs.define(eq=False, repr=False, slots=False)
class CalibrationDisplay(Display):
    """Curves of methods; on the line from corner to corner probabilities are right.

    By method, ``curves`` has the mean predicted probability and the share that happened of each
    bin.
    """

    curves: Mapping[str, tuple[Array, Array]]

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
