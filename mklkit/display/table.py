"""A table of results: columns that know how their values are written, and rows of raw values.

The renderers take their text from it, so a number looks the same on a terminal, on a page, in a
notebook and in LaTeX.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from mklkit.display.numbers import DASH


@attrs.frozen
class Column:
    """A column: the key of its values in a row, its head, and how a value is written.

    Without ``write`` a value is text. The ``short`` head is for terminals, and ``absent`` replaces
    a missing number. The values under the key ``deviation`` follow those of the column after a ±.
    ``order`` is "ascending" or "descending", whichever puts the best number first.
    """

    key: str
    head: str
    write: Callable[[float], str] | None = None
    unit: str = ""
    short: str = ""
    absent: str = DASH
    deviation: str = ""
    order: str = "descending"
    marks_best: bool = False

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers, not words."""
        return self.write is not None

    @property
    def full_head(self) -> str:
        """The head with its unit."""
        return f"{self.head} {self.unit}".rstrip()

    def written(self, value: Any) -> str:
        """Return a value as text."""
        if self.write is None:
            return str(value)
        return self.absent if math.isnan(value) else self.write(value)

    def text(self, row: Mapping[Any, Any]) -> str:
        """Return the value of a row, with its deviation, as text."""
        text = self.written(row[self.key])
        deviation = row.get(self.deviation, math.nan) if self.deviation else math.nan
        return text if math.isnan(deviation) else f"{text} ± {self.written(deviation)}"


@attrs.frozen
class ResultTable:
    """Columns, and rows of raw values by the keys of the columns; a row may have further values."""

    columns: Sequence[Column]
    rows: Sequence[Mapping[Any, Any]]
    caption: str = ""
    note: str = ""

    @property
    def n_words(self) -> int:
        """The number of columns with words, which come first."""
        return sum(not column.is_number for column in self.columns)

    def cells(self) -> list[list[str]]:
        """Return the text of each cell, row by row."""
        return [[column.text(row) for column in self.columns] for row in self.rows]

    def without(self, *keys: str) -> ResultTable:
        """Return the table without some of its columns."""
        columns = [column for column in self.columns if column.key not in keys]
        return attrs.evolve(self, columns=columns)

    def best(self, column: Column) -> str | None:
        """Return the best number as it is written, so that all that look equal are marked."""
        values = [row[column.key] for row in self.rows] if column.marks_best else []
        known = [value for value in values if not math.isnan(value)]
        if not known:
            return None
        return column.written(max(known) if column.order == "descending" else min(known))

    def is_best(self, column: Column, row: Mapping[Any, Any]) -> bool:
        """Return whether a row's number looks like the best of its column."""
        value = row[column.key]
        return (
            column.marks_best
            and not math.isnan(value)
            and (column.written(value) == self.best(column))
        )
