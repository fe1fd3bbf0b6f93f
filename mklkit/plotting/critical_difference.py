"""Average ranks of methods on several data sets, with bars that join those not told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from mklkit.errors import DataError, counted
from mklkit.evaluation.rank_tests import average_ranks, critical_difference
from mklkit.plotting.cells import short
from mklkit.plotting.parts import BARS, figure_of, ink, new_figure, require_matplotlib
from mklkit.plotting.rank_bars import OVERHANG, limits_of_ranks, rank_bars, sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CriticalDifferenceDisplay"]

LINE = 0.24
"""The height of a line with a name, in inches; the unit of all heights here."""
RULER = -2.4
TICK_LABELS = -0.35
FIRST_BAR = 0.6
BAR_STEP = 0.45
"""Heights below the axis, in lines."""
AXIS_WIDTH = 3.8
CHARACTER = 0.075
"""Inches: the axis without names, and an average character of a name."""
WIDEST = 18.0
MOST_TICKS = 10
FONT_SIZE = 10.0


class CriticalDifferenceDisplay:
    """The critical-difference diagram of methods on several data sets.

    Methods stand at their average ranks on an axis with the best on the right. A bar joins methods
    whose ranks differ by less than the critical difference of Nemenyi's test: the data sets do not
    tell them apart. The ruler above the axis is as long as that difference (Demšar 2006, Figure 1).

    Parameters
    ----------
    ranks : array-like of shape (k,)
        Average ranks of two or more methods, 1 for the best.
    names : sequence of k str
        Long ones are drawn cut in the middle.
    difference : float
        The critical difference of average ranks.

    Attributes
    ----------
    ranks, names, difference : as above
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from mklkit.plotting import CriticalDifferenceDisplay
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]]
    >>> display = CriticalDifferenceDisplay.from_scores(
    ...     scores, names=["dimkl5", "uniform", "knn"]
    ... )  # doctest: +SKIP
    >>> display.figure_.savefig("ranks.png")  # doctest: +SKIP
    """

    def __init__(self, ranks: ArrayLike, names: Sequence[str], difference: float) -> None:
        self.ranks: NDArray[np.float64] = np.asarray(ranks, dtype=float)
        self.names = [str(name) for name in names]
        self.difference = difference

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        *,
        names: Sequence[str] | None = None,
        alpha: float = 0.05,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the diagram of scores.

        Parameters
        ----------
        scores : DataFrame or array-like of shape (n_datasets, k)
            One column per method; larger is better.
        names : sequence of k str, optional
            By default the columns of a DataFrame, or ``method 1``, ``method 2`` and so on.
        alpha : float, default=0.05
            The level of Nemenyi's test.
        ax : matplotlib Axes, optional
            Where to draw, with room for the names on both sides (``layout="constrained"`` makes
            it); a new figure of fitting size when not given.

        Returns
        -------
        CriticalDifferenceDisplay

        Raises
        ------
        DataError
            If the scores are no such table or not all finite, or the names do not fit.
        MKLKitError
            If matplotlib is not installed.
        """
        require_matplotlib()
        ranks = average_ranks(scores)
        n_datasets, k = np.shape(scores)
        if names is None and isinstance(scores, pd.DataFrame):
            names = [str(column) for column in scores.columns]
        elif names is None:
            names = [f"method {i}" for i in range(1, k + 1)]
        if len(names) != k:
            raise DataError(f"{counted(k, 'method')} but {counted(len(names), 'name')} were given.")
        return cls(ranks, names, critical_difference(k, n_datasets, alpha)).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        left, right = sides(self.ranks)
        bars = rank_bars(self.ranks, self.difference)
        first = FIRST_BAR + BAR_STEP * max((level + 1 for *_, level in bars), default=0) + 0.6
        bottom = first + len(right) - 0.4
        n_lines = bottom - RULER + 1
        if ax is None:
            names = [short(name) for name in self.names]
            beside = sum(
                max((len(names[method]) for method in side), default=0) + len(" (10.00)")
                for side in (left, right)
            )
            width = min(AXIS_WIDTH + CHARACTER * beside, WIDEST)
            ax = new_figure(width, LINE * (n_lines + 0.5)).add_subplot()
            self._font_size = FONT_SIZE
        else:
            dpi = figure_of(ax).dpi
            line = ax.bbox.height / dpi * 72 / n_lines
            self._font_size = min(FONT_SIZE, 0.7 * line)
        self.figure_: Figure = figure_of(ax)
        self.ax_: Axes = ax
        self._axis(bottom)
        for start, end, level in bars:
            height = FIRST_BAR + BAR_STEP * level
            ends = [end + self._overhang, start - self._overhang]
            ax.plot(
                ends,
                [height] * 2,
                color=BARS,
                linewidth=4,
                solid_capstyle="butt",
                clip_on=False,
                gid="group",
            )
        for members, on_left in ((left, True), (right, False)):
            for line, method in enumerate(members):
                self._name(method, first + line, on_left)
        return self

    @property
    def _overhang(self) -> float:
        low, high = limits_of_ranks(self.ranks)
        return OVERHANG * (high - low)

    def _axis(self, bottom: float) -> None:
        """Draw the axis of ranks with its ticks, and the ruler."""
        from matplotlib.ticker import MaxNLocator

        low, high = limits_of_ranks(self.ranks)
        ax = self.ax_
        ax.set_axis_off()
        ax.set_xlim(max(high, low + self.difference), low)
        ax.set_ylim(bottom, RULER - 1)
        ax.plot([high, low], [0, 0], color=ink(), linewidth=1)
        ticks = np.asarray(MaxNLocator(MOST_TICKS, integer=True).tick_values(low, high))
        for rank in ticks[(ticks >= low) & (ticks <= high)]:
            ax.plot([rank, rank], [0, -0.25], color=ink(), linewidth=1)
            ax.text(
                rank, TICK_LABELS, f"{rank:g}", ha="center", va="bottom", fontsize=self._font_size
            )
        start = ax.get_xlim()[0]
        ends = [start, start - self.difference]
        ax.plot(ends, [RULER] * 2, "|-", color=ink(), linewidth=1, markersize=7, gid="ruler")
        label = f"critical difference {self.difference:.2f}"
        ax.text(start, RULER - 0.35, label, ha="left", va="bottom", fontsize=self._font_size)

    def _name(self, method: int, height: float, on_left: bool) -> None:
        """Write a method's name beside the axis, with a line to its rank."""
        rank = self.ranks[method]
        start, end = self.ax_.get_xlim()
        edge = start + 2 * self._overhang if on_left else end - 2 * self._overhang
        self.ax_.plot(
            [rank, rank, edge], [0, height, height], color=ink(), linewidth=0.8, clip_on=False
        )
        self.ax_.annotate(
            f"{short(self.names[method])} ({rank:.2f})",
            (edge, height),
            xytext=(-4 if on_left else 4, 0),
            textcoords="offset points",
            ha="right" if on_left else "left",
            va="center",
            fontsize=self._font_size,
            annotation_clip=False,
        )
