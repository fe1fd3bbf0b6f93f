"""The column of a table that holds the weights of its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mklkit.datasets.target import named_column
from mklkit.errors import DataError, quoted

__all__ = ["choose_weights", "numbers_of_weights"]


def choose_weights(columns: list[str], given: str | int, target: str | int | None) -> str:
    """Return the name of the column of weights.

    Parameters
    ----------
    columns : list of str
        All columns of the data.
    given : str or int
        A name or a position.
    target : str, int or None
        The target as the user gave it.

    Raises
    ------
    DataError
        If there is no such column, or it is the target.

    Examples
    --------
    >>> choose_weights(["age", "often", "kind"], "often", None)
    'often'
    """
    name = named_column(columns, given, "to take as the weights of the rows")
    if target is not None and named_column(columns, target, "to take as the target") == name:
        raise DataError(
            f"Column {quoted(name)} is the target and can't hold the weights of the rows too."
        )
    return name


def numbers_of_weights(column: pd.Series) -> pd.Series:
    """Return the weights as numbers.

    Raises
    ------
    DataError
        If one is no number, negative or not finite; the message names the row.

    Examples
    --------
    >>> numbers_of_weights(pd.Series([1, 2], name="often")).tolist()
    [1.0, 2.0]
    """
    numbers = pd.to_numeric(column, errors="coerce").astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        found = column.iloc[wrong[0]]
        value = "nothing" if pd.isna(found) else quoted(found)
        raise DataError(
            f"The column {quoted(str(column.name))} holds the weights of the rows, which must be"
            f" finite numbers from 0 up; row {wrong[0] + 1} has {value}."
        )
    return numbers
