"""Numbers formatted for readers, with a dash for a missing one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

DASH = "–"
MINUS = "\N{MINUS SIGN}"
DECIMALS = 10
"""Numbers are first rounded to so many decimals, since equal means differ by rounding."""


def number(value: float, digits: int) -> str:
    """Return a number with a given number of decimals; what rounds to zero has no sign."""
    if math.isnan(value):
        return DASH
    return f"{round(value, DECIMALS):z.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int) -> str:
    """Return a number with a given number of decimals and its sign; zero has none."""
    text = number(value, digits)
    return f"+{text}" if text.strip("0.") and value > 0 else text


def significant(value: float, digits: int) -> str:
    """Return a number with a given number of significant digits."""
    text = DASH if math.isnan(value) else f"{value:z.{digits}g}"
    return f"{MINUS}{text[1:]}" if text.startswith("-") else text


def extent(low: float, high: float) -> str:
    """Return the two ends of a range, with six significant digits."""
    return f"{significant(low, 6)} to {significant(high, 6)}"


def whole(value: float) -> str:
    """Return a number of things."""
    return number(value, 0)


def percent(share: float) -> str:
    """Return a share in percent, or a difference of shares in points, without the unit."""
    return number(100 * share, 1)


def percentage(share: float, digits: int = 1) -> str:
    """Return a share in percent, with the sign of percent."""
    return DASH if math.isnan(share) else f"{number(100 * share, digits)} %"


def p_value(value: float) -> str:
    """Return a p value with three decimals."""
    return "<0.001" if value < 0.001 else number(value, 3)


def rank(value: float) -> str:
    """Return an average rank, or a difference of ranks."""
    return number(value, 2)


def seconds(value: float) -> str:
    """Return the time that a command took."""
    return f"{number(value, 2)} s"


def short_p_value(value: float) -> str:
    """Return a p value in at most four characters, for tables of many."""
    if value < 0.005:
        return "<.01"
    return "1" if value > 0.995 else number(value, 2).lstrip("0")


def duration(seconds: float) -> str:
    """Return a time with its unit: milliseconds, seconds or minutes."""
    if math.isnan(seconds):
        return DASH
    if seconds < 0.9995:
        return f"{number(1000 * seconds, 0)} ms"
    return f"{number(seconds, 1)} s" if seconds < 99.95 else f"{number(seconds / 60, 1)} min"


def memory(value: float) -> str:
    """Return bytes in megabytes of 10⁶ bytes."""
    return "<1" if value < 0.5e6 else number(value / 1e6, 0)


def chosen_texts(chosen: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the values of parameters, such as ``C = 1 to 100``, ``sigma = 3 (rbf)``."""
    texts = []
    for name, values in chosen.items():
        owner, _, path = name.removeprefix("kernels__").partition("__")
        ends = dict.fromkeys(significant(value, 3) for value in (min(values), max(values)))
        of = "" if owner == "learner" else f" ({owner})"
        texts.append(f"{path.rpartition('__')[2]} = {' to '.join(ends)}{of}")
    return texts
