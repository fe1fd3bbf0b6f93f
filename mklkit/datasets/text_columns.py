"""A column of text: what is decided about its values, and how they become numbers or dates."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_string_dtype

from mklkit.datasets.notations import (
    DATES,
    NUMBER,
    NUMBERS,
    TEXT,
    is_ambiguous,
    meanings,
    points_may_group,
)
from mklkit.errors import quoted
from mklkit.estimators.table_reading import row_of

__all__ = ["GAP_MARKS", "TYPING_ERRORS", "ColumnReading", "TextColumn", "first_of", "is_text"]

# Common marks for a gap among numbers and dates; among words they may be values.
GAP_MARKS = frozenset(
    "- -- --- . ? n/a n.a. na nan nat nil none null missing unknown #n/a #value! #div/0!".split()  # noqa: SIM905
)
# A column of this share of other values, and few of them, is one of numbers with typing errors.
TYPING_ERRORS = 0.05
NUMBERS_PER_ERROR = 10
# More than half of this many values must match before all are tried.
SAMPLE = 100


@attrs.frozen
class ColumnReading:
    """What is decided about a column of text, and why.

    Attributes
    ----------
    notation : str
        How its values are written: as numbers (``"number"``, ``"thousands"``, ``"decimal comma"``,
        ``"decimal comma, points between thousands"``), dates (``"year first"``, ``"month first"``,
        ``"day first"``), or as ``"text"``; ``"as written"`` of text that may look like numbers,
        ``"values"`` of a column that is no text.
    example : str
        A value that is not written as in Python, and its meaning.
    marks : tuple of str
        Texts that are taken for gaps, and ``n_marks``, in how many rows.
    misfits : str
        Which values do not fit the notation.
    ambiguous : bool
        Whether all values fit another notation as well.
    """

    notation: str = TEXT
    example: str = ""
    marks: tuple[str, ...] = ()
    n_marks: int = 0
    misfits: str = ""
    ambiguous: bool = False

    @property
    def holds(self) -> str:
        """What the column holds: ``"numbers"``, ``"dates"`` or ``"text"``."""
        if self.notation in NUMBERS:
            return "numbers"
        return "dates" if self.notation in DATES else "text"

    def read(self, column: pd.Series) -> tuple[pd.Series, NDArray[np.intp]]:
        """Return a column's numbers or dates, and the places of values that do not fit.

        What is no column of text is returned as it is.
        """
        if self.holds == "text" or not is_text(column):
            return column, np.array([], dtype=np.intp)
        return TextColumn.of(column, notation=self.notation).read()


def is_text(column: pd.Series) -> bool:
    """Return whether a column holds only text and gaps."""
    if not is_string_dtype(column.dtype) or not column.notna().any():
        return False
    return pd.api.types.infer_dtype(column, skipna=True) in ("string", "empty")


@attrs.define(eq=False)
class TextColumn:
    """A column of text: its different values, and the notation that is chosen for them."""

    column: pd.Series
    codes: NDArray[np.intp]
    words: NDArray[np.object_]
    """The different values, stripped, in the order in which they come."""
    is_mark: NDArray[np.bool_]
    """Which of these are marks for a gap."""
    notation: str = TEXT
    ambiguous: bool = False
    stray: str = ""
    """The values that are no numbers, in a column of text where most are."""

    @classmethod
    def of(
        cls, column: pd.Series, marks: Collection[str] = GAP_MARKS, notation: str = TEXT
    ) -> Self:
        """Take a column apart."""
        codes, distinct = pd.factorize(column)
        words = np.array([str(word).strip() for word in distinct], dtype=object)
        is_mark = np.array([word.casefold() in marks for word in words], dtype=bool)
        return cls(column, codes, words, is_mark, notation)

    @property
    def known(self) -> NDArray[np.object_]:
        """The different values besides marks for gaps."""
        return self.words[~self.is_mark]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows hold a gap or a mark for one."""
        return np.append(self.is_mark, True)[self.codes]

    def choose(self) -> tuple[int, NDArray[np.bool_]]:
        """Choose the notation that fits most rows, the first of several.

        Return how many rows it does not fit, and which of the known values it fits.
        """
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))[~self.is_mark]
        known, fits = self.known, np.zeros(len(counts), dtype=bool)
        some = known[:: 1 + len(known) // SAMPLE]
        for notation in (*NUMBERS, *DATES):
            # Columns of words need no check of every value.
            if 2 * meanings(notation, some).notna().sum() <= len(some):
                continue
            matches = meanings(notation, known).notna().to_numpy()
            if counts[matches].sum() > counts[fits].sum():
                self.notation, fits = notation, matches
            if fits.all():
                break
        self.ambiguous = (
            points_may_group(known[fits])
            if self.notation == NUMBER
            else all(is_ambiguous(text, self.notation) for text in known[fits])
        )
        return int(counts[~fits].sum()), fits

    def settle(self, tolerant: bool) -> None:
        """Choose the notation that fits all values, or all except a few typing errors."""
        n_misfits, fits = self.choose()
        few = n_misfits <= TYPING_ERRORS * (~self.missing).sum()
        tolerated = tolerant and few and NUMBERS_PER_ERROR * (~fits).sum() <= fits.sum()
        if n_misfits and not tolerated:
            if self.notation in NUMBERS and 2 * fits.sum() > len(fits) > 2:
                self.stray = first_of(self.column, self.read()[1])
            self.notation = TEXT

    def read(self) -> tuple[pd.Series, NDArray[np.intp]]:
        """Return what the rows mean in the notation, and the places of those that do not fit."""
        known = meanings(self.notation, self.known).set_axis(np.flatnonzero(~self.is_mark))
        # A gap has the code -1, and so the last value.
        by_word = known.reindex(range(len(self.words) + bool((self.codes < 0).any())))
        values = by_word.take(self.codes).set_axis(self.column.index)
        return values, np.flatnonzero(values.isna().to_numpy() & ~self.missing)

    def reading(self) -> ColumnReading:
        """Return the chosen reading, with what is worth saying of it."""
        if self.notation == TEXT:
            return ColumnReading(misfits=self.stray)
        return ColumnReading(
            self.notation,
            self.example(),
            tuple(self.words[self.is_mark]),
            int((self.missing & (self.codes >= 0)).sum()),
            first_of(self.column, self.read()[1]),
            self.ambiguous,
        )

    def example(self) -> str:
        """Return the first value that Python would not read so, or not everyone."""
        if self.notation == DATES[0]:
            return ""
        pointed = self.ambiguous and self.notation == NUMBER
        for text, meaning in zip(self.known, meanings(self.notation, self.known), strict=True):
            unusual = not _is_as_written(text, meaning) or (pointed and "." in text)
            if unusual and not pd.isna(meaning):
                is_date = isinstance(meaning, pd.Timestamp)
                shown = str(meaning).removesuffix(" 00:00:00") if is_date else f"{meaning:.15g}"
                return f"{quoted(text, 40)} as {shown}"
        return ""


def _is_as_written(text: str, meaning: object) -> bool:
    try:
        return float(text) == meaning
    except ValueError:
        return False


def first_of(column: pd.Series, places: NDArray[np.intp]) -> str:
    """Return the first of some values of a column with its row, and how many follow."""
    if not len(places):
        return ""
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{quoted(str(column.iloc[places[0]]), 60)} in {row_of(column, int(places[0]))}{more}"
