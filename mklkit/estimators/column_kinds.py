"""What a column of a table holds, gaps among row ids, and how messages name its rows."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from numbers import Number, Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_complex_dtype, is_numeric_dtype, is_object_dtype

from mklkit.errors import DataError, quoted

__all__ = ["Holds", "check_row_ids", "check_texts_have_a_column", "row_of", "what_it_holds"]

Holds = Literal["numbers", "text", "dates", "complex numbers", "other values"]
"""What a column holds: only these (dates are also times and durations), or mixtures."""

DATES = (date, timedelta, np.datetime64, np.timedelta64, pd.Period)
"""Dates, times and durations; pandas' own are subclasses."""


def what_it_holds(column: pd.Series) -> Holds:
    """Return what a column holds; one without any value counts as numbers, except by its type."""
    kind = column.dtype
    if is_complex_dtype(kind):
        return "complex numbers"
    if is_numeric_dtype(kind):
        return "numbers"
    if kind.kind in "mM" or isinstance(kind, pd.PeriodDtype):
        return "dates"
    known = column.dropna()
    if is_object_dtype(kind) and all(isinstance(value, Number) for value in known):
        real = all(isinstance(value, Real | Decimal) for value in known)
        return "numbers" if real else "complex numbers"
    if len(known) and all(isinstance(value, DATES) for value in known):
        return "dates"
    return "text" if all(isinstance(value, str) for value in known) else "other values"


def check_texts_have_a_column(X: Any) -> None:
    """Refuse training texts that are not in a column of a table, with what to pass instead."""
    if np.ndim(X) == 1:
        raise DataError(
            "The kernels read a column of text, and X has no columns: pass a DataFrame with one"
            " column, such as pd.DataFrame({'text': X})."
        )


def check_row_ids(column: pd.Series) -> None:
    """Refuse gaps in a column of row ids, which nothing can fill."""
    gaps = np.flatnonzero(column.isna())
    if len(gaps):
        more = f" and {len(gaps) - 1} more" if len(gaps) > 1 else ""
        raise DataError(
            f"Column {quoted(str(column.name))} has a gap in {row_of(column, int(gaps[0]))}{more};"
            " each row needs its number in the matrix."
        )


def row_of(column: pd.Series, position: int) -> str:
    """Name a row by its index label, which is kept in a split, or by position from 1."""
    index = column.index
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return f"row {position + 1}"
    label = index[position]
    shown = f"{label}" if isinstance(label, Number) else f"{str(label)!r}"
    return f"the row with index {shown}" if index.name is None else f"{index.name} {shown}"
