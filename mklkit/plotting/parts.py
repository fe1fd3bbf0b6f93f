"""Shared parts of plots: matplotlib when needed, checks, and the colours of all figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from mklkit.errors import DataError, MKLKitError, named, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "BARS",
    "COLOURS",
    "FAINT",
    "ON_DARK",
    "ON_LIGHT",
    "SCALE",
    "SHAPES",
    "check_table",
    "figure_of",
    "ink",
    "new_figure",
    "paper",
    "require_matplotlib",
]

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#999999")
"""Those of Okabe and Ito, told apart with any colour vision; marks differ too."""
BARS = COLOURS[0]
SHAPES = "o^sDvP*X<>pdhH8"
"""Of classes, which are repeated from the sixteenth class on."""
SCALE = "viridis"
"""Of quantities: from dark to light, the same with any colour vision, and nowhere grey."""
ON_DARK, ON_LIGHT = "#fffae0", "#001730"
"""Of texts and marks on colours, which are the same on light and dark pages. They are not quite
grey, as pages that exchange light and dark greys would exchange them too."""
FAINT = 0.13
"""The opacity of lines that help reading, in the colour of the text."""


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
    """Return the figure that a matplotlib Axes is in; DataError if it is no Axes, or in none."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise DataError(
            f"One matplotlib Axes is expected, as plt.subplot() returns; got {quoted(ax)}."
        )
    figure = ax.get_figure(root=True)
    if figure is None:
        raise DataError("The axes to draw on were removed from their figure.")
    return figure


def check_table(table: Any, columns: Sequence[str], source: str) -> None:
    """Raise a ``DataError`` for what is no table like that of ``source``, to draw a row from."""
    if not isinstance(table, pd.DataFrame) or table.empty or not {*columns} <= {*table}:
        needed = f" with {named(columns)}" if columns else ""
        raise DataError(f"A DataFrame like that of {source}{needed} is expected, not empty.")


def ink() -> str:
    """Return the colour of text in the user's style, for all that is drawn on the background."""
    from matplotlib import rcParams

    colour: str = rcParams["text.color"]
    return colour


def paper() -> str:
    """Return the colour of the background in the user's style."""
    from matplotlib import rcParams

    colour: str = rcParams["axes.facecolor"]
    return colour
