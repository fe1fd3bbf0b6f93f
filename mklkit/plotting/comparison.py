"""Accuracies of compared methods with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from mklkit.errors import DataError
from mklkit.plotting.parts import (
    COLOURS,
    FAINT,
    check_table,
    figure_of,
    ink,
    new_figure,
    require_matplotlib,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ComparisonDisplay"]

KINDS = {
    "method": (COLOURS[0], "o", "several kernels"),
    "one kernel": (COLOURS[1], "s", "one kernel"),
    "classifier": (COLOURS[2], "^", "other classifier"),
    "baseline": (COLOURS[3], "D", "scikit-learn"),
}
"""Colour, marker and caption; markers differ too, as colours alone don't print."""


class ComparisonDisplay:
    """Mean accuracy per method with its 95 % interval, the best at the top.

    Parameters
    ----------
    table : pandas.DataFrame
        With the columns ``method``, ``kind``, ``accuracy`` (shares) and, for intervals, ``low`` and
        ``high``; as :meth:`mklkit.Comparison.table` returns it. Methods without accuracy are left
        out.

    Attributes
    ----------
    table : pandas.DataFrame
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from mklkit import compare
    >>> found = compare("wine", methods="dimkl3")  # doctest: +SKIP
    >>> found.plot().figure_.savefig("comparison.png")  # doctest: +SKIP
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax``, or on a new figure.

        Raises
        ------
        DataError
            If no method has an accuracy, the table lacks a column, or ``ax`` is no matplotlib Axes.
        MKLKitError
            If matplotlib is not installed.
        """
        require_matplotlib()
        check_table(self.table, ("method", "kind", "accuracy"), "mklkit.compare(...).table()")
        table = self.table[self.table["accuracy"].notna()]
        if table.empty:
            raise DataError("No method has an accuracy to draw.")
        if ax is None:
            ax = new_figure(7, 1.3 + 0.28 * len(table)).add_subplot()
        self.figure_: Figure = figure_of(ax)
        self.ax_: Axes = ax
        places = np.arange(len(table))
        for kind, (colour, marker, caption) in KINDS.items():
            own = (table["kind"] == kind).to_numpy()
            if own.any():
                self._draw(table[own], places[own], colour, marker, caption)
        best = 100 * table["accuracy"].max()
        ax.axvline(best, color=ink(), alpha=3 * FAINT, linewidth=1, zorder=0)
        ax.set_yticks(places, table["method"])
        ax.invert_yaxis()
        ax.set_xlabel("accuracy on test rows, %")
        ax.grid(axis="x", color=ink(), alpha=FAINT)
        ax.set_axisbelow(True)
        self.figure_.legend(loc="outside upper center", ncols=len(KINDS), frameon=False)
        return self

    def _draw(
        self, table: pd.DataFrame, places: np.ndarray, colour: str, marker: str, caption: str
    ) -> None:
        means = 100 * table["accuracy"].to_numpy(dtype=float)
        spread = None
        if "low" in table:
            low, high = (100 * table[name].to_numpy(dtype=float) for name in ("low", "high"))
            spread = np.nan_to_num([means - low, high - means])
        self.ax_.errorbar(
            means, places, xerr=spread, fmt=marker, color=colour, capsize=3, label=caption
        )
