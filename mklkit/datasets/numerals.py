"""Numbers and dates as people and spreadsheets write them, such as 1,200 and 0,5 and 31.12.2019.

Each function converts text to its meaning, with a gap where a text does not match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

__all__ = [
    "DATES",
    "NUMBERS",
    "TEXT",
    "WAYS",
    "WRITTEN",
    "is_ambiguous_date",
    "is_ambiguous_number",
    "points_may_group",
]

MINUS = str.maketrans("\N{MINUS SIGN}\N{EN DASH}\N{FIGURE DASH}", "---")
PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
# Thousands separators besides comma and point: an apostrophe or one of the narrow spaces.
# Such a number never starts with a zero: the comma of 0,125 is a decimal one.
SPACES = "'’\u00a0\u2009\u202f "
GROUPED = re.compile(rf"[-+]?[1-9]\d{{0,2}}([,{SPACES}]\d{{3}})+(\.\d*)?", re.ASCII)
DECIMAL_COMMA = re.compile(
    rf"[-+]?(\d+|[1-9]\d{{0,2}}([{SPACES}]\d{{3}})+),\d+([eE][-+]?\d+)?", re.ASCII
)
DOTTED = re.compile(r"[-+]?(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d*)?", re.ASCII)
POINT_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)
WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}", re.ASCII)
COMMAS = str.maketrans("", "", "," + SPACES)
POINTS = str.maketrans(",", ".", "." + SPACES)
TIME = r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
YEAR_FIRST = rf"\d{{4}}[-/]\d\d[-/]\d\d{TIME}"
YEAR_LAST = re.compile(r"(\d\d?)([./-])(\d\d?)\2(\d{4})((?: \d\d:\d\d(?::\d\d)?)?)", re.ASCII)

TEXT = "text"
WRITTEN = "as written"
"""The reading of columns for kernels on text, of which '0110' is no number."""
Way = Callable[[pd.Series], pd.Series]


def _numbers(pattern: re.Pattern[str], dropped: dict[int, int | None], plain: bool = True) -> Way:
    """Return a reader of numbers of a pattern, and of those in Python's notation."""

    def read(text: pd.Series) -> pd.Series:
        def meaning(value: str) -> str | None:
            if plain and PLAIN.fullmatch(value):
                return value
            return value.translate(dropped) if pattern.fullmatch(value) else None

        found = text.map(lambda value: meaning(value.translate(MINUS)))
        try:
            return pd.to_numeric(found)
        except ValueError:  # Before pandas 3, of a number too large to be finite.
            return found.astype(np.float64)

    return read


def _year_first(text: pd.Series) -> pd.Series:
    """Return the text of ISO dates unchanged, as such columns are detected as dates later."""
    days = pd.to_datetime(text.str[:10].str.replace("/", "-"), format="%Y-%m-%d", errors="coerce")
    return text.where(text.str.fullmatch(YEAR_FIRST) & days.notna())


def _year_last(order: str) -> Way:
    """Return a reader that converts dates with this order of day and month to ISO dates."""

    def read(text: pd.Series) -> pd.Series:
        return _year_first(text.map(lambda value: _iso(value, order)).astype("str"))

    return read


def _iso(value: str, order: str) -> str | None:
    match = YEAR_LAST.fullmatch(value)
    if match is None:
        return None
    first, point, second, year, time = match.groups()
    if order == "month first" and point == ".":
        return None
    day, month = (first, second) if order == "day first" else (second, first)
    return f"{year}-{month:0>2}-{day:0>2}{time}"


NUMBERS: dict[str, Way] = {
    "number": _numbers(PLAIN, {}),
    "thousands": _numbers(GROUPED, COMMAS),
    "decimal comma": _numbers(DECIMAL_COMMA, POINTS),
    # If points separate thousands, 1.397 does not mean what it means in Python.
    "decimal comma, points between thousands": _numbers(DOTTED, POINTS, plain=False),
}
DATES: dict[str, Way] = {
    "year first": _year_first,
    "month first": _year_last("month first"),
    "day first": _year_last("day first"),
}
WAYS = {**NUMBERS, **DATES}
"""The possible readings of a column of text; the first that matches is used."""


def is_ambiguous_number(value: str) -> bool:
    """Return whether a comma in the text may separate thousands or be a decimal comma.

    Examples
    --------
    >>> is_ambiguous_number("1,397"), is_ambiguous_number("0,397"), is_ambiguous_number("1,3")
    (True, False, False)
    """
    return (
        PLAIN.fullmatch(value) is not None or EITHER.fullmatch(value.translate(MINUS)) is not None
    )


def points_may_group(values: Iterable[str]) -> bool:
    """Tell whether points may stand between thousands: three digits after each, in all values.

    Values without a point must be whole numbers.

    Examples
    --------
    >>> points_may_group(["1.470", "329"]), points_may_group(["1.470", "0.329"])
    (True, False)
    >>> points_may_group(["1470", "329"])
    False
    """
    plain = [value.strip().translate(MINUS) for value in values]
    pointed = [value for value in plain if "." in value]
    return bool(pointed) and all(
        (POINT_GROUPED if "." in value else WHOLE).fullmatch(value) for value in plain
    )


def is_ambiguous_date(value: str) -> bool:
    """Return whether a date is valid with either order of day and month, and has no points.

    Examples
    --------
    >>> is_ambiguous_date("3/4/2019"), is_ambiguous_date("3/14/2019"), is_ambiguous_date("3.4.2019")
    (True, False, False)
    """
    match = YEAR_LAST.fullmatch(value)
    return match is not None and match[2] != "." and int(match[1]) <= 12 and int(match[3]) <= 12
