"""Columns that only name their rows, or count them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype, is_numeric_dtype

from mklkit.datasets.columns import is_date, is_numeric

LIKE_IDENTIFIERS = "a different value in every row, like identifiers"
# A column of fewer rows may have only distinct values by chance.
IDENTIFIER_ROWS = 20
# Distinct whole numbers may be a measurement, unless the column name marks them as ids.
IDENTIFIER_NAME = re.compile(r"id|uuid|guid|.*[\W_]id|.*[a-z0-9]I[dD]|ID|Id")


def find_identifiers(frame: pd.DataFrame) -> list[str]:
    """Return the columns that only name their rows, or count them.

    A column that counts the rows is kept if no other is left. Within a part of the rows, more
    columns may have a different value in each row.
    """
    # Tables may be very wide, and most columns of wide ones hold floats, which name no rows.
    places = [place for place, kind in enumerate(frame.dtypes) if not is_float_dtype(kind)]
    columns = {str(frame.columns[place]): frame.iloc[:, place] for place in places}
    naming = [name for name, column in columns.items() if _names_rows(column)]
    either = [name for name, column in columns.items() if name in naming or _counts_rows(column)]
    return either if len(either) < frame.shape[1] else naming


def _names_rows(column: pd.Series) -> bool:
    """Return whether a column has distinct texts, or distinct whole numbers and is called id."""
    if is_float_dtype(column) or is_bool_dtype(column):
        return False
    if is_numeric(column):
        called = IDENTIFIER_NAME.fullmatch(str(column.name))
        if not is_numeric_dtype(column) or called is None:
            return False
    values = column.dropna()
    if len(values) < max(IDENTIFIER_ROWS, len(column) / 2) or not values.is_unique:
        return False
    return not is_date(column)


def _counts_rows(column: pd.Series) -> bool:
    """Return whether a column numbers the rows from 0 or 1, like their index after a split."""
    if not is_integer_dtype(column) or len(column) < IDENTIFIER_ROWS or column.isna().any():
        return False
    values = column.to_numpy(dtype=np.float64)
    index = column.index
    places = index.to_numpy() if is_integer_dtype(index) else np.arange(len(column))
    ahead = values - places
    return bool(abs(ahead[0]) <= 1 and (ahead == ahead[0]).all())
