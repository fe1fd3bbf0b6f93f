"""Numbers and dates as people and spreadsheets write them, such as 1,200 and 0,5 and 31.12.2019."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

MINUS = str.maketrans("\N{MINUS SIGN}\N{EN DASH}\N{FIGURE DASH}", "---")
# Thousands separators besides comma and point: an apostrophe or one of the narrow spaces.
SPACES = "'’\u00a0\u2009\u202f "
PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
# A number with thousands never starts with a zero: the comma of 0,125 is a decimal comma.
GROUPED = re.compile(rf"[-+]?[1-9]\d{{0,2}}([,{SPACES}]\d{{3}})+(\.\d*)?", re.ASCII)
DECIMAL_COMMA = re.compile(
    rf"[-+]?(\d+|[1-9]\d{{0,2}}([{SPACES}]\d{{3}})+),\d+([eE][-+]?\d+)?", re.ASCII
)
DOTTED = re.compile(r"[-+]?(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d*)?", re.ASCII)
POINT_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)
WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}", re.ASCII)
YEAR_FIRST = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)([T ]\d\d:\d\d\S*)?", re.ASCII)
YEAR_LAST = re.compile(r"(\d\d?)([./-])(\d\d?)\2(\d{4})((?: \d\d:\d\d(?::\d\d)?)?)", re.ASCII)

TEXT = "text"
WRITTEN = "as written"
"""The notation of columns for kernels on text, where '0110' is not a number."""
NUMBER, THOUSANDS, COMMA = "number", "thousands", "decimal comma"
POINTS = "decimal comma, points between thousands"
COMMAS_OUT = str.maketrans("", "", "," + SPACES)
POINTS_OUT = str.maketrans(",", ".", "." + SPACES)
NUMBERS: dict[str, tuple[re.Pattern[str], dict[int, int | None]]] = {
    NUMBER: (PLAIN, {}),
    THOUSANDS: (GROUPED, COMMAS_OUT),
    COMMA: (DECIMAL_COMMA, POINTS_OUT),
    POINTS: (DOTTED, POINTS_OUT),
}
DATES = ("year first", "month first", "day first")
"""The notations to try for a column of text, after those of numbers; the first that fits wins."""


def meanings(notation: str, texts: Iterable[str]) -> pd.Series:
    """Return the numbers or dates of texts in a notation, with gaps for texts that do not fit.

    >>> meanings("decimal comma", ["0,5", "2", "red"]).tolist()
    [0.5, 2.0, nan]
    """
    if notation in DATES:
        dates = [date_of(_with_year_first(text, notation)) for text in texts]
        return pd.Series(np.array(dates, dtype="datetime64[s]"))
    numbers = pd.Series([_in_digits(text, notation) for text in texts], dtype=object)
    try:
        return pd.to_numeric(numbers)
    except ValueError:  # Before pandas 3, for a number too large to be finite.
        return numbers.astype(np.float64)


def _in_digits(text: str, notation: str) -> str | None:
    """Return a number as Python writes it."""
    pattern, dropped = NUMBERS[notation]
    text = text.translate(MINUS)
    # If points separate thousands, 1.397 does not mean what it means in Python.
    if notation != POINTS and PLAIN.fullmatch(text):
        return text
    return text.translate(dropped) if pattern.fullmatch(text) else None


def _with_year_first(text: str, notation: str) -> str:
    match = YEAR_LAST.fullmatch(text)
    if match is None:
        return text
    first, mark, second, year, time = match.groups()
    if notation == "year first" or (notation == "month first" and mark == "."):
        return ""
    day, month = (first, second) if notation == "day first" else (second, first)
    return f"{year}-{month:0>2}-{day:0>2}{time}"


def date_of(value: Any) -> datetime | None:
    """Return a date such as 2024-03-31 (13:45), in UTC if its zone is given; None if not a date."""
    match = YEAR_FIRST.fullmatch(str(value).strip())
    if match is None:
        return None
    year, month, day, time = match.groups()
    try:
        date = datetime.fromisoformat(f"{year}-{month}-{day}{time or ''}")
        return date if date.tzinfo is None else date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def is_ambiguous(text: str, notation: str) -> bool:
    """Return whether a comma may also be a decimal comma, or day and month in either order."""
    if notation == THOUSANDS:
        return bool(PLAIN.fullmatch(text) or EITHER.fullmatch(text.translate(MINUS)))
    match = YEAR_LAST.fullmatch(text)
    return (
        notation == "month first" and match is not None and max(map(int, match.group(1, 3))) <= 12
    )


def points_may_group(texts: Iterable[str], pointed: bool = True) -> bool:
    """Return whether points may separate thousands: three digits after each, in all texts.

    Texts without a point must be whole numbers; if ``pointed``, at least one has a point.
    """
    has_point = has_text = False
    for text in texts:
        pattern = POINT_GROUPED if "." in text else WHOLE
        if not pattern.fullmatch(text.strip().translate(MINUS)):
            return False
        has_text = True
        has_point = has_point or "." in text
    return has_point if pointed else has_text
