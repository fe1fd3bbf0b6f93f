"""Shared parts of plots: matplotlib when needed, checks, and the colours of all figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mklkit.display import numbers
from mklkit.display.html import printable
from mklkit.errors import DataError, MKLKitError, named, quoted
from mklkit.protocols import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#999999")
"""The colours of Okabe and Ito, distinct for any colour vision; markers differ too."""
BARS = COLOURS[0]
SHAPES = "o^sDvP*X<>pdhH8"
"""The styles of classes, repeated from the sixteenth class on."""
SCALE = "viridis"
"""The colours of quantities: dark to light, the same for any colour vision, and never grey."""
ON_DARK, ON_LIGHT = "#fffae0", "#001730"
"""The colours of text and marks on coloured cells, the same on light and dark pages. They are not
exactly grey: pages that swap light and dark greys would swap them too."""
FAINT = 0.13
"""The opacity of grid lines, in the colour of the text."""
CHARACTER = 0.075
"""The width of an average letter, in inches."""
LONGEST_NAME = 24
SHORT_NAMES = 8
"""Column names with at most this many characters are written horizontally."""
LIGHT = 0.55
"""From this share of the scale up, cells are light and their text is dark."""


def require_matplotlib() -> None:
    """Raise an ``MKLKitError`` if matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MKLKitError("Plots need matplotlib: pip install matplotlib.") from None


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, known to pyplot for display in notebooks."""
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained")


def figure_of(ax: Any) -> Figure:
    """Return the figure of a matplotlib Axes; DataError if it is not an Axes, or in no figure."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise DataError(f"Expected one matplotlib Axes, as from plt.subplot(); got {quoted(ax)}.")
    figure = ax.get_figure(root=True)
    if figure is None:
        raise DataError("The axes to draw on were removed from their figure.")
    return figure


def check_table(table: Any, columns: Sequence[str], source: str) -> None:
    """Raise a ``DataError`` unless there is a non-empty table like that of ``source``."""
    if not isinstance(table, pd.DataFrame) or table.empty or not {*columns} <= {*table}:
        needed = f"{source} with {named(columns)}"
        raise DataError(f"Expected a non-empty DataFrame like that of {needed}.")


def ink() -> str:
    """Return the colour of text in the user's style, for everything drawn on the background."""
    from matplotlib import rcParams

    color: str = rcParams["text.color"]
    return color


def paper() -> str:
    """Return the colour of the background in the user's style."""
    from matplotlib import rcParams

    color: str = rcParams["axes.facecolor"]
    return color


def draw_cells(
    ax: Axes,
    values: Array,
    limits: tuple[float, float],
    rows: Sequence[str],
    columns: Sequence[str],
    written: bool = True,
) -> AxesImage:
    """Draw a matrix as cells with narrow gaps, named at the left and below.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    values : ndarray of shape (R, C)
        The matrix.
    limits : (float, float)
        The values with the first and the last colour.
    rows : sequence of str
        R names, at the left.
    columns : sequence of str
        C names, below.
    written : bool, default=True
        Whether the values are written into the cells.

    Returns
    -------
    matplotlib.image.AxesImage
        The image, for a colour bar.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> image = draw_cells(ax, np.eye(2), (0.0, 1.0), ["a", "b"], ["a", "b"])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['a', 'b']
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
            color = ON_LIGHT if light else ON_DARK
            ax.text(
                column, row, numbers.number(float(value), 2), color=color, ha="center", va="center"
            )
    return image


def width_of(names: Sequence[str]) -> float:
    """Return the approximate width of the longest name as drawn, in inches."""
    return CHARACTER * max((len(short(name)) for name in names), default=0)


def short(name: str) -> str:
    """Return a name as drawn, shortened in the middle: names often differ at their ends.

    Examples
    --------
    >>> short("rbf of the columns number 17")
    'rbf of the c…s number 17'
    """
    name = printable(name)
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[1 - half :]}"
