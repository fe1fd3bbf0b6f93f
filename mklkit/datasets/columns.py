"""A table's columns as numbers, dates or text, whatever type the file reader chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import time
from decimal import Decimal
from numbers import Number
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import (
    is_bool_dtype,
    is_complex_dtype,
    is_datetime64_any_dtype,
    is_list_like,
    is_numeric_dtype,
)

from mklkit.datasets.notations import date_of
from mklkit.datasets.readings import take_as_gaps
from mklkit.errors import DataError, counted, named, quoted, suggest
from mklkit.estimators.joining import SEPARATOR, one_table
from mklkit.estimators.reading import row_of
from mklkit.numerics.sparse import as_matrix, of_zeros, values_of
from mklkit.registry.readings import MISSING_CATEGORY, words_of

# Squares of larger numbers overflow, in scaling and in every kernel.
LARGEST = 1e150
DAYS = "days"
PARTS = ("month", "weekday", "hour")
EPOCH, DAY = np.datetime64(0, "s"), np.timedelta64(86400, "s")


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


def without_value(frame: pd.DataFrame, value: Any) -> pd.DataFrame:
    """Return a table with gaps in place of a value, text or a number; None replaces nothing."""
    if value is None:
        return frame
    number = pd.to_numeric(str(value), errors="coerce")
    holds = {
        name: column == number
        if is_numeric_dtype(column.dtype)
        else column.astype(str) == str(value)
        for name, column in frame.items()
    }
    return frame.mask(pd.DataFrame(holds, frame.index))


def check_names(names: Sequence[str], file: str = "") -> None:
    """Raise a ``DataError`` if columns, perhaps of a file, have the same name."""
    name, occurrences = Counter(names).most_common(1)[0] if len(names) else ("", 0)
    if occurrences > 1:
        times = "twice" if occurrences == 2 else f"{occurrences} times"
        place = f" in {file}" if file else ""
        raise DataError(f"Column names must be unique; {quoted(name)} occurs {times}{place}.")


def plain_values(frame: pd.DataFrame, file: str = "") -> tuple[pd.DataFrame, list[str]]:
    """Return a table with decimals, durations and times as floats, bytes as text, and notes.

    Raises a ``DataError`` if names are repeated, or cells hold lists or records.
    """
    check_names(frame.columns.tolist(), file)
    new: dict[int, pd.Series] = {}
    notes = []
    for place in [place for place, kind in enumerate(frame.dtypes) if kind.kind in "Om"]:
        column = frame.iloc[:, place]
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if column.dtype.kind == "m" or kind == "timedelta":
            new[place] = pd.to_timedelta(column).dt.total_seconds()
            notes.append(f"durations in column {quoted(column.name)} taken as seconds")
        elif kind.startswith(("mixed", "unknown")):
            _check_flat(column, file)
        elif kind in PLAIN:
            values = column.map(PLAIN[kind], na_action="ignore")
            new[place] = values if kind == "bytes" else values.astype(np.float64)
        if kind == "time":
            notes.append(f"times in column {quoted(column.name)} taken as seconds of the day")
    if new:
        columns = [new.get(place, frame.iloc[:, place]) for place in range(frame.shape[1])]
        frame = pd.concat(columns, axis=1).set_axis(frame.columns, axis=1)
    return frame, notes


def _check_flat(column: pd.Series, file: str) -> None:
    nested = next((value for value in column if is_list_like(value)), None)
    if nested is not None:
        place = f" of {file}" if file else ""
        raise DataError(
            f"Column {quoted(column.name)}{place} holds"
            f" {'records' if isinstance(nested, Mapping) else 'lists'}; expected a number or text"
            " per row: spread it over several columns, or remove it."
        )


def as_frame(
    X: Any, names: Sequence[str] | None = None, idle: Sequence[str] = (), y: Any = None
) -> pd.DataFrame:
    """Return X as a DataFrame with text names and plain values.

    It has the columns ``names`` in that order. A DataFrame may lack ``idle`` columns, on which
    nothing depends; they are then empty. Sources of a mapping have the samples of the targets
    ``y``, if both have an index.
    """
    X = X if isinstance(X, pd.DataFrame) else one_table(X, y)
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
        X = pd.DataFrame(array, columns=columns).infer_objects()
    present = [str(name) for name in X.columns.tolist()]
    frame = X.set_axis(present, axis=1)
    wanted = present if names is None else list(names)
    if present == wanted:  # Tables may be very wide.
        return plain_values(frame)[0]
    there = {*present, *idle}
    missing = [name for name in wanted if name not in there]
    if missing:
        known = {*wanted}
        others = [name for name in present if name not in known]
        raise DataError(
            f"The rows lack {named(missing)} of the training data.{suggest(missing[0], others)}"
        )
    frame = frame.loc[:, frame.columns.isin(wanted)]
    check_names(frame.columns.tolist())
    return plain_values(frame.reindex(columns=wanted))[0]


def is_number_type(kind: Any) -> bool:
    """Return whether the type of a column is one of whole or real numbers, perhaps sparse ones."""
    return isinstance(kind, np.dtype | pd.SparseDtype) and kind.kind in "iuf"


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
    """Return columns of numbers as floats, with NaN for gaps.

    A few values that are not numbers count as gaps, as in training, with a warning. More of them
    raise an error, and so do numbers that are infinite or too large to square.
    """
    if all(is_number_type(kind) for kind in frame.dtypes):
        # Tables may be very wide; column by column would take seconds.
        numbers = values_of(frame).astype(np.float64)
        # The extremes, which take no memory, of the known numbers.
        extremes = [ufunc.reduce(numbers, axis=None, initial=0.0) for ufunc in (np.fmin, np.fmax)]
        if max(np.abs(extremes)) <= LARGEST:
            return numbers
    out = np.empty(frame.shape)
    for place, (_, column) in enumerate(frame.items()):
        out[:, place] = _as_numbers(column)
    return out


def stay_sparse(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which columns of a table (d,) are sparse, and hold plain numbers or gaps."""
    places = of_zeros(frame)
    stay = np.zeros(frame.shape[1], bool)
    stay[places] = True
    if len(places):
        matrix = as_matrix(frame.iloc[:, places])
        stay[places[matrix.col[np.abs(matrix.data) > LARGEST]]] = False
    return stay


def _as_numbers(column: pd.Series) -> NDArray[np.float64]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if is_complex_dtype(column.dtype):
        raise DataError(f"Column {column.name!r} holds complex numbers; expected real ones.")
    try:
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    except OverflowError:  # Python's integers are unbounded, floats are not.
        numbers = column.map(_bounded, na_action="ignore").to_numpy(dtype=np.float64)
    take_as_gaps(column, np.flatnonzero(np.isnan(numbers) & column.notna().to_numpy()), "numbers")
    large = np.flatnonzero(np.abs(numbers) > LARGEST)
    if len(large):
        size = "infinite" if np.isinf(numbers[large[0]]) else f"larger than {LARGEST:g}"
        row = row_of(column.index, int(large[0]))
        raise DataError(
            f"Column {column.name!r} holds a number that is {size} in {row}"
            f" ({counted(len(large), 'such value')}): rescale it or leave it empty."
        )
    return numbers


def _bounded(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def text_of(frame: pd.DataFrame, gap: str | None = MISSING_CATEGORY) -> NDArray[np.object_]:
    """Return columns as words (:func:`mklkit.registry.readings.words_of`).

    ``gap`` stands for missing values.
    """
    out = np.empty(frame.shape, dtype=object)
    for place, name in enumerate(frame.columns):
        column = frame[name]
        if column.dtype == object:
            # Among objects True and 1 count as one value, but are different words.
            out[:, place] = words_of(column, gap)
        else:
            codes, distinct = pd.factorize(column)
            # A gap has the code -1, and so the last word.
            words = [*words_of(distinct.astype(object)), gap]
            out[:, place] = np.array(words, dtype=object)[codes]
    return out


def is_date(column: pd.Series) -> bool:
    """Return whether a column holds dates."""
    if is_datetime64_any_dtype(column):
        return bool(column.notna().any())
    return pd.api.types.infer_dtype(column, skipna=True) in ("date", "datetime")


@attrs.frozen
class DateParts:
    """The numbers that replace a column of dates.

    ``"days"`` since the first in training (with the time of day as the fraction) and, if they vary
    there, ``"month"`` (1 to 12), ``"weekday"`` (Monday is 0) and ``"hour"``.
    """

    first_day: float
    parts: Sequence[str]

    @classmethod
    def of(cls, column: pd.Series) -> DateParts:
        """Return the parts of training dates that vary."""
        numbers = _parts_of_dates(column)
        vary = [p for p in PARTS if len(np.unique(numbers[p][~np.isnan(numbers[p])])) > 1]
        return cls(float(np.floor(np.nanmin(numbers[DAYS]))), [DAYS, *vary])

    def numbers(self, column: pd.Series) -> NDArray[np.float64]:
        """Return the parts of dates (n, n_parts), with NaN for gaps."""
        numbers = _parts_of_dates(column)
        numbers[DAYS] = numbers[DAYS] - self.first_day
        return np.column_stack([numbers[part] for part in self.parts])

    def names(self, column: str) -> list[str]:
        """Return the names of the parts of a column."""
        return [column if part == DAYS else f"{column}_{part}" for part in self.parts]

    def described(self, column: str) -> str:
        """Describe the numbers that replace a column."""
        first = np.datetime64(int(self.first_day), "D")
        rest = f", with {' and '.join(self.parts[1:])}" if len(self.parts) > 1 else ""
        return f"dates in {column!r} as days since {first}{rest}"


def _parts_of_dates(column: pd.Series) -> dict[str, NDArray[np.float64]]:
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


def source_of(name: str) -> str:
    """Return the first part of a name with ``*``, or the name if it has only one part."""
    match = SEPARATOR.search(name)
    return name if match is None else f"{name[: match.end()]}*"


def by_source(columns: Sequence[str], every: Sequence[str]) -> list[str]:
    """Return columns for display: those of a source as one entry if ``every`` one is there."""
    sources: dict[str, list[str]] = {}
    for name in columns:
        sources.setdefault(source_of(name), []).append(name)
    sizes = Counter(map(source_of, every))
    shown = []
    for source, names in sources.items():
        whole = len(names) > 3 and len(names) == sizes[source]
        shown += [f"{source} ({len(names)} columns)"] if whole else names
    return shown


def unique_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number if another column has it, and reserve it."""
    unique = name
    number = 1
    while unique in taken:
        number += 1
        unique = f"{name}_{number}"
    taken.add(unique)
    return unique
