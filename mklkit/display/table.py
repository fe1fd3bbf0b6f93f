"""A table of results: columns that know how their values are written, and rows of raw values.

The renderers take their text from it, so a number looks the same on a terminal
(:mod:`mklkit.display.terminal`), on a page or in a notebook (:mod:`mklkit.display.html`) and in
LaTeX (:mod:`mklkit.display.latex`); JSON and data frames have the raw values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from mklkit.display.numbers import DASH

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[Any, Any]
"""The raw values of a row by their keys."""


def is_known(value: Any) -> bool:
    """Return whether a value is neither None nor NaN."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


@attrs.frozen
class Column:
    """A column: the key of its values in a row, its head, and how a value is written.

    Attributes
    ----------
    key : str
    head : str
    write : callable, optional
        Returns a number as text; without it, values are words.
    unit : str
        Stands beside the head.
    short : str
        The head on a terminal, which may have several lines; by default the head with its unit.
    absent : str
        Replaces an unknown value.
    deviation : str
        The key of the values that follow after a ±.
    write_deviation : callable, optional
        Returns such a value as text; by default as other numbers of the column.
    order : {"ascending", "descending"}
        Whichever puts the best number first.
    marks_best : bool
        Whether the best number is marked.
    detail : callable, optional
        Returns, from a row, a smaller line below the text, for which only a page has the space.
    style : callable, optional
        Returns, from a row, the style of the cell on a page.
    """

    key: str
    head: str
    write: Callable[[Any], str] | None = None
    unit: str = ""
    short: str = ""
    absent: str = DASH
    deviation: str = ""
    order: str = "descending"
    marks_best: bool = False
    detail: Callable[[Row], str] | None = None
    style: Callable[[Row], str] | None = None
    write_deviation: Callable[[Any], str] | None = None

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers, not words."""
        return self.write is not None

    @property
    def full_head(self) -> str:
        """The head with its unit."""
        return f"{self.head} {self.unit}".rstrip()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the raw values that the column shows."""
        return (self.key, self.deviation) if self.deviation else (self.key,)

    def written(self, value: Any) -> str:
        """Return a value as text."""
        if self.write is None:
            return "" if value is None else str(value)
        return self.write(value) if is_known(value) else self.absent

    def text(self, row: Row) -> str:
        """Return the value of a row, with its standard deviation, as text."""
        text = self.written(row[self.key])
        deviation = row.get(self.deviation) if self.deviation else None
        if not (is_known(row[self.key]) and is_known(deviation)):
            return text
        write = self.write_deviation or self.written
        return f"{text} ± {write(deviation)}"


@attrs.frozen
class Range(Column):
    """A column of ranges between the values of two keys, the ``ends``; its own key names it."""

    ends: tuple[str, str] = ("low", "high")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of both ends."""
        return self.ends

    def text(self, row: Row) -> str:
        """Return both ends as text."""
        values = [row.get(end) for end in self.ends]
        if not all(map(is_known, values)):
            return self.absent
        return " to ".join(map(self.written, values))


@attrs.frozen
class Bar(Column):
    """A column of bars as long as a number's share of the largest one; it has no text.

    Attributes
    ----------
    largest : float, optional
        The number of the longest bar; by default the largest of the column.
    ends : tuple of str, optional
        The keys of a range, which a page shows as a line over the bar.
    length : int
        The most characters of a bar on a terminal.
    """

    largest: float | None = None
    ends: tuple[str, str] | None = None
    length: int = 30

    @property
    def keys(self) -> tuple[str, ...]:
        """None: another column has the number."""
        return ()

    def text(self, row: Row) -> str:
        """Return no text."""
        return ""

    def scale(self, rows: Sequence[Row]) -> float:
        """Return the number of the longest bar."""
        if self.largest is not None:
            return self.largest
        return max((abs(row[self.key]) for row in rows if is_known(row[self.key])), default=0.0)


@attrs.frozen
class ResultTable:
    """Columns, and rows of raw values by the keys of the columns; a row may have further values.

    Attributes
    ----------
    columns : sequence of Column
    rows : sequence of mappings
    caption, note : str
    rest : str
        What is dropped, in a last line.
    section : str
        The key of words that several consecutive rows share. A terminal shows them once, above
        the rows.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""
    note: str = ""
    rest: str = ""
    section: str = ""

    @property
    def n_words(self) -> int:
        """The number of columns with words before the first numbers."""
        return next(
            (place for place, column in enumerate(self.columns) if column.is_number),
            len(self.columns),
        )

    def cells(self) -> list[list[str]]:
        """Return the text of each cell, row by row."""
        return [[column.text(row) for column in self.columns] for row in self.rows]

    def records(self) -> list[dict[str, Any]]:
        """Return the raw values that the columns show, row by row, for JSON."""
        keys = [key for column in self.columns for key in column.keys]
        return [{key: row[key] for key in dict.fromkeys(keys) if key in row} for row in self.rows]

    def frame(self) -> pd.DataFrame:
        """Return the raw values as a data frame."""
        # Imported here, since it takes a second.
        import pandas as pd

        return pd.DataFrame(self.records())

    def keeping(self, test: Callable[[Column], bool]) -> ResultTable:
        """Return the table with the columns that pass a test."""
        return attrs.evolve(self, columns=[column for column in self.columns if test(column)])

    def without(self, *keys: str) -> ResultTable:
        """Return the table without some of its columns."""
        return self.keeping(lambda column: column.key not in keys)

    def first(self, number: int, which: str = "") -> ResultTable:
        """Return the table with its first rows, and a last line on the others if there are any."""
        more = len(self.rows) - number
        if more <= 0:
            return self
        rest = f"and {more} more {which}".rstrip()
        return attrs.evolve(self, rows=self.rows[:number], rest=rest)

    def best(self, column: Column) -> str | None:
        """Return the best number as it is written, so that all that look equal are marked."""
        values = [row[column.key] for row in self.rows] if column.marks_best else []
        known = [value for value in values if is_known(value)]
        if not known:
            return None
        return column.written(max(known) if column.order == "descending" else min(known))

    def is_best(self, column: Column, row: Row) -> bool:
        """Return whether a row's number looks like the best of its column."""
        if not column.marks_best or not is_known(row[column.key]):
            return False
        return column.written(row[column.key]) == self.best(column)
