"""Dates as numbers: days since the first one, and the month, weekday and hour."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_datetime64_any_dtype

from mklkit.datasets.notations import date_of
from mklkit.datasets.readings import take_as_gaps

__all__ = ["DateParts", "is_date"]

DAYS = "days"
PARTS = ("month", "weekday", "hour")
EPOCH, DAY = np.datetime64(0, "s"), np.timedelta64(86400, "s")


def is_date(column: pd.Series) -> bool:
    """Return whether a column holds dates.

    Examples
    --------
    >>> is_date(pd.Series(pd.to_datetime(["2024-03-31", None]))), is_date(pd.Series(["soon"]))
    (True, False)
    """
    if is_datetime64_any_dtype(column):
        return bool(column.notna().any())
    return pd.api.types.infer_dtype(column, skipna=True) in ("date", "datetime")


@attrs.frozen
class DateParts:
    """The numbers that a column of dates becomes.

    ``"days"`` since the first in training (with the time of day as the fraction) and, if they vary
    there, ``"month"`` (1 to 12), ``"weekday"`` (Monday is 0) and ``"hour"``.
    """

    first_day: float
    parts: Sequence[str]

    @classmethod
    def of(cls, column: pd.Series) -> DateParts:
        """Return the parts of training dates that vary."""
        numbers = _numbers(column)
        vary = [p for p in PARTS if len(np.unique(numbers[p][~np.isnan(numbers[p])])) > 1]
        return cls(float(np.floor(np.nanmin(numbers[DAYS]))), [DAYS, *vary])

    def numbers(self, column: pd.Series) -> NDArray[np.float64]:
        """Return the parts of dates (n, n_parts), with NaN for gaps.

        Raises
        ------
        DataError
            If more than a few values, which count as gaps, are no dates.
        """
        numbers = _numbers(column)
        numbers[DAYS] = numbers[DAYS] - self.first_day
        return np.column_stack([numbers[part] for part in self.parts])

    def names(self, column: str) -> list[str]:
        """Return the names of the parts of a column."""
        return [column if part == DAYS else f"{column}_{part}" for part in self.parts]

    def described(self, column: str) -> str:
        """Say what a column has become."""
        first = np.datetime64(int(self.first_day), "D")
        rest = f", with {' and '.join(self.parts[1:])}" if len(self.parts) > 1 else ""
        return f"dates in {column!r} as days since {first}{rest}"


def _numbers(column: pd.Series) -> dict[str, NDArray[np.float64]]:
    dates = pd.Series(_seconds(column))
    numbers = {
        DAYS: (dates - EPOCH) / DAY,
        "month": dates.dt.month,
        "weekday": dates.dt.day_of_week,
        "hour": dates.dt.hour,
    }
    return {part: values.to_numpy(np.float64) for part, values in numbers.items()}


def _seconds(column: pd.Series) -> NDArray[np.datetime64]:
    if is_datetime64_any_dtype(column):
        utc = column if column.dt.tz is None else column.dt.tz_convert(None)
        return utc.to_numpy(dtype="datetime64[s]")
    dates = [None if gap else date_of(v) for v, gap in zip(column, column.isna(), strict=True)]
    seconds = np.array(dates, dtype="datetime64[s]")
    take_as_gaps(column, np.flatnonzero(np.isnat(seconds) & column.notna().to_numpy()), "dates")
    return seconds
