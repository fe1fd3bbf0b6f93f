"""Reading columns of text as numbers, dates or text, decided once for later rows too."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_string_dtype

from mklkit.datasets.notations import (
    COMMA,
    DATES,
    NUMBER,
    NUMBERS,
    POINTS,
    TEXT,
    THOUSANDS,
    WRITTEN,
    is_ambiguous,
    meanings,
    points_may_group,
)
from mklkit.errors import DataError, counted, listed, named, quoted
from mklkit.estimators.reading import row_of
from mklkit.protocols import Holds, Schema

# Common marks for a gap among numbers and dates; among words they may be values.
GAP_MARKS = frozenset(
    "- -- --- . ? n/a n.a. na nan nat nil none null missing unknown #n/a #value! #div/0!".split()  # noqa: SIM905
)
# With at most this share of other values, and few of them, they are numbers with typing errors.
TYPING_ERRORS = 0.05
NUMBERS_PER_ERROR = 10
# More than half of this many words must match before all are tried.
SAMPLE = 100


def holds_of(notation: str) -> Holds:
    """Return what a column of text holds whose values are written in a notation."""
    if notation in NUMBERS:
        return "numbers"
    return "dates" if notation in DATES else "text"


def is_text(column: pd.Series) -> bool:
    """Return whether a column holds only text and gaps."""
    if not is_string_dtype(column.dtype) or not column.notna().any():
        return False
    return pd.api.types.infer_dtype(column, skipna=True) in ("string", "empty")


def text_columns(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns of a table that hold only text and gaps, by name."""
    # Tables may be very wide; taking each column of numbers out would take seconds.
    kinds = {kind for kind in {*frame.dtypes} if is_string_dtype(kind)}
    if not kinds:
        return {}
    places = [place for place, kind in enumerate(frame.dtypes) if kind in kinds]
    columns = (frame.iloc[:, place] for place in places)
    return {str(column.name): column for column in columns if is_text(column)}


def read_as_text(schema: Schema) -> list[str]:
    """Return the columns that a file reader must leave as text, such as ``0110``."""
    are = schema.columns.are
    return schema.names_of(are(notation=TEXT) | are(notation=POINTS) | are(notation=WRITTEN))


def settle_notations(
    frame: pd.DataFrame,
    decimal: str = ".",
    marks: frozenset[str] = GAP_MARKS,
    written: Collection[str] = (),
) -> tuple[pd.DataFrame, dict[str, str], list[str]]:
    """Read columns of text as numbers or dates if their values are such.

    Return the table, the notations, and notes.

    ``decimal`` is the decimal mark if no column determines it, and ``marks`` are the marks of a
    gap, in lower case; with fewer than the usual marks, all values must be numbers.
    Columns in ``written`` stay text.
    """
    columns = {
        name: _Words(column, marks)
        for name, column in text_columns(frame).items()
        if name not in written
    }
    for column in columns.values():
        column.resolve(tolerant=marks is GAP_MARKS)
    _settle_commas(columns.values(), decimal)
    _settle_points(columns.values())
    new = {name: column.read()[0] for name, column in columns.items() if column.notation != TEXT}
    notations = {name: column.notation for name, column in columns.items()}
    notations |= dict.fromkeys(written, WRITTEN)
    return (frame.assign(**new) if new else frame), notations, _notes_on(columns)


def read_later(
    frame: pd.DataFrame,
    notations: Mapping[str, str],
    decimal: str = ".",
    noted: Collection[str] = (),
) -> tuple[pd.DataFrame, dict[str, str], list[str]]:
    """Read columns of text as training did; return the notations that were read, and notes.

    ``notations`` has those of training. Columns that held no text then but do now are read by their
    values if most are numbers or dates. A few values that do not fit become gaps, with a warning;
    more raise an error. Columns in ``noted`` have no notes.
    """
    columns: dict[str, _Words] = {}
    for name, written in text_columns(frame).items():
        notation = notations.get(name, NUMBER)
        if holds_of(notation) == "text":
            continue
        words = _Words(written, notation=notation)
        if name not in notations and len(words.known):
            n_misfits, _ = words.choose()
            if 2 * n_misfits >= (~words.missing).sum():
                continue
        columns[name] = words
    _settle_commas(columns.values(), decimal)
    new = {}
    for name, column in columns.items():
        new[name], misfits = column.read()
        take_as_gaps(frame[name], misfits, holds_of(column.notation))
    told = {name: column for name, column in columns.items() if name not in noted}
    now = {name: column.notation for name, column in columns.items()}
    return (frame.assign(**new) if new else frame), now, _notes_on(told, gaps=False)


def misfits_in(column: pd.Series, notation: str) -> tuple[pd.Series, NDArray[np.intp]]:
    """Return a column's numbers or dates, and the places of values that do not fit.

    A column that is not text is returned unchanged.
    """
    if holds_of(notation) == "text" or not is_text(column):
        return column, np.array([], dtype=np.intp)
    return _Words(column, notation=notation).read()


def _notes_on(columns: Mapping[str, _Words], gaps: bool = True) -> list[str]:
    """Return notes on columns of text: first a line for each notation, then those on columns.

    The latter are on values that are read as ``gaps``.
    """
    groups: dict[tuple[str, bool], list[str]] = {}
    examples: dict[str, str] = {}
    for name, words in columns.items():
        if words.notation != TEXT and (example := words.example()):
            examples[name] = example
            groups.setdefault((words.notation, words.ambiguous), []).append(name)
    notes = []
    for (notation, ambiguous), names in groups.items():
        advice = "; if that is wrong, write 1234.5 or 2024-03-31" if ambiguous else ""
        example = examples[names[0]]
        notes.append(f"{named(names)} read as {holds_of(notation)}: {example}{advice}")
    for name, words in columns.items() if gaps else ():
        notes += words.notes(f"column {quoted(name)}")
    return notes


class _Words:
    """The distinct texts of a column, and the notation chosen for them.

    ``codes`` are the rows' places among the stripped ``words``, -1 for a gap; ``known`` are the
    words other than marks of gaps, and rows without one are ``missing``. ``stray`` names the
    values that are not numbers in a column of text where most are.
    """

    def __init__(
        self, column: pd.Series, marks: Collection[str] = GAP_MARKS, notation: str = TEXT
    ) -> None:
        self.column = column
        self.notation = notation
        self.ambiguous = False
        self.stray = ""
        self.codes, distinct = pd.factorize(column)
        self.words = np.array([str(word).strip() for word in distinct], dtype=object)
        self.is_mark = np.array([word.casefold() in marks for word in self.words], dtype=bool)
        self.known = self.words[~self.is_mark]
        self.missing = np.append(self.is_mark, True)[self.codes]

    def choose(self) -> tuple[int, NDArray[np.bool_]]:
        """Choose the notation that fits most rows; ties go to the first.

        Return how many rows it does not fit, and which of the known words it fits.
        """
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))[~self.is_mark]
        known = self.known
        fits = np.zeros(len(counts), dtype=bool)
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

    def resolve(self, tolerant: bool) -> None:
        """Choose the notation that fits all values, or all but a few typing errors."""
        n_misfits, fits = self.choose()
        few = n_misfits <= TYPING_ERRORS * (~self.missing).sum()
        tolerated = tolerant and few and NUMBERS_PER_ERROR * (~fits).sum() <= fits.sum()
        if n_misfits and not tolerated:
            if self.notation in NUMBERS and 2 * fits.sum() > len(fits) > 2:
                self.stray = _first_of(self.column, self.read()[1])
            self.notation = TEXT

    def read(self) -> tuple[pd.Series, NDArray[np.intp]]:
        """Return the values of the rows in the notation, and the places of those that don't fit."""
        known = meanings(self.notation, self.known).set_axis(np.flatnonzero(~self.is_mark))
        # A gap has the code -1, and so the last value.
        by_word = known.reindex(range(len(self.words) + bool((self.codes < 0).any())))
        values = by_word.take(self.codes).set_axis(self.column.index)
        return values, np.flatnonzero(values.isna().to_numpy() & ~self.missing)

    def notes(self, column: str) -> list[str]:
        """Return notes on the values of a column that do not fit, and on gaps with a mark."""
        if self.notation == TEXT and self.stray:
            return [
                f"{column} mixes text with numbers: read as text because of {self.stray};"
                " if it should hold numbers, correct the cell or leave it empty"
            ]
        if self.notation == TEXT:
            return []
        notes = []
        if misfits := _first_of(self.column, self.read()[1]):
            notes.append(taken_as_gap(column, misfits, holds_of(self.notation)))
        if n_marks := int((self.missing & (self.codes >= 0)).sum()):
            marks = listed(list(self.words[self.is_mark]))
            notes.append(f"{counted(n_marks, 'gap')} in {column}, written {marks}")
        return notes

    def example(self) -> str:
        """Return the first value that Python, or some people, would read differently."""
        if self.notation == DATES[0]:
            return ""
        pointed = self.ambiguous and self.notation == NUMBER
        for text, meaning in zip(self.known, meanings(self.notation, self.known), strict=True):
            plain = pd.to_numeric(text, errors="coerce") == meaning
            if pd.isna(meaning) or (plain and not (pointed and "." in text)):
                continue
            is_date = isinstance(meaning, pd.Timestamp)
            shown = str(meaning).removesuffix(" 00:00:00") if is_date else f"{meaning:.15g}"
            return f"{quoted(text, 40)} as {shown}"
        return ""


def _settle_commas(columns: Collection[_Words], decimal: str) -> None:
    """Decide what a comma before three digits means, from other columns or the file's mark."""
    certain = {column.notation for column in columns if not column.ambiguous}
    commas = bool(certain & {COMMA, POINTS})
    thousands = THOUSANDS in certain
    is_comma = decimal == "," if commas == thousands else commas
    for column in columns:
        if column.ambiguous and column.notation == THOUSANDS:
            column.notation = COMMA if is_comma else THOUSANDS
            column.ambiguous = commas == thousands


def _settle_points(columns: Collection[_Words]) -> None:
    """Read points as separators of thousands if the decimal mark of other columns is a comma.

    If nothing decides, they are decimal points, with a note if some values are whole numbers.
    """
    notations = {column.notation for column in columns}
    grouping = bool(notations & {COMMA, POINTS}) and THOUSANDS not in notations
    for column in columns:
        if column.ambiguous and column.notation == NUMBER:
            column.notation = POINTS if grouping else NUMBER
            column.ambiguous = not grouping and not all("." in text for text in column.known)


def take_as_gaps(column: pd.Series, places: NDArray[np.intp], holds: str) -> None:
    """Warn of values of a column that are not numbers or dates and become gaps.

    More than the share that training accepts as typing errors raise an error. A single number may
    always be wrong; a single date more likely has another format.
    """
    if not len(places):
        return
    first = _first_of(column, places)
    if len(places) > max(holds == "numbers", TYPING_ERRORS * len(column)):
        raise DataError(
            f"Column {quoted(column.name)} held {holds} in training but holds {first}: correct"
            " these values, or leave them empty."
        )
    warnings.warn(taken_as_gap(f"column {quoted(column.name)}", first, holds), stacklevel=2)


def taken_as_gap(column: str, misfits: str, holds: str) -> str:
    """Return the sentence on values of a column that are not numbers or dates."""
    return f"{column} holds {misfits}, not a {holds.removesuffix('s')}: taken as a gap"


def _first_of(column: pd.Series, places: NDArray[np.intp]) -> str:
    """Return the first of some values of a column with its row, and how many follow."""
    if not len(places):
        return ""
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return (
        f"{quoted(str(column.iloc[places[0]]), 60)} in {row_of(column.index, int(places[0]))}{more}"
    )
