"""What a column of a table holds: numbers, text, dates or other values."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from numbers import Number, Real
from typing import Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_complex_dtype, is_numeric_dtype, is_object_dtype

__all__ = ["Holds", "what_it_holds"]

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
