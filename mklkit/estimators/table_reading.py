"""From a user's table to rows of numbers, code points and codes, as its kernels read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from numbers import Number, Real
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_complex_dtype, is_numeric_dtype, is_object_dtype
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names

from mklkit.errors import DataError, counted, quoted
from mklkit.estimators.assign_columns import WORDS, Bank, Holds, assign_columns, placed_kernels
from mklkit.numerics.readings import MISSING, category_codes, text_codes
from mklkit.protocols import Array, RowSource, TableRows
from mklkit.views.bound_kernels import BoundKernel

__all__ = ["TableReading", "needs_reading", "read_table", "row_of"]

DATES = (date, timedelta, np.datetime64, np.timedelta64, pd.Period)
"""Dates, times and durations; pandas' own are subclasses."""


@attrs.frozen
class TableReading:
    """How a table is read for its kernels: what its columns hold, and what kernels read in them.

    Attributes
    ----------
    names : tuple of str, or None
        The names of the columns, where they have any.
    holds : tuple of {"numbers", "text", "dates", "complex numbers", "other values"}
        What each column holds. One without any value holds text if only kernels on text or
        categories name it, else numbers.
    plain : bool
        Whether kernels read numbers without gaps in all columns, which scikit-learn checks.
    texts, categories, ids : tuple of int
        The columns in which a kernel reads text, categories, or row ids.
    filled : tuple of int
        Columns of categories whose gaps are a category of their own, as a kernel does not leave
        them out.
    gaps : tuple of int
        Columns of numbers that may have gaps.
    notes : tuple of str
        What became of gaps in the training data, a sentence each.
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

    @property
    def reads_words(self) -> bool:
        """Whether kernels read columns that hold no numbers."""
        return any(self.holds[place] != "numbers" for place in (*self.texts, *self.categories))

    def numbers(self, X: Any) -> Array:
        """Return the columns of numbers in their places (n, d), with NaN for gaps and 0 elsewhere.

        Raises
        ------
        DataError
            If a column of numbers holds something else now, or one of row ids has a gap.
        """
        frame = _as_frame(X)
        for place in self.ids:
            _check_row_ids(frame.iloc[:, place])
        columns = [place for place, holds in enumerate(self.holds) if holds == "numbers"]
        single = bool(columns) and all(frame.dtypes.iloc[place] == np.float32 for place in columns)
        numbers = np.zeros(frame.shape, dtype=np.float32 if single else np.float64)
        for place in columns:
            column = frame.iloc[:, place]
            try:
                if column_holds(column) in ("dates", "complex numbers"):  # numbers to pandas
                    raise TypeError(f"{column_holds(column)}")
                values = pd.to_numeric(column)
            except (TypeError, ValueError) as error:
                raise DataError(
                    f"Column {quoted(str(column.name))} held numbers in the training data and holds"
                    f" something else now: {error!s:.100}."
                ) from None
            numbers[:, place] = values.to_numpy(dtype=numbers.dtype, na_value=np.nan)
        return numbers

    def allowed_gaps(self, numbers: Array) -> NDArray[np.bool_]:
        """Return which of these numbers (n, d) are gaps that kernels leave out or that are text."""
        allowed = np.zeros(numbers.shape[1], dtype=bool)
        allowed[list(self.gaps)] = True
        return np.isnan(numbers) & allowed

    def rows(self, X: Any, numbers: Array) -> Array | TableRows:
        """Return all that kernels read in a table; ``numbers`` are its numbers (n, d)."""
        frame = _as_frame(X)
        texts, categories = {}, {}
        for place in self.texts:
            column = frame.iloc[:, place]
            gaps = column.isna()
            _check_text(column[~gaps])
            texts[place] = text_codes(column.astype(object).mask(gaps, "").tolist())
        for place in self.categories:
            if self.holds[place] == "numbers":
                codes = numbers[:, place].astype(np.float64)
                if place not in self.filled or not np.isnan(codes).any():
                    continue
            else:
                codes = category_codes(frame.iloc[:, place].to_numpy(dtype=object))
            if place in self.filled:
                (missing,) = category_codes([MISSING])
                codes = np.where(np.isnan(codes), missing, codes)
            categories[place] = codes
        return TableRows(numbers, texts, categories) if texts or categories else numbers


def read_table(X: Any, banks: Sequence[Bank]) -> tuple[TableReading, list[list[BoundKernel]]]:
    """Return how a table is read for some kernels, and the kernels bound to its columns.

    Parameters
    ----------
    X : DataFrame, array-like or RowSource of shape (N, d)
    banks : sequence of sequence of BoundKernel
        The kernels with columns as the user gave them; a search may have several banks.

    Raises
    ------
    ValueError
        If it is no table.
    DataError
        If a kernel's columns do not exist, it can't read them, or none are left for it.
    """
    n_columns, names = _header(X, banks)
    placed = [placed_kernels(bank, n_columns, names) for bank in banks]
    every = [kernel for bank in placed for kernel in bank]
    if isinstance(X, RowSource) or not needs_reading(every, X):
        holds: tuple[Holds, ...] = tuple("numbers" for _ in range(n_columns))
        return TableReading(names, holds), [assign_columns(bank, holds, names) for bank in placed]
    frame = _as_frame(X)
    holds = _all_held(frame, every)
    bound = [assign_columns(bank, holds, names) for bank in placed]
    readers: list[list[BoundKernel]] = [[] for _ in holds]
    for kernel in (kernel for bank in bound for kernel in bank):
        for column in range(n_columns) if kernel.columns is None else kernel.columns.tolist():
            readers[column].append(kernel)

    def columns_read(*reads: str, allow_gaps: bool = True) -> tuple[int, ...]:
        return tuple(
            column
            for column, kernels in enumerate(readers)
            if any(k.reads in reads and (allow_gaps or not k.facts.allows_gaps) for k in kernels)
        )

    gaps = tuple(
        column
        for column, kernels in enumerate(readers)
        if kernels and all(k.facts.allows_gaps or k.reads in WORDS for k in kernels)
    )
    reading = TableReading(
        names,
        holds,
        plain=False,
        texts=columns_read("text"),
        categories=columns_read("categories"),
        filled=columns_read("categories", allow_gaps=False),
        gaps=gaps,
        ids=columns_read("row ids"),
    )
    return attrs.evolve(reading, notes=tuple(_notes_on_gaps(reading, frame))), bound


def needs_reading(kernels: Bank, X: Any) -> bool:
    """Return whether a table has to be read for its kernels: all others are plain numbers."""
    if isinstance(X, pd.DataFrame):
        if not all(is_numeric_dtype(kind) for kind in X.dtypes):
            return True
        if any(kernel.reads == "row ids" for kernel in kernels):
            return True  # A gap there is refused by name.
    # scikit-learn detects text in arrays.
    return any(kernel.reads in WORDS or kernel.facts.allows_gaps for kernel in kernels)


def _header(X: Any, banks: Sequence[Bank]) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of a table's columns and their names, None if it has none."""
    text = next((k.label for bank in banks for k in bank if k.reads == "text"), None)
    if isinstance(X, RowSource):
        if text is not None:
            raise DataError(
                f"Kernel {quoted(text)} reads text, and rows that are read in parts (files, Dask,"
                " memory maps) hold numbers only: pass a DataFrame."
            )
        return X.shape[1], None if X.column_names is None else tuple(X.column_names)
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        repeated = X.columns[X.columns.duplicated()][0]
        raise DataError(
            f"Column names must be unique, and {quoted(str(repeated))} occurs"
            f" {int((X.columns == repeated).sum())} times: rename the columns."
        )
    shape = X.shape if isinstance(X, pd.DataFrame) else np.asarray(X).shape
    if text is not None and len(shape) == 1:
        raise DataError(
            "The kernels read a column of text, and X has no columns: pass a DataFrame with one"
            " column, such as pd.DataFrame({'text': X})."
        )
    if len(shape) != 2 or not shape[1]:
        check_array(X)  # It says what is wrong.
    names = _get_feature_names(X)
    return shape[1], None if names is None else tuple(names)


def column_holds(column: pd.Series) -> Holds:
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


def _all_held(frame: pd.DataFrame, kernels: Bank) -> tuple[Holds, ...]:
    """Return what each column holds; one without any value holds text where words are read."""
    words: set[int] = set()
    others: set[int] = set()
    for kernel in kernels:
        if kernel.reads == "text" and kernel.columns is None:
            words |= set(range(frame.shape[1]))
        elif kernel.columns is not None:
            (words if kernel.reads in WORDS else others).update(kernel.columns.tolist())
    holds = [column_holds(column) for _, column in frame.items()]
    for place in words - others:
        if holds[place] == "numbers" and frame.iloc[:, place].isna().all():
            holds[place] = "text"
    return tuple(holds)


def _notes_on_gaps(reading: TableReading, frame: pd.DataFrame) -> Iterable[str]:
    """Yield what becomes of the gaps of some rows."""
    left = set(reading.categories) | (set(reading.gaps) - set(reading.texts))
    fates: list[tuple[Iterable[int], str]] = [
        (reading.filled, f"read as a category of their own, {MISSING!r}"),
        (reading.texts, "read as empty text"),
        (sorted(left - set(reading.filled)), "left out by its kernel"),
    ]
    for columns, fate in fates:
        for column in columns:
            number = int(frame.iloc[:, column].isna().sum())
            if number:
                name = quoted(str(frame.columns[column]))
                yield f"{counted(number, 'gap')} in column {name} {fate}"


def _check_text(values: pd.Series) -> None:
    wrong = next((value for value in values if not isinstance(value, str)), None)
    if wrong is not None:
        raise DataError(
            f"Column {quoted(str(values.name))} held text in the training data and holds"
            f" {wrong!r:.40} now: turn it into text."
        )


def _check_row_ids(column: pd.Series) -> None:
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


def _as_frame(X: Any) -> pd.DataFrame:
    if isinstance(X, pd.DataFrame):
        return X
    rows = np.asarray(X)
    return pd.DataFrame(rows).infer_objects() if rows.dtype == object else pd.DataFrame(rows)
