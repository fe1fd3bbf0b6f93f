"""Kaplan-Meier curves of samples in groups of predicted risk, with the numbers at risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np

from mklkit import DataError
from mklkit.plotting import Display
from mklkit.plugin import Array
from mklkit_survival.kaplan_meier import KaplanMeier
from mklkit_survival.times import read_times

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = {
    2: ("lower half", "upper half"),
    3: ("low risk", "medium risk", "high risk"),
    4: ("lowest quarter", "second quarter", "third quarter", "highest quarter"),
}
"""The names of groups by their number, from the lowest risk."""
GREEN, BLUE, ORANGE, RED = "#009E73", "#56B4E9", "#E69F00", "#D55E00"
HUES = {2: (GREEN, RED), 3: (GREEN, ORANGE, RED), 4: (GREEN, BLUE, ORANGE, RED)}
"""Their colours, those of Okabe and Ito, distinct for any colour vision."""
STYLES = ("-", "--", "-.", ":")
BELOW, LINE, BESIDE = 44, 13, 16
"""Distances in points: of the first line below the axes, of lines, and of names from the axes."""
TICKS = 6


@attrs.define(eq=False, repr=False, slots=False)
class KaplanMeierDisplay(Display):
    """Kaplan-Meier curves of groups, with 95 % confidence bands and the numbers at risk.

    Parameters
    ----------
    groups : mapping of str to ndarray of shape (n, 2)
        Times and events of the samples of each group, by its name; two to four groups.
    unit : str, default="time"
        What the times are, such as ``"months"``, below the axis.

    Examples
    --------
    >>> from mklkit_survival import KaplanMeierDisplay
    >>> y = np.array([[1.0, 1], [2.0, 1], [3.0, 0], [4.0, 1], [5.0, 1], [6.0, 0]])
    >>> display = KaplanMeierDisplay.from_predictions(y, -y[:, 0], unit="years")
    >>> list(display.groups)
    ['low risk', 'medium risk', 'high risk']
    """

    groups: Mapping[str, Array]
    unit: str = "time"

    @classmethod
    def from_predictions(cls, y: Any, risks: Any, *, groups: int = 3, unit: str = "time") -> Self:
        """Return the display of samples in groups of equal size by their predicted risk.

        Parameters
        ----------
        y : structured array, DataFrame or array-like of shape (n, 2)
            Times and events.
        risks : array-like of shape (n,)
            Predicted risks, such as log-hazards, of samples that the model has not learned from.
        groups : {2, 3, 4}, default=3
            How many groups.
        unit : str, default="time"
            What the times are.

        Returns
        -------
        KaplanMeierDisplay
            Not drawn yet: call ``plot``.

        Raises
        ------
        DataError
            If there are fewer different risks than groups.
        """
        if groups not in NAMES:
            raise DataError(f"groups must be 2, 3 or 4; got {groups!r}.")
        target, values = read_times(y), np.asarray(risks, np.float64)
        if len(values) != len(target):
            raise DataError(f"There are {len(values)} risks for {len(target)} samples.")
        bounds = np.quantile(values, np.arange(1, groups) / groups)
        group_of = np.searchsorted(bounds, values)
        parts = [target[group_of == place] for place in range(groups)]
        if min(map(len, parts)) == 0:
            raise DataError(
                f"The predicted risks have too few different values for {groups} groups."
            )
        return cls(dict(zip(NAMES[groups], parts, strict=True)), unit)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, groups: int = 3, unit: str = "time"
    ) -> Self:
        """Return the display of samples in groups by the risk that a fitted model predicts.

        Parameters
        ----------
        model : estimator
            A fitted model.
        X : array-like or DataFrame of shape (n, d)
            Samples that it has not learned from.
        y : structured array, DataFrame or array-like of shape (n, 2)
            Their times and events.
        groups : {2, 3, 4}, default=3
            How many groups.
        unit : str, default="time"
            What the times are.

        Returns
        -------
        KaplanMeierDisplay
            Not drawn yet: call ``plot``.
        """
        return cls.from_predictions(y, model.predict(X), groups=groups, unit=unit)

    def _check(self) -> None:
        if len(self.groups) not in NAMES or min(map(len, self.groups.values())) == 0:
            raise DataError("Expected the times and events of two to four groups of samples.")

    def _size(self) -> tuple[float, float]:
        return 5.6, 4.3

    def _draw(self, ax: Axes) -> None:
        last = max(target[:, 0].max() for target in self.groups.values())
        colors = HUES[len(self.groups)]
        looks = zip(self.groups.items(), colors, STYLES, strict=False)
        for (name, target), color, style in looks:
            curve = KaplanMeier.of(target)
            places = np.concatenate([[0.0], curve.times, [target[:, 0].max()]])
            ax.step(places, curve.at(places), style, where="post", color=color, label=name)
            low, high = curve.interval(places)
            ax.fill_between(places, low, high, step="post", color=color, alpha=0.15, lw=0)
            censored = target[target[:, 1] == 0, 0]
            ax.plot(censored, curve.at(censored), "|", color=color, markersize=4)
        ax.set(xlim=(0, last), ylim=(0, 1.02), ylabel="share surviving")
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1)}
        ax.legend(frameon=False, ncols=len(self.groups), **place)
        self._draw_numbers(ax, last, colors)

    def _draw_numbers(self, ax: Axes, last: float, colors: Sequence[str]) -> None:
        """Write how many samples of each group are at risk, below the ticks of the axis."""
        from matplotlib import rcParams
        from matplotlib.ticker import MaxNLocator

        ink = rcParams["text.color"]

        ticks = [tick for tick in MaxNLocator(TICKS).tick_values(0, last) if 0 <= tick <= last]
        ax.set_xticks(ticks)
        ax.set_xlabel(self.unit)
        left: dict[str, Any] = {
            "xycoords": "axes fraction",
            "textcoords": "offset points",
            "ha": "right",
        }
        ax.annotate("at risk", (0, 0), (-BESIDE, -BELOW), color=ink, **left)
        for line, (name, target) in enumerate(self.groups.items(), 1):
            down = -BELOW - LINE * line
            color = colors[line - 1]
            ax.annotate(name, (0, 0), (-BESIDE, down), color=color, **left)
            for tick in ticks:
                ax.annotate(
                    str(int((target[:, 0] >= tick).sum())),
                    (tick, 0),
                    (0, down),
                    xycoords=("data", "axes fraction"),
                    textcoords="offset points",
                    color=ink,
                    ha="center",
                    annotation_clip=False,
                )
