"""What the columns of a table are encoded as."""

from __future__ import annotations

from typing import Literal

import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype

from mklkit.datasets.columns import is_numeric
from mklkit.datasets.dates import is_date
from mklkit.datasets.numerals import DATES, NUMBERS, WRITTEN

__all__ = ["kind_as_it_is", "kind_of"]

Kind = Literal["number", "date", "text"]


def kind_of(column: pd.Series, way: str) -> Kind:
    """Return what a column holds that is read in some way.

    Examples
    --------
    >>> kind_of(pd.Series(["a", "b"]), "text"), kind_of(pd.Series([1, 2]), "text")
    ('text', 'number')
    """
    if way in DATES:
        return "date"
    if is_float_dtype(column.dtype) or way in NUMBERS:
        return "number"
    if is_date(column):
        return "date"
    return "number" if is_numeric(column) else "text"


def kind_as_it_is(column: pd.Series, way: str) -> Kind:
    """Return what a column is that is passed on: whatever is no number is text.

    Examples
    --------
    >>> kind_as_it_is(pd.Series([True, False]), "text")
    'number'
    """
    numeric = way in NUMBERS or is_numeric(column) or is_bool_dtype(column)
    return "number" if numeric and way != WRITTEN else "text"
