"""The critical-difference diagram as SVG."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mklkit.comparison.report.charts import round_step
from mklkit.display.markup import Html, element
from mklkit.plotting.rank_bars import OVERHANG, limits_of_ranks, rank_bars, sides

__all__ = ["rank_diagram"]

AXIS = 420
CHARACTER = 7.5
LINE = 20
TOP = 58
BAR_STEP = 9
"""In pixels: the axis, an average character, a line of text, what is above the axis."""
LONGEST = 40
"""Characters of a name in the diagram; all of them are in the table."""
MOST_STEPS = 10


def rank_diagram(ranks: dict[str, float], difference: float) -> Html:
    """Return the diagram of methods at their average ranks, the best on the right.

    It is that of :class:`mklkit.plotting.CriticalDifferenceDisplay`.

    Parameters
    ----------
    ranks : dict of str to float
        Average ranks by method.
    difference : float
        The critical difference.
    """
    values = np.array(list(ranks.values()))
    labels = [f"{_short(name)} ({rank:.2f})" for name, rank in ranks.items()]
    low, high = limits_of_ranks(values)
    far = max(high, low + difference)
    side = CHARACTER * max(map(len, labels)) + 20

    def place(rank: float) -> float:
        return round(side + AXIS * (far - rank) / (far - low), 1)

    bars = rank_bars(values, difference)
    first = TOP + 18 + BAR_STEP * max((level + 1 for *_, level in bars), default=0)
    parts = _axis(low, high, place) + _ruler(place(far), place(far - difference), difference)
    for on_left, members in zip((True, False), sides(values), strict=True):
        edge = side - 6 if on_left else side + AXIS + 6
        for line, method in enumerate(members):
            x, y = place(values[method]), first + LINE * line
            parts.append(element("polyline", points=f"{x},{TOP} {x},{y} {edge},{y}"))
            anchor = {"x": edge - 4, "text_anchor": "end"} if on_left else {"x": edge + 4}
            parts.append(element("text", labels[method], y=y + 4, **anchor))
    for start, end, level in bars:
        y, over = TOP + 12 + BAR_STEP * level, OVERHANG * (high - low)
        ends = {"x1": place(end + over), "x2": place(start - over)}
        parts.append(element("line", class_="bar", y1=y, y2=y, **ends))
    width = round(2 * side + AXIS)
    height = first + LINE * (len(values) - len(values) // 2)
    return element(
        "svg",
        *parts,
        class_="ranks",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label="Critical-difference diagram; the ranks are in the table",
    )


def _axis(low: float, high: float, place: Callable[[float], float]) -> list[Html]:
    step = max(round_step(high - low, MOST_STEPS), 1.0)
    parts = [element("line", x1=place(high), x2=place(low), y1=TOP, y2=TOP)]
    for rank in np.arange(low, high + 1, 1):
        x = place(rank)
        if rank % step == 0 or rank in (low, high):
            parts.append(element("line", x1=x, x2=x, y1=TOP - 5, y2=TOP))
            parts.append(element("text", f"{rank:g}", x=x, y=TOP - 9, text_anchor="middle"))
    return parts


def _ruler(start: float, end: float, difference: float) -> list[Html]:
    ends = [element("line", x1=x, x2=x, y1=20, y2=28) for x in (start, end)]
    ruler = element("line", x1=start, x2=end, y1=24, y2=24)
    label = element("text", f"critical difference {difference:.2f}", x=start, y=14)
    return [*ends, ruler, label]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
