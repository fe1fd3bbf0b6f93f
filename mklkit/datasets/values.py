"""Conversion of values of special types to equivalent numbers or text."""

from __future__ import annotations

from datetime import time
from decimal import Decimal

import pandas as pd
from pandas.api.types import is_timedelta64_dtype

from mklkit.errors import quoted

__all__ = ["plain_values"]


def plain_values(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with decimals, durations and times of day as floats, and bytes as text.

    Parameters
    ----------
    frame : pandas.DataFrame

    Returns
    -------
    frame : pandas.DataFrame
        Unchanged if there is nothing to convert.
    notes : list of str
        Which columns were converted to seconds.

    Examples
    --------
    >>> from datetime import time
    >>> plain_values(pd.DataFrame({"begin": [time(1, 0, 30), None]}))[0]["begin"].tolist()
    [3630.0, nan]
    """
    places = [n for n, kind in enumerate(frame.dtypes) if kind.kind in "Om"]
    new: dict[int, pd.Series] = {}
    notes = []
    for place in places:
        column = frame.iloc[:, place]
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if is_timedelta64_dtype(column.dtype) or kind in ("timedelta", "timedelta64"):
            new[place] = pd.to_timedelta(column).dt.total_seconds()
            notes.append(f"durations in column {quoted(column.name)} taken as seconds")
        elif kind == "time":
            new[place] = column.map(_second_of_day, na_action="ignore").astype("float64")
            notes.append(f"times in column {quoted(column.name)} taken as seconds of the day")
        elif kind == "decimal":
            new[place] = column.map(_as_float, na_action="ignore").astype("float64")
        elif kind == "bytes":
            new[place] = column.map(_as_text, na_action="ignore")
    if not new:
        return frame, notes
    columns = [new.get(place, frame.iloc[:, place]) for place in range(frame.shape[1])]
    # Not by name, as names may be repeated here.
    return pd.concat(columns, axis=1).set_axis(frame.columns, axis=1), notes


def _second_of_day(value: time) -> float:
    return 3600 * value.hour + 60 * value.minute + value.second + 1e-6 * value.microsecond


def _as_float(value: Decimal) -> float:
    try:
        return float(value)
    except ValueError:  # A signalling NaN.
        return float("nan")


def _as_text(value: bytes) -> str:
    # Bytes that are not UTF-8 stay distinguishable.
    return value.decode("utf-8", "backslashreplace")
