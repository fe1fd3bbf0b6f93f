"""Accuracies of compared methods with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
import pandas as pd

from mklkit.errors import DataError
from mklkit.plotting.base import Display
from mklkit.plotting.parts import COLOURS, FAINT, SHAPES, check_table, ink, short
from mklkit.protocols.score import Score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {
    "method": "several kernels",
    "one kernel": "one kernel",
    "classifier": "other classifier",
    "baseline": "baseline",
}
"""The names of the kinds of methods in figures and tables."""


@attrs.define(eq=False, repr=False, slots=False)
class ComparisonDisplay(Display):
    """Mean score per method with its 95 % interval, the best at the top.

    Parameters
    ----------
    table : pandas.DataFrame
        With the columns ``method``, ``kind``, ``score`` and, for intervals, ``low`` and ``high``;
        as :meth:`mklkit.Comparison.table` returns it. Methods without a score are omitted.
    score : Score, default=that of accuracies
        The score, drawn in percent if it is a share, and without the sign if it is an error.

    See Also
    --------
    CriticalDifferenceDisplay : The ranks of methods over data sets.

    Examples
    --------
    >>> from mklkit import compare
    >>> comparison = compare("wine", methods="dimkl3")  # doctest: +SKIP
    >>> comparison.plot().figure_.savefig("comparison.png")  # doctest: +SKIP
    """

    table: pd.DataFrame
    score: Score = attrs.field(factory=lambda: Score("accuracy", unit="share"))

    def _check(self) -> None:
        check_table(self.table, ("method", "kind", "score"), "mklkit.compare(...).table()")
        if self.table["score"].isna().all():
            raise DataError("No method has a score to draw.")

    def _scored(self) -> pd.DataFrame:
        return self.table[self.table["score"].notna()].reset_index()

    def _size(self) -> tuple[float, float]:
        return 5.4, 1.3 + 0.28 * len(self._scored())

    def _draw(self, ax: Axes) -> None:
        table = self._scored()
        scale = 100 if self.score.is_share else self.score.sign
        looks = zip(COLOURS, SHAPES, strict=False)  # Colours alone don't print.
        for (kind, caption), (color, marker) in zip(KINDS.items(), looks, strict=False):
            methods = table[table["kind"] == kind]
            if len(methods):
                means = scale * methods["score"].to_numpy(dtype=float)
                spread = None
                if "low" in table:
                    ends = scale * methods[["low", "high"]].to_numpy(dtype=float)
                    low, high = np.sort(ends).T  # An error without its sign has them the other way.
                    spread = np.nan_to_num([means - low, high - means])
                ax.errorbar(means, methods.index, xerr=spread, fmt=marker, color=color, capsize=3,
                            label=caption)  # fmt: skip
        best = scale * table["score"].max()
        ax.axvline(best, color=ink(), alpha=3 * FAINT, linewidth=1, zorder=0)
        ax.set_yticks(range(len(table)), [short(name) for name in table["method"]])
        ax.invert_yaxis()
        percent = ", %" if self.score.is_share else ""
        ax.set_xlabel(f"{self.score.words} on test samples{percent}")
        ax.grid(axis="x", color=ink(), alpha=FAINT)
        ax.set_axisbelow(True)
        self.figure_.legend(loc="outside upper center", ncols=2, frameon=False)
