"""Numbers formatted for readers, with a dash for a missing one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

DASH = "–"
MINUS = "\N{MINUS SIGN}"


def number(value: float, digits: int) -> str:
    """Return a number with a given number of decimals."""
    return DASH if math.isnan(value) else f"{value:.{digits}f}".replace("-", MINUS)


def percent(share: float) -> str:
    """Return a share in percent, without the sign."""
    return number(100 * share, 1)


def points(difference: float) -> str:
    """Return a difference of shares in points, with its sign unless it is 0.0."""
    shown = round(100 * difference, 1)
    return (
        number(abs(shown), 1)
        if shown == 0 or math.isnan(shown)
        else f"{shown:+.1f}".replace("-", MINUS)
    )


def p_value(value: float) -> str:
    """Return a p value with three decimals."""
    return "<0.001" if value < 0.001 else number(value, 3)


def seconds(value: float) -> str:
    """Return a time in seconds, with fewer decimals the longer it is."""
    return number(value, next((3 - at for at, end in enumerate((0.1, 10, 100)) if value < end), 0))


def memory(value: float) -> str:
    """Return bytes in megabytes of 10⁶ bytes."""
    return "<1" if value < 0.5e6 else number(value / 1e6, 0)


def chosen_texts(chosen: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the values of parameters, such as ``C = 1 to 100``, ``sigma = 3 (rbf)``."""
    texts = []
    for name, values in chosen.items():
        owner, _, path = name.removeprefix("kernels__").partition("__")
        ends = dict.fromkeys(f"{value:.3g}" for value in (min(values), max(values)))
        of = "" if owner == "learner" else f" ({owner})"
        texts.append(f"{path.rpartition('__')[2]} = {' to '.join(ends)}{of}")
    return texts
