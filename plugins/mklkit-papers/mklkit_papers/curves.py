"""Lines of the papers' figures as curves."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Self

from mklkit.plotting.curves import CurvesDisplay as Curves
from mklkit_papers.lines import Line

__all__ = ["CurvesDisplay"]


class CurvesDisplay(Curves):
    """Curves of what was measured for a figure."""

    @classmethod
    def of_lines(cls, lines: Iterable[Line], x: str, y: str, base: float | None = None) -> Self:
        """Return the picture of lines, drawn: a curve per row, its places the columns."""
        curves: dict[str, list[tuple[float, float, float]]] = {}
        for line in lines:
            if not math.isnan(line.ours):
                points = curves.setdefault(line.row, [])
                points.append((float(line.column), line.ours, line.spread))
        return cls(curves, x, y, base).plot()
