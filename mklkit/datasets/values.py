"""Values of special types as equivalent numbers or text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time
from decimal import Decimal
from typing import Any

import pandas as pd

from mklkit.errors import quoted

__all__ = ["plain_values"]


def plain_values(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with decimals, durations and times of day as floats, bytes as text, and notes.

    Examples
    --------
    >>> from datetime import time
    >>> plain_values(pd.DataFrame({"begin": [time(1, 0, 30), None]}))[0]["begin"].tolist()
    [3630.0, nan]
    """
    new: dict[int, pd.Series] = {}
    notes = []
    for place in [place for place, kind in enumerate(frame.dtypes) if kind.kind in "Om"]:
        column = frame.iloc[:, place]
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if column.dtype.kind == "m" or kind in ("timedelta", "timedelta64"):
            new[place] = pd.to_timedelta(column).dt.total_seconds()
            notes.append(f"durations in column {quoted(column.name)} taken as seconds")
        elif kind in PLAIN:
            new[place] = column.map(PLAIN[kind], na_action="ignore")
            if kind != "bytes":
                new[place] = new[place].astype("float64")
        if kind == "time":
            notes.append(f"times in column {quoted(column.name)} taken as seconds of the day")
    if not new:
        return frame, notes
    columns = [new.get(place, frame.iloc[:, place]) for place in range(frame.shape[1])]
    # Not by name, as names may be repeated here.
    return pd.concat(columns, axis=1).set_axis(frame.columns, axis=1), notes


def _second_of_day(value: time) -> float:
    return 3600 * value.hour + 60 * value.minute + value.second + 1e-6 * value.microsecond


def _as_float(value: Decimal) -> float:
    return float("nan") if value.is_nan() else float(value)


def _as_text(value: bytes) -> str:
    # Bytes that are not UTF-8 stay distinguishable.
    return value.decode("utf-8", "backslashreplace")


PLAIN: dict[str, Callable[[Any], float | str]] = {
    "time": _second_of_day,
    "decimal": _as_float,
    "bytes": _as_text,
}
