"""Kernel weights with their spread beside what is lost when a kernel is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from mklkit.plotting.parts import (
    BARS,
    COLOURS,
    axes_among,
    check_table,
    ink,
    new_figure,
    paper,
    require_matplotlib,
)
from mklkit.protocols import Array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["KernelWorthDisplay"]

LEFT_OUT, SHUFFLED = COLOURS[1], COLOURS[3]
WIDTH = 7.0
NEEDED = ("kernel", "weight", "weight_std", "left_out", "left_out_std", "shuffled")


class KernelWorthDisplay:
    """The weight of each kernel, and the score lost when it is left out or shuffled.

    Left the mean weight over folds with its deviation; right the points of the score that are
    lost in fits without the kernel (bar, with deviation) and when its columns are shuffled
    (diamond). A long bar on the left beside none on the right is a kernel that others can replace.

    Parameters
    ----------
    kernels : pandas.DataFrame
        As in :attr:`mklkit.Explanation.kernels`.
    score : str, default="accuracy"
        What the score is called: ``"accuracy"`` or ``"R²"``.

    Attributes
    ----------
    kernels, score : as above
    axes_ : tuple of two matplotlib Axes
    figure_ : matplotlib Figure

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

    def __init__(self, kernels: pd.DataFrame, score: str = "accuracy") -> None:
        self.kernels = kernels
        self.score = score

    def plot(self, axes: tuple[Axes, Axes] | None = None) -> Self:
        """Draw on two axes, left and right, or on a new figure.

        Raises
        ------
        DataError
            If ``axes`` are not two matplotlib Axes, or the table lacks a column or is empty.
        MKLKitError
            If matplotlib is not installed.
        """
        require_matplotlib()
        check_table(self.kernels, NEEDED, "mklkit.explain(...).kernels")
        if axes is None:
            height = min(1.6 + 0.45 * len(self.kernels), 16)
            left, right = new_figure(WIDTH, height).subplots(
                1, 2, sharey=True, gridspec_kw={"wspace": 0.08}
            )
            axes = (left, right)
        found = axes_among(axes, 2, "Two axes are needed, for weights and for what is lost")
        left, right = found[0]
        self.axes_: tuple[Axes, Axes] = (left, right)
        self.figure_: Figure = found[1]
        self._draw_weights(left)
        self._draw_losses(right)
        left.set_yticks(range(len(self.kernels)), self.kernels["kernel"])
        left.set_ylim(len(self.kernels) - 0.4, -0.6)
        for ax in (left, right):
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(axis="y", length=0)
        return self

    def _draw_weights(self, ax: Axes) -> None:
        frame = self.kernels
        _bars(
            ax,
            np.arange(len(frame)),
            frame["weight"].to_numpy(),
            frame["weight_std"].to_numpy(),
            BARS,
        )
        ax.set_xlabel("weight,\nmean ± deviation over folds")

    def _draw_losses(self, ax: Axes) -> None:
        frame, places = self.kernels, np.arange(len(self.kernels))
        lost, deviation = (100 * frame[name].to_numpy() for name in ("left_out", "left_out_std"))
        known = np.isfinite(lost)
        if known.any():
            _bars(ax, places[known], lost[known], deviation[known], LEFT_OUT, "left out")
        shuffled = 100 * frame["shuffled"].to_numpy()
        if np.isfinite(shuffled).any():
            ax.plot(
                shuffled,
                places,
                "D",
                color=SHUFFLED,
                markeredgecolor=paper(),
                markersize=7,
                label="columns shuffled",
                zorder=4,
            )
        for place in places[~known]:
            # Above the diamond of its row, wherever that is.
            ax.annotate(
                "can't be left out",
                (0, place),
                xytext=(4, 5),
                textcoords="offset points",
                va="bottom",
                fontsize="small",
                color=ink(),
            )
        ax.axvline(0, color=ink(), linewidth=0.8)
        ax.spines["left"].set_visible(False)
        ax.margins(x=0.06)
        ax.set_xlabel(f"points of {self.score} lost,\nmean ± deviation")
        handles, labels = ax.get_legend_handles_labels()
        if not handles:
            ax.set_xticks([])
        else:
            self.figure_.legend(
                handles, labels, loc="outside upper right", ncols=2, frameon=False, reverse=True
            )


def _bars(
    ax: Axes,
    places: NDArray[np.intp],
    means: Array,
    deviations: Array,
    colour: str,
    label: str = "",
) -> None:
    """Draw bars with their deviations, those that are zero left out."""
    ax.barh(places, means, height=0.6, color=colour, label=label)
    shown = deviations > 0
    ax.errorbar(
        means[shown], places[shown], xerr=deviations[shown], fmt="none", ecolor=ink(), capsize=3
    )
