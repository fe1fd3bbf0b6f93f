"""Kernel weights with their spread, and what kernels gain alone and what is lost without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pandas as pd

from mklkit.display.html import printable
from mklkit.display.numbers import percentage, significant
from mklkit.plotting.base import PanelsDisplay
from mklkit.plotting.parts import BARS, COLOURS, check_table, ink, new_figure, paper, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALONE, LEFT_OUT, SHUFFLED, TOGETHER = COLOURS[2], COLOURS[1], COLOURS[3], COLOURS[4]
NEEDED = (
    "kernel", "weight", "weight_std", "alone", "alone_low", "alone_high",
    "left_out", "left_out_low", "left_out_high", "shuffled",
)  # fmt: skip


@attrs.define(eq=False, repr=False, slots=False)
class KernelWorthDisplay(PanelsDisplay):
    """The weight of each kernel, what it gains alone, and what is lost without it.

    Left: the mean weight with its standard deviation over folds. Middle: how much better than
    guessing fits with this kernel only are, with the confidence interval. Right: the change in the
    score in fits without the kernel (bar, with the interval) and when its columns are permuted
    (diamond); below, the change without groups of kernels. A dotted line is the largest loss that
    does not matter. Axes name the levels of the intervals. Two kernels with long bars in the middle
    and none on the right are redundant if their group has one.

    Parameters
    ----------
    kernels : pandas.DataFrame
        As in :attr:`mklkit.explanation.explanation.Explanation.kernels`.
    together : pandas.DataFrame, optional
        As in :attr:`mklkit.explanation.explanation.Explanation.together`.
    unit : str, default="points of accuracy"
        The unit of a change in the score.
    scale : int, default=100
        The number of these units in a change of 1; below zero for errors.
    margin : float, default=0.0
        The largest loss that does not matter; 0 draws none.

    See Also
    --------
    KernelWeightsDisplay : The weights of kernels.

    Examples
    --------
    >>> import pandas as pd
    >>> kernels = pd.DataFrame({
    ...     "kernel": ["mri", "blood"], "weight": [0.7, 0.3], "weight_std": [0.05, 0.05],
    ...     "alone": [0.2, 0.3], "alone_low": [0.15, 0.24], "alone_high": [0.25, 0.36],
    ...     "left_out": [-0.02, -0.11], "left_out_low": [-0.04, -0.16],
    ...     "left_out_high": [0.0, -0.06], "shuffled": [-0.1, -0.3],
    ... })
    >>> display = KernelWorthDisplay(kernels).plot()  # doctest: +SKIP
    >>> display.figure_.savefig("worth.png")  # doctest: +SKIP
    """

    kernels: pd.DataFrame
    together: pd.DataFrame | None = None
    unit: str = "points of accuracy"
    scale: int = 100
    margin: float = 0.0

    def _check(self) -> int:
        check_table(self.kernels, NEEDED, "mklkit.explain(...).kernels")
        return 3

    def _groups(self) -> list[str]:
        """Return the names of the groups, as drawn."""
        names = [] if self.together is None else self.together["kernels"].tolist()
        return [_drawn(group) for group in names]

    def _new_axes(self) -> Sequence[Axes]:
        n_rows = len(self.kernels) + len(self._groups())
        figure = new_figure(9.0, min(1.7 + 0.45 * n_rows, 16))
        ratios = {"wspace": 0.08, "width_ratios": [2, 3, 4]}
        axes: Sequence[Axes] = figure.subplots(1, 3, sharey=True, gridspec_kw=ratios)
        return axes

    def _draw(self) -> None:
        weights, alone, losses = self.axes_
        _draw_bars(weights, self.kernels["weight"], self.kernels["weight_std"], BARS)
        alone_levels = _levels("alone", self.kernels)
        has_spread = self.kernels["weight_std"].notna().any()
        weights.set_xlabel("weight,\nmean ± SD over folds" if has_spread else "weight")
        self._draw_intervals(alone, self.kernels, "alone", ALONE)
        alone.set_xlabel(_with_interval(f"alone against guessing,\n{self.unit}", alone_levels))
        self._draw_losses(losses)
        names, groups = [short(str(name)) for name in self.kernels["kernel"]], self._groups()
        weights.set_yticks(range(len(names) + len(groups)), names + groups)
        weights.set_ylim(len(names) + len(groups) - 0.4, -0.6)
        for ax in self.axes_:
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(axis="y", length=0)
            if groups:
                ax.axhline(len(names) - 0.5, color=ink(), linewidth=0.6, alpha=0.4)
        for ax in (alone, losses):
            ax.axvline(0, color=ink(), linewidth=0.8)
            ax.spines["left"].set_visible(False)
            ax.margins(x=0.06)

    def _draw_intervals(
        self, ax: Axes, table: pd.DataFrame, key: str, color: str, label: str = "", first: int = 0
    ) -> None:
        """Draw a bar for each known number, with its interval, from the row ``first`` on."""
        means = self.scale * table[key]
        ends = self.scale * table[[f"{key}_low", f"{key}_high"]]
        known = np.flatnonzero(means.notna())
        if not len(known):
            return
        ax.barh(first + known, means.iloc[known], height=0.6, color=color, label=label)
        known = np.flatnonzero(ends.notna().all(axis=1))
        spread = np.abs(ends.iloc[known].to_numpy().T - means.iloc[known].to_numpy())
        drawn: dict[str, Any] = {"xerr": spread, "ecolor": ink(), "capsize": 3, "fmt": "none"}
        ax.errorbar(means.iloc[known], first + known, **drawn)

    def _draw_losses(self, ax: Axes) -> None:
        frame = self.kernels
        self._draw_intervals(ax, frame, "left_out", LEFT_OUT, "without it")
        if self.together is not None and len(self.together):
            self._draw_intervals(
                ax, self.together, "left_out", TOGETHER, "without a group", len(frame)
            )
        shuffled = self.scale * frame["shuffled"]
        if shuffled.notna().any():
            diamond: dict[str, Any] = {"markeredgecolor": paper(), "markersize": 7, "zorder": 4}
            places = np.arange(len(frame))
            ax.plot(
                shuffled, places, "D", color=SHUFFLED, label="columns permuted (mean)", **diamond
            )
        # Above the diamond of its row, at any position.
        above: dict[str, Any] = {"xytext": (4, 5), "textcoords": "offset points", "va": "bottom"}
        for place in np.flatnonzero(frame["left_out"].isna()):
            ax.annotate("can't be dropped", (0, place), fontsize="small", color=ink(), **above)
        if self.margin:
            line: dict[str, Any] = {"color": ink(), "linestyle": ":", "linewidth": 1}
            ax.axvline(-self.scale * self.margin, label="margin", **line)
        levels = _levels("left_out", frame, self.together)
        ax.set_xlabel(_with_interval(f"change in the score,\n{self.unit}", levels))
        handles, labels = ax.get_legend_handles_labels()
        if not handles:
            ax.set_xticks([])
        else:
            self.figure_.legend(
                handles, labels, loc="outside upper right", ncols=4, frameon=False, reverse=True
            )


def _levels(key: str, *tables: pd.DataFrame | None) -> list[float]:
    """Return the levels of the intervals of tables that are drawn, the lowest first."""
    levels = set()
    for table in tables:
        if table is not None and f"{key}_level" in table:
            levels |= {*table.loc[table[f"{key}_low"].notna(), f"{key}_level"]}
    return sorted(levels)


def _with_interval(label: str, levels: Sequence[float]) -> str:
    """Return the label of an axis of means with intervals of these levels."""
    ends = dict.fromkeys(significant(100 * level, 3) for level in (*levels[:1], *levels[-1:]))
    return f"{label}\n(lines: {' to '.join(ends)} % CI)" if ends else label


def _drawn(group: Sequence[str]) -> str:
    """Return two names of a group, one below the other; of more, all but the first are counted."""
    first, second = (short(str(name)) for name in group[:2])
    return f"{first}\n+ {second if len(group) == 2 else f'{len(group) - 1} more'}"


@attrs.define(eq=False, repr=False, slots=False)
class ColumnEffectsDisplay(PanelsDisplay):
    """The columns of each kernel that move its part of the decision values most, a panel each.

    Bars are the mean effect with its standard deviation over fits; beside them is the share of fits
    with the column among the kernel's top columns. A single fit has neither.

    Parameters
    ----------
    effects : pandas.DataFrame
        As in :attr:`mklkit.explanation.explanation.Explanation.effects`.
    most : int, default=10
        The number of columns to draw per kernel.

    See Also
    --------
    KernelWorthDisplay : The worth of kernels instead of columns.

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
        several = bool(self.effects["effect_std"].notna().any())
        panels = zip(self.axes_, self.effects.groupby("kernel", sort=False), strict=True)
        for ax, (kernel, table) in panels:
            top = table.head(self.most)
            _draw_bars(ax, top["effect"], top["effect_std"], BARS)
            words: dict[str, Any] = {"va": "center", "fontsize": "small", "color": ink()}
            ends = top["effect"] + top["effect_std"].fillna(0)
            shares = top["frequency"].head(len(top) * several)
            for place, (end, share) in enumerate(zip(ends, shares, strict=several)):
                ax.text(end, place, f"  {percentage(share, digits=0)}", **words)
            ax.set_yticks(range(len(top)), [short(str(name)) for name in top["column"]])
            ax.invert_yaxis()
            ax.margins(x=0.12)
            ax.set_title(printable(str(kernel)), loc="left", fontsize="medium")
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(axis="y", length=0)
        label = "effect on decision values"
        if several:
            label += ", mean ± SD over fits; %: share of fits in which it is selected"
        self.axes_[-1].set_xlabel(label)


def _draw_bars(
    ax: Axes, means: pd.Series, deviations: pd.Series, color: str, label: str = ""
) -> None:
    """Draw a bar for each known number, with its standard deviation unless that is zero."""
    places = np.flatnonzero(means.notna())
    ax.barh(places, means.iloc[places], height=0.6, color=color, label=label)
    places = np.flatnonzero(means.notna() & (deviations > 0))
    spread: dict[str, Any] = {"xerr": deviations.iloc[places], "ecolor": ink(), "capsize": 3}
    ax.errorbar(means.iloc[places], places, fmt="none", **spread)
