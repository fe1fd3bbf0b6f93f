"""From a user's table to the numbers, code points and codes that its kernels read."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from numbers import Number, Real
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_complex_dtype, is_numeric_dtype, is_object_dtype
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names

from mklkit.errors import DataError, MKLKitError, counted, quoted
from mklkit.estimators.assign_columns import WORDS, Bank, Holds, assign_columns
from mklkit.protocols import Array, Reads, Rows, RowSource
from mklkit.registry.columns import resolve_columns
from mklkit.registry.readings import MISSING_CATEGORY, category_codes, text_codes
from mklkit.views.bound_kernels import BoundKernel

SHARED = ("numbers", "row ids")
"""Kernels on these that name all columns act like those that name none, and share their rows."""

DATES = (date, timedelta, np.datetime64, np.timedelta64, pd.Period)
"""Dates, times and durations; pandas' own are subclasses."""


class TakesGaps(BaseEstimator):
    """An estimator whose rows may lack values."""

    def __sklearn_tags__(self) -> Any:
        """Declare it."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@attrs.frozen
class TableReading:
    """How a table is read for its kernels: the content of its columns, and what kernels read.

    A column without any value holds text if only kernels on text or categories name it, else
    numbers. ``plain``: kernels read numbers without gaps in all columns, which scikit-learn checks.
    Kernels read text, categories and row ids in the columns ``texts``, ``categories`` and ``ids``.
    Gaps in the categories ``filled`` form their own category, since a kernel does not skip them;
    the numbers in ``gaps`` may have gaps. ``notes`` report how gaps in training were treated.
    ``medians`` (d,) are those of the training rows, unless these were read in parts.
    """

    names: tuple[str, ...] | None
    holds: tuple[Holds, ...]
    plain: bool = True
    texts: tuple[int, ...] = ()
    categories: tuple[int, ...] = ()
    filled: tuple[int, ...] = ()
    gaps: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    medians: Array | None = attrs.field(default=None, eq=False)

    def numbers(self, X: Any) -> Array:
        """Return the columns of numbers in their places (n, d), with NaN for gaps and 0 elsewhere.

        A ``DataError`` refuses a column that holds something else now, and gaps in row ids.
        """
        frame = as_table(X)
        places = [place for place, holds in enumerate(self.holds) if holds == "numbers"]
        single = bool(places) and all(frame.dtypes.iloc[place] == np.float32 for place in places)
        numbers = np.zeros(frame.shape, dtype=np.float32 if single else np.float64)
        for place in places:
            column = frame.iloc[:, place]
            name, holds = quoted(str(column.name)), column_holds(column)
            try:
                if holds in ("dates", "complex numbers"):  # numbers to pandas
                    raise TypeError(holds)
                values = pd.to_numeric(column)
            except (TypeError, ValueError) as error:
                raise DataError(
                    f"Column {name} held numbers in the training data and holds something else"
                    f" now: {error!s:.100}."
                ) from None
            numbers[:, place] = values.to_numpy(dtype=numbers.dtype, na_value=np.nan)
            absent = np.flatnonzero(np.isnan(numbers[:, place]))
            if place in self.ids and len(absent):
                raise DataError(
                    f"Column {name} has a gap in {row_of(column, int(absent[0]))};"
                    " each row needs its number in the matrix."
                )
        return numbers

    def allowed_gaps(self, numbers: Array) -> NDArray[np.bool_]:
        """Return which of these numbers (n, d) are gaps that kernels skip, or text."""
        return np.isnan(numbers) & np.isin(np.arange(numbers.shape[1]), self.gaps)

    def with_gaps(self, rows: Rows) -> Rows:
        """Return rows that lack values, with the medians of training, or their own when training.

        Columns whose gaps kernels skip have none.
        """
        medians = self.medians
        if medians is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of columns without values
                # Several times as fast without gaps, as in most fits.
                median = np.nanmedian if np.isnan(rows.numbers).any() else np.median
                medians = np.nan_to_num(median(rows.numbers, axis=0))
            medians[[*self.gaps, *self.categories]] = np.nan
        return attrs.evolve(rows, medians=medians)

    def rows(self, X: Any, numbers: Array) -> Rows:
        """Return everything that kernels read in a table; ``numbers`` are its numbers (n, d)."""
        frame = as_table(X)
        others: dict[tuple[Reads, int], Array] = {}
        for place in self.texts:
            column = frame.iloc[:, place]
            values = column.astype(object).mask(column.isna(), "").tolist()
            wrong = next((value for value in values if not isinstance(value, str)), None)
            if wrong is not None:
                raise DataError(
                    f"Column {quoted(str(column.name))} held text in the training data and holds"
                    f" {wrong!r:.40} now: turn it into text."
                )
            others["text", place] = codes = text_codes(values)
            codes[column.isna()] = np.nan
        for place in self.categories:
            if self.holds[place] == "numbers":
                codes = numbers[:, place].astype(np.float64)
                if place not in self.filled or not np.isnan(codes).any():
                    continue
            else:
                codes = category_codes(frame.iloc[:, place].to_numpy(dtype=object))
            if place in self.filled:
                codes = np.where(np.isnan(codes), category_codes([MISSING_CATEGORY]), codes)
            others["categories", place] = codes
        rows = Rows(numbers, others)
        gaps = any(np.isnan(others["text", place][:, 0]).any() for place in self.texts)
        return self.with_gaps(rows) if gaps else rows


def read_table(X: Any, banks: Sequence[Bank]) -> tuple[TableReading, list[list[BoundKernel]]]:
    """Return how a table is read for some kernels, and the kernels bound to its columns.

    A search may have several banks of kernels, with columns as the user gave them.
    """
    n_columns, names = _header(X)
    placed = [placed_kernels(bank, n_columns, names) for bank in banks]
    every = [kernel for bank in placed for kernel in bank]
    in_parts = isinstance(X, RowSource)
    on_text = [kernel.label for kernel in every if kernel.reads == "text"]
    if in_parts and on_text:
        raise DataError(
            f"Kernel {quoted(on_text[0])} reads text, and rows that are read in parts (files, Dask,"
            " memory maps) hold numbers only: pass a DataFrame."
        )
    holds: tuple[Holds, ...] = tuple("numbers" for _ in range(n_columns))
    if in_parts or not needs_reading(every, X):
        if any(kernel.reads != "numbers" or kernel.traits.share for kernel in every):
            placed = [assign_columns(bank, holds, names) for bank in placed]
        return TableReading(names, holds), placed
    frame = as_table(X)
    holds = _all_held(frame, every)
    bound = [assign_columns(bank, holds, names) for bank in placed]
    readers: list[list[BoundKernel]] = [[] for _ in holds]
    for kernel in (kernel for bank in bound for kernel in bank):
        for place in range(n_columns) if kernel.columns is None else kernel.columns.tolist():
            readers[place].append(kernel)

    def read_as(reads: str, fill: bool = False) -> tuple[int, ...]:
        return tuple(
            place
            for place, kernels in enumerate(readers)
            if any(k.reads == reads and not (fill and k.traits.allows_gaps) for k in kernels)
        )

    gaps = tuple(
        place
        for place, kernels in enumerate(readers)
        if kernels and all(k.traits.allows_gaps or k.reads in WORDS for k in kernels)
    )
    texts, categories, filled = read_as("text"), read_as("categories"), read_as("categories", True)
    left_out = sorted({*categories, *gaps} - {*texts, *filled})
    fates = {
        f"read as a category of their own, {MISSING_CATEGORY!r}": filled,
        "left out by its kernel": left_out,
    }
    n_gaps = frame.isna().sum().tolist()
    notes = tuple(
        f"{counted(n_gaps[place], 'gap')} in column {quoted(str(frame.columns[place]))} {fate}"
        for fate, places in fates.items()
        for place in places
        if n_gaps[place]
    )
    ids = read_as("row ids")
    return TableReading(names, holds, False, texts, categories, filled, gaps, ids, notes), bound


def placed_kernels(kernels: Bank, n_columns: int, names: Sequence[str] | None) -> list[BoundKernel]:
    """Return the kernels with their columns as positions; a ``DataError`` names missing columns."""
    placed = []
    for kernel in kernels:
        if kernel.columns is None:
            placed.append(kernel)
            continue
        try:
            columns = resolve_columns(kernel.columns, n_columns, names)
        except MKLKitError as error:
            raise DataError(f"Kernel {quoted(kernel.label)}: {error}") from None
        if columns is None and kernel.reads not in SHARED:
            columns = np.arange(n_columns)
        placed.append(attrs.evolve(kernel, columns=columns))
    return placed


def needs_reading(kernels: Bank, X: Any) -> bool:
    """Return whether a table must be read for its kernels; others are plain numbers."""
    if isinstance(X, pd.DataFrame):
        if not all(is_numeric_dtype(kind) for kind in X.dtypes):
            return True
        if any(kernel.reads == "row ids" for kernel in kernels):
            return True  # A gap there is refused by name.
    # scikit-learn detects text in arrays.
    return any(kernel.reads in WORDS or kernel.traits.allows_gaps for kernel in kernels)


def _header(X: Any) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of a table's columns and their names, None if it has none."""
    if isinstance(X, RowSource):
        return X.shape[1], None if X.column_names is None else tuple(X.column_names)
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        repeated = X.columns[X.columns.duplicated()][0]
        raise DataError(
            f"Column names must be unique, and {quoted(str(repeated))} occurs"
            f" {int((X.columns == repeated).sum())} times: rename the columns."
        )
    table = X if isinstance(X, pd.DataFrame) else np.asarray(X)
    shape = table.shape
    if len(shape) == 1 and table.dtype.kind in "OU":
        raise DataError(
            "X has values and no columns: pass a DataFrame with one column, such as"
            " pd.DataFrame({'text': X})."
        )
    if len(shape) != 2 or not shape[1]:
        check_array(X)  # It reports what is wrong.
    names = _get_feature_names(X)
    return shape[1], None if names is None else tuple(names)


def column_holds(column: pd.Series) -> Holds:
    """Return what a column holds; one without values counts as numbers, unless its type differs."""
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


def _all_held(frame: pd.DataFrame, kernels: Bank) -> tuple[Holds, ...]:
    """Return what each column holds; one without values holds text if kernels read it as text."""
    words: set[int] = set()
    others: set[int] = set()
    for kernel in kernels:
        if kernel.reads == "text" and kernel.columns is None:
            words |= set(range(frame.shape[1]))
        elif kernel.columns is not None:
            (words if kernel.reads in WORDS else others).update(kernel.columns.tolist())
    empty = frame.isna().all().to_numpy()
    return tuple(
        "text" if holds == "numbers" and empty[place] and place in words - others else holds
        for place, holds in enumerate(column_holds(column) for _, column in frame.items())
    )


def row_of(column: pd.Series, position: int) -> str:
    """Name a row by its index label, which is kept in a split, or by position from 1."""
    index = column.index
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return f"row {position + 1}"
    label = index[position]
    shown = f"{label}" if isinstance(label, Number) else f"{str(label)!r}"
    return f"the row with index {shown}" if index.name is None else f"{index.name} {shown}"


def as_table(X: Any) -> pd.DataFrame:
    """Return a table as a DataFrame."""
    if isinstance(X, pd.DataFrame):
        return X
    rows = np.asarray(X)
    return pd.DataFrame(rows).infer_objects() if rows.dtype == object else pd.DataFrame(rows)
