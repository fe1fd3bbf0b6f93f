"""Reading one column as numbers or as text, whatever type the file reader chose."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from sklearn.preprocessing import OneHotEncoder

from mklkit.datasets.readings import TYPING_ERRORS, read_columns
from mklkit.datasets.values import plain_values
from mklkit.errors import DataError, counted, named, quoted, suggest
from mklkit.estimators.table_reading import row_of
from mklkit.numerics.readings import MISSING

__all__ = [
    "all_as_numbers",
    "as_frame",
    "as_numbers",
    "is_numeric",
    "read_as_told",
    "take_as_gaps",
    "text_of",
    "unseen_values",
]

# Squares of larger numbers overflow, in scaling and in every kernel.
LARGEST = 1e150


def as_frame(X: Any, names: Sequence[str] | None = None, idle: Sequence[str] = ()) -> pd.DataFrame:
    """Return X as a DataFrame with text names and plain values.

    Parameters
    ----------
    X : DataFrame or array of shape (n, m)
    names : sequence of str, optional
        The columns to return, in that order. All by default.
    idle : sequence of str, optional
        Those that a DataFrame may lack, as nothing depends on them; they are then empty.
    """
    if not isinstance(X, pd.DataFrame):
        array = np.asarray(X)
        if array.ndim != 2:
            raise DataError(
                f"Expected a table of 2 dimensions (rows, columns), got {array.ndim}."
                " Reshape a single row with X.reshape(1, -1)."
            )
        if names is not None and array.shape[1] != len(names):
            raise DataError(
                f"The table has {array.shape[1]} columns; there were {len(names)} in training."
            )
        columns = [f"x{i}" for i in range(array.shape[1])] if names is None else list(names)
        return plain_values(pd.DataFrame(array, columns=columns).infer_objects())[0]
    frame = X.set_axis([str(name) for name in X.columns], axis=1)
    wanted = frame.columns.tolist() if names is None else list(names)
    missing = [name for name in wanted if name not in frame.columns and name not in idle]
    if missing:
        others = [name for name in frame.columns.tolist() if name not in wanted]
        raise DataError(
            f"The rows lack {named(missing)} of the training data.{suggest(missing[0], others)}"
        )
    frame = frame.loc[:, frame.columns.isin(wanted)]
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise DataError(f"Column names must be unique; {quoted(repeated[0])} occurs twice.")
    return plain_values(frame.reindex(columns=wanted))[0]


def read_as_told(
    frame: pd.DataFrame, readings: Mapping[str, str] | None
) -> tuple[pd.DataFrame, dict[str, str], list[str]]:
    """Read columns of text; labels of rows may repeat, which their numbers do not."""
    read, found, notes = read_columns(frame.reset_index(drop=True), ways=readings)
    return read.set_axis(frame.index), found, notes


def is_numeric(column: pd.Series) -> bool:
    """Return whether a column holds numbers; one without any value counts as numeric."""
    if is_bool_dtype(column):
        return False
    if is_numeric_dtype(column) or column.isna().all():
        return True
    if column.dtype != object:
        return False
    return all(isinstance(v, Number) and not isinstance(v, bool) for v in column.dropna())


def all_as_numbers(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return numeric columns as ``as_numbers`` does for each."""
    if all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in frame.dtypes):
        # Tables may be very wide; column by column would take seconds.
        numbers = frame.to_numpy(dtype=np.float64, copy=True)
        if not (np.abs(numbers) > LARGEST).any():
            return numbers
    out = np.empty(frame.shape)
    for place, (_, column) in enumerate(frame.items()):
        out[:, place] = as_numbers(column)
    return out


def as_numbers(column: pd.Series) -> NDArray[np.float64]:
    """Return a numeric column as floats with NaN for gaps.

    A few values that are no numbers count as gaps, as they do in training, and are said.

    Raises
    ------
    DataError
        If it holds more of them, or a number that is infinite or too large to square.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if np.issubdtype(getattr(column.dtype, "type", object), np.complexfloating):
        raise DataError(f"Column {column.name!r} holds complex numbers; real numbers are expected.")
    numbers = _as_floats(column)
    odd = np.flatnonzero(np.isnan(numbers) & column.notna().to_numpy())
    take_as_gaps(column, odd, "number")
    large = np.flatnonzero(np.abs(numbers) > LARGEST)
    if len(large):
        kind = "infinite" if np.isinf(numbers[large[0]]) else f"larger than {LARGEST:g}"
        row = row_of(column, int(large[0]))
        raise DataError(
            f"Column {column.name!r} holds a number that is {kind} in {row}"
            f" ({counted(len(large), 'such value')}): rescale it or leave it empty."
        )
    return numbers


def take_as_gaps(column: pd.Series, odd: NDArray[np.intp], kind: str) -> None:
    """Warn of the places of a column that hold no number or date, which are taken as gaps.

    Raises
    ------
    DataError
        If they are more than the share that training takes for typing errors. A single number may
        be wrong in any case; a single date is rather one of another form.
    """
    if not len(odd):
        return
    place = int(odd[0])
    more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
    first = f"{quoted(str(column.iloc[place]), 60)} in {row_of(column, place)}{more}"
    if len(odd) > max(kind == "number", TYPING_ERRORS * len(column)):
        was, advice = (
            ("was numeric", "correct these values, or leave them empty")
            if kind == "number"
            else ("held dates", "write dates as 2024-03-31")
        )
        raise DataError(
            f"Column {quoted(column.name)} {was} in training but holds {first}: {advice}."
        )
    warnings.warn(
        f"column {quoted(column.name)} holds {first}, not a {kind}: taken as a gap", stacklevel=2
    )


def _as_floats(column: pd.Series) -> NDArray[np.float64]:
    try:
        numbers = pd.to_numeric(column, errors="coerce")
        return numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError:
        # Python's integers are unbounded, floats are not.
        return column.map(_bounded, na_action="ignore").to_numpy(dtype=np.float64)


def _bounded(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def text_of(frame: pd.DataFrame, gap: str | None = MISSING) -> NDArray[np.object_]:
    """Return columns as text, so that 1, 1.0 and '1' are one value whatever the file reader.

    ``gap`` stands for missing values.
    """
    out = np.empty(frame.shape, dtype=object)
    for place, name in enumerate(frame.columns):
        column = frame[name]
        if column.dtype == object:
            # Among objects True and 1 count as one value, but are different words.
            out[:, place] = [
                gap if missing else _word(value)
                for value, missing in zip(column, column.isna(), strict=True)
            ]
        else:
            codes, distinct = pd.factorize(column)
            # A gap has the code -1, and so the last word.
            words = [*map(_word, distinct.astype(object)), gap]
            out[:, place] = np.array(words, dtype=object)[codes]
    return out


def _word(value: object) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def unseen_values(
    frame: pd.DataFrame, names: Sequence[str], one_hot: OneHotEncoder
) -> Iterator[tuple[str, NDArray[np.object_]]]:
    """Yield each text column with its values that a fitted encoder of these columns does not have.

    Yields
    ------
    name : str
    values : ndarray of shape (n,)
        As text, one for each row with such a value, in the order of the rows.
    """
    if not names:
        return
    for name, known in zip(names, one_hot.categories_, strict=True):
        if name in frame:
            codes, distinct = pd.factorize(text_of(frame[[name]])[:, 0])
            new = ~np.isin(distinct.astype(str), known.astype(str))
            yield name, distinct[codes[new[codes]]]
