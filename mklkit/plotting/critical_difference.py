"""Average ranks of methods on several data sets, with bars joining indistinguishable ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np
import pandas as pd

from mklkit.display import numbers
from mklkit.errors import DataError, counted
from mklkit.evaluation.rank_tests import average_ranks, critical_difference, indistinguishable
from mklkit.plotting.base import Display
from mklkit.plotting.parts import BARS, CHARACTER, figure_of, ink, short, width_of
from mklkit.protocols import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.24
"""The height of a line with a name, in inches, the unit of all heights here."""
RULER = -2.4
TICK_LABELS = -0.35
FIRST_BAR = 0.6
BAR_STEP = 0.45
"""Heights below the axis, in lines."""
AXIS_WIDTH, WIDEST = 3.8, 18.0
"""Widths in inches: the axis without names, and the widest figure."""
OVERHANG = 0.008
"""The extent of a bar beyond the ranks that it joins, as a share of the axis."""
FONT_SIZE = 10.0


@attrs.define(eq=False, repr=False, slots=False)
class CriticalDifferenceDisplay(Display):
    """The critical-difference diagram of methods on several data sets.

    Methods are placed by their average ranks on an axis with the best on the right. A bar joins
    methods whose ranks differ by less than the critical difference of Nemenyi's test, that is, not
    significantly. The ruler above the axis shows that difference (Demšar 2006, Figure 1).

    Parameters
    ----------
    ranks : array-like of shape (k,)
        Average ranks of two or more methods, 1 for the best.
    names : sequence of k str
        Long names are shortened in the middle.
    difference : float
        The critical difference of average ranks.

    See Also
    --------
    ComparisonDisplay : The scores of methods on one data set.

    Examples
    --------
    >>> from mklkit.plotting import CriticalDifferenceDisplay
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]]
    >>> display = CriticalDifferenceDisplay.from_scores(
    ...     scores, names=["dimkl5", "uniform", "knn"]
    ... )  # doctest: +SKIP
    >>> display.figure_.savefig("ranks.png")  # doctest: +SKIP
    """

    ranks: Array = attrs.field(converter=np.asarray)
    names: Sequence[str]
    difference: float
    _font_size: float = attrs.field(default=FONT_SIZE, init=False)

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
            Where to draw, with space for the names on both sides (as ``layout="constrained"``
            leaves); by default a new figure of suitable size.

        Returns
        -------
        CriticalDifferenceDisplay

        Raises
        ------
        DataError
            If the scores are not such a table or not all finite, or the names do not match.
        """
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
        if ax is not None:
            line = 72 / figure_of(ax).dpi * ax.bbox.height / self._lines
            self._font_size = min(FONT_SIZE, 0.7 * line)
        return super().plot(ax)

    def _check(self) -> None:
        if len(self.names) != len(self.ranks) or len(self.ranks) < 2:
            raise DataError(f"{len(self.ranks)} ranks and {len(self.names)} names can't be drawn.")

    @property
    def _first(self) -> float:
        """The height of the first name below the axis, in lines."""
        levels = [level for *_, level in rank_bars(self.ranks, self.difference)]
        return FIRST_BAR + BAR_STEP * (max(levels, default=-1) + 1) + 0.6

    @property
    def _lines(self) -> float:
        return self._first + len(sides(self.ranks)[1]) + 0.6 - RULER

    def _size(self) -> tuple[float, float]:
        sided = ([self.names[method] for method in side] for side in sides(self.ranks))
        beside = sum(width_of(names) + CHARACTER * len(" (10.00)") for names in sided)
        return min(AXIS_WIDTH + beside, WIDEST), LINE * (self._lines + 0.5)

    def _draw(self, ax: Axes) -> None:
        low, high = limits_of_ranks(self.ranks)
        ax.set_axis_off()
        ax.set_xlim(max(high, low + self.difference), low)
        ax.set_ylim(self._lines + RULER - 1, RULER - 1)
        self._draw_axis(ax, low, high)
        overhang = OVERHANG * (high - low)
        wide: dict[str, Any] = {"linewidth": 4, "solid_capstyle": "butt", "clip_on": False}
        for start, end, level in rank_bars(self.ranks, self.difference):
            height = FIRST_BAR + BAR_STEP * level
            ends = [end + overhang, start - overhang]
            ax.plot(ends, [height] * 2, color=BARS, gid="group", **wide)
        left, right = ax.get_xlim()
        edges = (left + 2 * overhang, "right", -4), (right - 2 * overhang, "left", 4)
        for members, (edge, side, apart) in zip(sides(self.ranks), edges, strict=True):
            text: dict[str, Any] = {"ha": side, "va": "center", "fontsize": self._font_size}
            for line, method in enumerate(members):
                rank = self.ranks[method]
                height = self._first + line
                places = [rank, rank, edge], [0, height, height]
                ax.plot(*places, color=ink(), linewidth=0.8, clip_on=False)
                name = f"{short(self.names[method])} ({numbers.rank(rank)})"
                ax.annotate(name, (edge, height), (apart, 0), textcoords="offset points",
                            annotation_clip=False, **text)  # fmt: skip

    def _draw_axis(self, ax: Axes, low: float, high: float) -> None:
        """Draw the axis of ranks with its ticks, and the ruler."""
        from matplotlib.ticker import MaxNLocator

        line: dict[str, Any] = {"color": ink(), "linewidth": 1}
        text: dict[str, Any] = {"va": "bottom", "fontsize": self._font_size}
        ax.plot([high, low], [0, 0], **line)
        ticks = np.asarray(MaxNLocator(10, integer=True).tick_values(low, high))
        for rank in ticks[(ticks >= low) & (ticks <= high)]:
            ax.plot([rank, rank], [0, -0.25], **line)
            ax.text(rank, TICK_LABELS, f"{rank:g}", ha="center", **text)
        start = ax.get_xlim()[0]
        ends = [start, start - self.difference]
        ax.plot(ends, [RULER] * 2, "|-", markersize=7, gid="ruler", **line)
        ax.text(start, RULER - 0.35, f"critical difference {numbers.rank(self.difference)}", **text)


def limits_of_ranks(ranks: Array) -> tuple[float, float]:
    """Return the ends of the axis: whole ranks around all."""
    low = float(np.floor(ranks.min()))
    return low, max(float(np.ceil(ranks.max())), low + 1)


def rank_bars(ranks: Array, difference: float) -> list[tuple[float, float, int]]:
    """Return best rank, worst rank and level of each bar; bars on one level do not touch."""
    low, high = limits_of_ranks(ranks)
    apart = 4 * OVERHANG * (high - low)
    ends_of_levels: list[float] = []
    bars = []
    for group in indistinguishable(ranks, difference):
        start, end = ranks[group[0]], ranks[group[-1]]
        free = (i for i, last in enumerate(ends_of_levels) if last + apart < start)
        level = next(free, len(ends_of_levels))
        ends_of_levels[level : level + 1] = [end]
        bars.append((float(start), float(end), level))
    return bars


def sides(ranks: Array) -> tuple[list[int], list[int]]:
    """Return the methods named on the left, the worst, and on the right.

    Each from the outside to the inside, so that no lines of names cross.
    """
    order = np.argsort(-ranks, kind="stable").tolist()
    half = (len(order) + 1) // 2
    return order[: len(order) - half], order[len(order) - half :][::-1]
