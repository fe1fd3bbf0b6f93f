"""Dates as numbers: days since the first one, and the month, weekday and hour."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

from mklkit.datasets.columns import take_as_gaps

__all__ = ["DAYS", "PARTS", "date_parts", "is_date", "parts_in_use"]

DAYS = "days"
PARTS = ("month", "weekday", "hour")
"""The parts of a date besides its day, used if they vary in training; Monday is weekday 0."""

ISO_DATE = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)([T ]\d\d:\d\d\S*)?", re.ASCII)


def is_date(column: pd.Series) -> bool:
    """Return whether a column holds dates, or text of the form 2024-03-31 (13:45).

    Examples
    --------
    >>> is_date(pd.Series(["2024-03-31", None, "2024-04-01 13:45"]))
    True
    >>> is_date(pd.Series(["2024-03-31", "soon"]))
    False
    """
    if is_numeric_dtype(column) or column.isna().all():
        return False
    return is_datetime64_any_dtype(column) or all(
        _date_of(value) is not None for value in column.dropna()
    )


def date_parts(column: pd.Series) -> dict[str, NDArray[np.float64]]:
    """Return a column of dates as numbers, with NaN for gaps.

    Returns
    -------
    dict
        ``days`` since 1970 (with the time of day as the fraction), ``month`` (1 to 12),
        ``weekday`` (0 to 6) and ``hour``.

    Raises
    ------
    DataError
        If more than a few values, which count as gaps, are no dates.
    """
    seconds = _seconds(column)
    gaps = np.isnat(seconds)
    months = seconds.astype("datetime64[M]").astype(np.int64) % 12 + 1
    days = seconds.astype("datetime64[D]").astype(np.int64)
    of_day = (seconds - seconds.astype("datetime64[D]")).astype(np.int64)
    parts = {
        DAYS: days + of_day / 86400,
        "month": months,
        # 1970 began on a Thursday.
        "weekday": (days + 3) % 7,
        "hour": of_day // 3600,
    }
    return {part: np.where(gaps, np.nan, values) for part, values in parts.items()}


def parts_in_use(column: pd.Series) -> tuple[float, list[str]]:
    """Return the first day of a column of dates, and the parts to use: days, and what varies."""
    known = {part: values[~np.isnan(values)] for part, values in date_parts(column).items()}
    vary = [part for part in PARTS if len(np.unique(known[part])) > 1]
    return float(np.floor(known[DAYS].min())), [DAYS, *vary]


def _seconds(column: pd.Series) -> NDArray[np.datetime64]:
    if is_datetime64_any_dtype(column):
        if getattr(column.dt, "tz", None) is not None:
            column = column.dt.tz_convert(None)
        return column.to_numpy(dtype="datetime64[s]")
    out = np.full(len(column), "NaT", dtype="datetime64[s]")
    odd = []
    for place in np.flatnonzero(column.notna()):
        date = _date_of(column.iloc[place])
        if date is None:
            odd.append(place)
        else:
            out[place] = np.datetime64(date, "s")
    take_as_gaps(column, np.asarray(odd, dtype=np.intp), "date")
    return out


def _date_of(value: Any) -> datetime | None:
    """Return a date, in UTC if its zone is given, or None if the value is not a date."""
    match = ISO_DATE.fullmatch(str(value).strip())
    if match is None:
        return None
    year, month, day, time = match.groups()
    try:
        date = datetime.fromisoformat(f"{year}-{month}-{day}{time or ''}")
        return date if date.tzinfo is None else date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
