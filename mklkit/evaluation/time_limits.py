"""A time that the user gives, after which no more repetitions of the folds begin."""

from __future__ import annotations

import re

from mklkit.errors import SpecError, quoted

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def seconds_of(limit: float | str | None) -> float:
    """Return the seconds of a time such as ``"10m"``; no limit is infinitely long.

    Examples
    --------
    >>> seconds_of("1.5m"), seconds_of(20), seconds_of(None)
    (90.0, 20.0, inf)
    """
    if limit is None:
        return float("inf")
    number = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([smh]?)\s*", str(limit))
    if number is None:
        raise SpecError(
            f"A time limit is a number of seconds, or like 90s, 10m or 2h; got {quoted(limit)}."
        )
    return float(number[1]) * UNITS[number[2]]


def shortened(limit: float | str | None, done: int, repeats: int) -> str:
    """Return a sentence on repetitions that a time limit has omitted, empty if it has not.

    Examples
    --------
    >>> shortened("10m", 3, 10)
    'the time limit of 10m left 3 of 10 repetitions of the folds, so the intervals are wider'
    >>> shortened("10m", 10, 10)
    ''
    """
    if done >= repeats:
        return ""
    if done == 0:
        return f"the time limit of {limit} ended the first of {repeats} repetitions of the folds"
    return (
        f"the time limit of {limit} left {done} of {repeats} repetitions of the folds, so the"
        " intervals are wider"
    )
