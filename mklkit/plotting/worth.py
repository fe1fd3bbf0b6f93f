"""Kernel weights with their spread, beside the loss when a kernel is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pandas as pd

from mklkit.display.html import printable
from mklkit.display.numbers import percentage
from mklkit.plotting.base import PanelsDisplay
from mklkit.plotting.parts import BARS, COLOURS, check_table, ink, new_figure, paper, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEFT_OUT, SHUFFLED = COLOURS[1], COLOURS[3]
NEEDED = ("kernel", "weight", "weight_std", "left_out", "left_out_std", "shuffled")


@attrs.define(eq=False, repr=False, slots=False)
class KernelWorthDisplay(PanelsDisplay):
    """The weight of each kernel, and the score lost when it is left out or shuffled.

    Left: the mean weight over folds with its deviation. Right: the points of the score lost in
    fits without the kernel (bar, with deviation) and when its columns are shuffled (diamond). A
    kernel with a long bar on the left and none on the right is one that others can replace.

    Parameters
    ----------
    kernels : pandas.DataFrame
        As in :attr:`mklkit.explanation.explanation.Explanation.kernels`.
    lost : str, default="points of accuracy lost"
        The loss with its unit.
    scale : int, default=100
        The number of these units in a loss of 1.

    Examples
    --------
    >>> import pandas as pd
    >>> kernels = pd.DataFrame({
    ...     "kernel": ["mri", "blood"], "weight": [0.7, 0.3], "weight_std": [0.05, 0.05],
    ...     "left_out": [0.02, 0.11], "left_out_std": [0.01, 0.02], "shuffled": [0.1, 0.3],
    ... })
    >>> display = KernelWorthDisplay(kernels).plot()  # doctest: +SKIP
    >>> display.figure_.savefig("worth.png")  # doctest: +SKIP
    """

    kernels: pd.DataFrame
    lost: str = "points of accuracy lost"
    scale: int = 100

    def _check(self) -> int:
        check_table(self.kernels, NEEDED, "mklkit.explain(...).kernels")
        return 2

    def _new_axes(self) -> Sequence[Axes]:
        figure = new_figure(7.0, min(1.6 + 0.45 * len(self.kernels), 16))
        axes: Sequence[Axes] = figure.subplots(1, 2, sharey=True, gridspec_kw={"wspace": 0.08})
        return axes

    def _draw(self) -> None:
        left, right = self.axes_
        _draw_bars(left, self.kernels["weight"], self.kernels["weight_std"], BARS)
        left.set_xlabel("weight,\nmean ± deviation over folds")
        self._draw_losses(right)
        left.set_yticks(range(len(self.kernels)), self.kernels["kernel"])
        left.set_ylim(len(self.kernels) - 0.4, -0.6)
        for ax in self.axes_:
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(axis="y", length=0)

    def _draw_losses(self, ax: Axes) -> None:
        frame = self.kernels
        lost = self.scale * frame["left_out"]
        if lost.notna().any():
            _draw_bars(ax, lost, self.scale * frame["left_out_std"], LEFT_OUT, "left out")
        shuffled = self.scale * frame["shuffled"]
        if shuffled.notna().any():
            diamond: dict[str, Any] = {"markeredgecolor": paper(), "markersize": 7, "zorder": 4}
            places = np.arange(len(frame))
            ax.plot(shuffled, places, "D", color=SHUFFLED, label="columns shuffled", **diamond)
        # Above the diamond of its row, at any position.
        above: dict[str, Any] = {"xytext": (4, 5), "textcoords": "offset points", "va": "bottom"}
        for place in np.flatnonzero(lost.isna()):
            ax.annotate("can't be left out", (0, place), fontsize="small", color=ink(), **above)
        ax.axvline(0, color=ink(), linewidth=0.8)
        ax.spines["left"].set_visible(False)
        ax.margins(x=0.06)
        ax.set_xlabel(f"{self.lost},\nmean ± deviation")
        handles, labels = ax.get_legend_handles_labels()
        if not handles:
            ax.set_xticks([])
        else:
            self.figure_.legend(
                handles, labels, loc="outside upper right", ncols=2, frameon=False, reverse=True
            )


@attrs.define(eq=False, repr=False, slots=False)
class ColumnEffectsDisplay(PanelsDisplay):
    """The columns of each kernel that move its part of the decision values most, a panel each.

    Bars are the mean effect with its deviation over fits; beside them is the share of fits with the
    column among the kernel's top columns.

    Parameters
    ----------
    effects : pandas.DataFrame
        As in :attr:`mklkit.explanation.explanation.Explanation.effects`.
    most : int, default=10
        The number of columns to draw per kernel.

    Examples
    --------
    >>> import pandas as pd
    >>> effects = pd.DataFrame({
    ...     "kernel": ["mrna", "mrna"], "column": ["TP53", "MYC"], "effect": [0.3, 0.1],
    ...     "effect_std": [0.05, 0.02], "frequency": [1.0, 0.4],
    ... })
    >>> display = ColumnEffectsDisplay(effects).plot()  # doctest: +SKIP
    """

    effects: pd.DataFrame
    most: int = 10

    def _check(self) -> int:
        needed = ("kernel", "column", "effect", "effect_std", "frequency")
        check_table(self.effects, needed, "mklkit.explain(...).effects")
        return self.effects["kernel"].nunique()

    def _new_axes(self) -> Sequence[Axes]:
        sizes = self.effects.groupby("kernel", sort=False).size().clip(upper=self.most).to_list()
        figure = new_figure(7.0, min(1.0 + sum(0.3 * size + 0.7 for size in sizes), 40))
        ratios = {"height_ratios": sizes}
        axes: Any = figure.subplots(len(sizes), 1, squeeze=False, gridspec_kw=ratios)
        return list(axes[:, 0])

    def _draw(self) -> None:
        panels = zip(self.axes_, self.effects.groupby("kernel", sort=False), strict=True)
        for ax, (kernel, table) in panels:
            top = table.head(self.most)
            _draw_bars(ax, top["effect"], top["effect_std"], BARS)
            words: dict[str, Any] = {"va": "center", "fontsize": "small", "color": ink()}
            ends = top["effect"] + top["effect_std"].fillna(0)
            for place, (end, share) in enumerate(zip(ends, top["frequency"], strict=True)):
                ax.text(end, place, f"  {percentage(share, digits=0)}", **words)
            ax.set_yticks(range(len(top)), [short(str(name)) for name in top["column"]])
            ax.invert_yaxis()
            ax.margins(x=0.12)
            ax.set_title(printable(str(kernel)), loc="left", fontsize="medium")
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(axis="y", length=0)
        self.axes_[-1].set_xlabel(
            "effect on decision values; share of fits in which it is selected"
        )


def _draw_bars(
    ax: Axes, means: pd.Series, deviations: pd.Series, color: str, label: str = ""
) -> None:
    """Draw a bar for each known number, with its deviation unless that is zero."""
    places = np.flatnonzero(means.notna())
    ax.barh(places, means.iloc[places], height=0.6, color=color, label=label)
    places = np.flatnonzero(means.notna() & (deviations > 0))
    spread: dict[str, Any] = {"xerr": deviations.iloc[places], "ecolor": ink(), "capsize": 3}
    ax.errorbar(means.iloc[places], places, fmt="none", **spread)
