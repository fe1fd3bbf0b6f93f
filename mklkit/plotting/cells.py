"""A matrix as coloured cells with the numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mklkit.display.html import printable
from mklkit.plotting.parts import ON_DARK, ON_LIGHT, SCALE, paper
from mklkit.protocols import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["draw_cells", "short"]

LONGEST_NAME = 24
SHORT_NAMES = 8
"""Column names of up to so many characters are written level."""
LIGHT = 0.55
"""From this share of the scale on, cells are light and their text is dark."""


def draw_cells(
    ax: Axes,
    values: Array,
    limits: tuple[float, float],
    rows: Sequence[str],
    columns: Sequence[str],
    written: bool = True,
) -> AxesImage:
    """Draw a matrix (R, C) as cells with narrow gaps, named at the left and below.

    ``limits`` are the values with the first and the last colour; ``written`` values stand in the
    cells. The image is for a colour bar.
    """
    low, high = limits
    image = ax.imshow(values, cmap=SCALE, vmin=low, vmax=high, aspect="auto")
    ax.set_yticks(range(len(rows)), [short(name) for name in rows])
    ax.set_xticks(range(len(columns)), [short(name) for name in columns])
    if max(map(len, columns), default=0) > SHORT_NAMES:
        for label in ax.get_xticklabels():
            label.set(rotation=35, horizontalalignment="right", rotation_mode="anchor")
    n_rows, n_columns = values.shape
    ax.set_xticks(np.arange(n_columns - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(n_rows - 1) + 0.5, minor=True)
    ax.grid(which="minor", color=paper(), linewidth=1.5)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    if written:
        for (row, column), value in np.ndenumerate(values):
            light = (value - low) / (high - low) > LIGHT
            colour = ON_LIGHT if light else ON_DARK
            ax.text(column, row, f"{value:.2f}", color=colour, ha="center", va="center")
    return image


def short(name: str) -> str:
    """Return a name as it is drawn, cut in the middle: names often differ at their ends.

    Examples
    --------
    >>> short("rbf of the columns number 17")
    'rbf of the c…s number 17'
    """
    name, half = printable(name), LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[1 - half :]}"
