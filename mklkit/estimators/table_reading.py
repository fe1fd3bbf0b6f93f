"""From a user's table to rows of numbers, code points and codes, as its kernels read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from mklkit.errors import DataError, MKLKitError, counted, quoted, type_name
from mklkit.estimators.column_kinds import Holds, check_row_ids, what_it_holds
from mklkit.estimators.own_columns import own_columns
from mklkit.numerics.readings import MISSING, category_codes, text_codes
from mklkit.protocols import Array, TableRows
from mklkit.registry.columns import resolve_columns
from mklkit.registry.composing import bind_kernels
from mklkit.views.bound_kernels import BoundKernel

__all__ = [
    "TableReading",
    "bound_to",
    "check_is_table",
    "needs_reading",
    "placed_kernels",
    "reads_text",
]


SHARED = ("numbers", "row ids")
"""Kernels on these that name all columns are like those that name none, and share their rows."""


def needs_reading(kernels: Sequence[BoundKernel], X: Any) -> bool:
    """Return whether a table has to be read for its kernels: all others are plain numbers."""
    if isinstance(X, pd.DataFrame):
        plain = all(is_numeric_dtype(kind) for kind in X.dtypes)
        plain &= all(one.reads != "row ids" for one in kernels)  # A gap there is refused by name.
    else:
        plain = True  # scikit-learn detects text in arrays.
    return not plain or any(
        one.reads in ("text", "categories") or one.facts.allows_gaps for one in kernels
    )


def reads_text(kernels: Sequence[BoundKernel]) -> str | None:
    """Return the label of the first kernel on text, None if there is none."""
    return next((one.label for one in kernels if one.reads == "text"), None)


def placed_kernels(kernels: Any, n_columns: int, names: Sequence[str] | None) -> list[BoundKernel]:
    """Return the kernels with their columns as positions.

    Raises
    ------
    DataError
        If a kernel's columns do not exist.
    """
    resolved = []
    for kernel in bind_kernels(kernels):
        try:
            columns = resolve_columns(kernel.columns, n_columns, names)
        except MKLKitError as error:
            raise DataError(f"Kernel {quoted(kernel.label)}: {error}") from None
        if columns is None and kernel.columns is not None and kernel.reads not in SHARED:
            columns = np.arange(n_columns)
        resolved.append(attrs.evolve(kernel, columns=columns))
    return resolved


@attrs.frozen
class TableReading:
    """What the columns of the training data hold, and what kernels read in them.

    Attributes
    ----------
    holds : tuple of {"numbers", "text", "dates", "complex numbers", "other values"}
        What each column holds. One without any value holds text if only kernels on text or
        categories name it, else numbers.
    texts : tuple of int
        The columns in which a kernel reads text.
    categories : tuple of int
        Those in which a kernel reads categories.
    filled : tuple of int
        Columns of categories whose gaps are a category of their own, as a kernel does not leave
        them out.
    gaps : tuple of int
        Columns of numbers that may have gaps.
    ids : tuple of int
        Columns of row ids, in which a gap is refused.
    notes : tuple of str
        What became of gaps in the training data, a sentence each.
    """

    holds: tuple[Holds, ...]
    texts: tuple[int, ...] = ()
    categories: tuple[int, ...] = ()
    filled: tuple[int, ...] = ()
    gaps: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, X: Any, banks: Sequence[Any]) -> Self:
        """Return how a table is read for some kernels.

        Parameters
        ----------
        X : DataFrame or ndarray of shape (N, d)
        banks : sequence of kernels
            Each as :class:`mklkit.MKLClassifier` takes them; a search may have several.

        Raises
        ------
        DataError
            If a kernel can't read its columns.
        """
        frame = _as_frame(X)
        holds = _all_held(frame, _asked_as_words(banks, X))
        kernels = [one for bank in banks for one in bound_to(bank, X, cls(holds))]
        readers: list[list[BoundKernel]] = [[] for _ in holds]
        for kernel in kernels:
            for column in range(len(holds)) if kernel.columns is None else kernel.columns.tolist():
                readers[column].append(kernel)

        def read_as(what: str) -> list[int]:
            return [
                column
                for column, those in enumerate(readers)
                if any(one.reads == what for one in those)
            ]

        gaps = [
            column
            for column, those in enumerate(readers)
            if those
            and all(one.facts.allows_gaps or one.reads in ("text", "categories") for one in those)
        ]
        categories = read_as("categories")
        filled = [
            column
            for column in categories
            if any(
                one.reads == "categories" and not one.facts.allows_gaps for one in readers[column]
            )
        ]
        texts, ids = tuple(read_as("text")), tuple(read_as("row ids"))
        found = cls(holds, texts, tuple(categories), tuple(filled), tuple(gaps), ids)
        return attrs.evolve(found, notes=tuple(found._notes(frame)))

    @property
    def reads_words(self) -> bool:
        """Whether kernels read columns that hold no numbers."""
        return any(self.holds[place] != "numbers" for place in (*self.texts, *self.categories))

    def _notes(self, frame: pd.DataFrame) -> list[str]:
        """Return what becomes of the gaps of some rows."""
        left = set(self.categories) | (set(self.gaps) - set(self.texts))
        fates: list[tuple[Iterable[int], str]] = [
            (self.filled, f"read as a category of their own, {MISSING!r}"),
            (self.texts, "read as empty text"),
            (sorted(left - set(self.filled)), "left out by its kernel"),
        ]
        notes = []
        for columns, fate in fates:
            for column in columns:
                number = int(frame.iloc[:, column].isna().sum())
                if number:
                    name = quoted(str(frame.columns[column]))
                    notes.append(f"{counted(number, 'gap')} in column {name} {fate}")
        return notes

    def numbers(self, X: Any) -> Array:
        """Return the columns of numbers in their places (n, d), with NaN for gaps and 0 elsewhere.

        Raises
        ------
        DataError
            If a column of numbers holds something else now, or one of row ids has a gap.
        """
        frame = _as_frame(X)
        for place in self.ids:
            check_row_ids(frame.iloc[:, place])
        columns = [place for place, what in enumerate(self.holds) if what == "numbers"]
        single = bool(columns) and all(frame.dtypes.iloc[place] == np.float32 for place in columns)
        out = np.zeros(frame.shape, dtype=np.float32 if single else np.float64)
        for place in columns:
            column, name = frame.iloc[:, place], quoted(str(frame.columns[place]))
            held = what_it_holds(column)
            if held in ("dates", "complex numbers"):  # pandas turns dates into numbers.
                raise DataError(
                    f"Column {name} held numbers in the training data and holds {held} now: pass"
                    " numbers like those."
                )
            try:
                values = pd.to_numeric(column)
            except (TypeError, ValueError) as error:
                raise DataError(
                    f"Column {name} held numbers in the training data and holds something else now:"
                    f" {error!s:.100}."
                ) from None
            out[:, place] = values.to_numpy(dtype=out.dtype, na_value=np.nan)
        return out

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
            self._check_text(column[~gaps], place)
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

    def _check_text(self, values: pd.Series, place: int) -> None:
        other = next((value for value in values if not isinstance(value, str)), None)
        if other is not None:
            name = quoted(str(values.name))
            raise DataError(
                f"Column {name} held text in the training data and holds {other!r:.40} now: turn"
                " it into text."
            )


def bound_to(kernels: Any, X: Any, reading: TableReading | None) -> list[BoundKernel]:
    """Return kernels bound to the columns of a table that they read."""
    n_columns, names = _columns(X)
    holds: Sequence[Holds] = ["numbers"] * n_columns if reading is None else reading.holds
    return own_columns(placed_kernels(kernels, n_columns, names), holds, names)


def _columns(X: Any) -> tuple[int, list[str] | None]:
    """Return the number of a table's columns and their names, None if it has none."""
    names = [str(name) for name in X.columns] if isinstance(X, pd.DataFrame) else None
    return np.shape(X)[1], names


def check_is_table(X: Any) -> None:
    """Refuse what has no rows and columns; scikit-learn would look for a first row in a dict."""
    if np.ndim(X) != 2:
        raise DataError(
            "New rows are expected as a DataFrame or a 2-D array with the columns of the training"
            f" data, such as pandas.DataFrame({{'text': ['abc']}}); got {type_name(X)}."
        )


def _as_frame(X: Any) -> pd.DataFrame:
    if isinstance(X, pd.DataFrame):
        return X
    rows = np.asarray(X)
    return pd.DataFrame(rows).infer_objects() if rows.dtype == object else pd.DataFrame(rows)


def _asked_as_words(banks: Sequence[Any], X: Any) -> set[int]:
    """Return the columns that kernels on text or categories name, and no others."""
    words: set[int] = set()
    others: set[int] = set()
    n_columns, names = _columns(X)
    for kernel in (one for bank in banks for one in placed_kernels(bank, n_columns, names)):
        if kernel.reads == "text" and kernel.columns is None:
            words |= set(range(n_columns))
        elif kernel.columns is not None:
            theirs = words if kernel.reads in ("text", "categories") else others
            theirs |= set(kernel.columns.tolist())
    return words - others


def _all_held(frame: pd.DataFrame, words: set[int]) -> tuple[Holds, ...]:
    """Return what each column holds; one without any value holds text where words are read."""
    holds = [what_it_holds(column) for _, column in frame.items()]
    return tuple(
        "text"
        if held == "numbers" and place in words and frame.iloc[:, place].isna().all()
        else held
        for place, held in enumerate(holds)
    )
