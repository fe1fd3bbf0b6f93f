"""Our numbers beside the printed ones, and tables as the papers print them."""

from __future__ import annotations

import math
import re
from importlib.resources import files
from typing import Any, Literal, Self

import attrs
import numpy as np

NAN = float("nan")
NUMBER = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?"
CELL = re.compile(
    rf"(?P<value>{NUMBER})(?:\s*±\s*(?P<spread>{NUMBER}))?(?:\s*(?P<test>[pt])=(?P<tested>{NUMBER}))?"
)


@attrs.frozen
class Printed:
    """A number of a table, its standard deviation, and the paper's test, such as ``"p = 0.07"``."""

    value: float
    spread: float = NAN
    test: str = ""


PrintedTable = dict[str, dict[str, Printed]]
"""Printed numbers by row and column of a table."""


def printed(text: str) -> PrintedTable:
    """Read a table: a line of heads, then lines of a name and its cells, all separated by bars.

    A cell is a number, with its standard deviation after ``±`` and ``p=`` or ``t=`` of a test if
    the paper has them, or empty if a number is missing. The first head is ignored. ValueError if a
    cell is not a number, cells and heads differ in number, or a name occurs twice.

    Examples
    --------
    >>> table = printed('''
    ...     set   | ours        | theirs
    ...     Sonar | 80.7 ± 1.5  | 75.8 t=4.44
    ...     Liver |             | 62.3
    ... ''')
    >>> table["Sonar"]["theirs"].value, table["Sonar"]["ours"].spread, list(table["Liver"])
    (75.8, 1.5, ['theirs'])
    """
    lines = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    heads, *rows = lines
    for names in (heads[1:], [name for name, *_ in rows]):
        if len(set(names)) < len(names):
            raise ValueError(f"two rows or columns have the same name: {', '.join(names)}")
    return {
        name: {
            head: _printed(cell) for head, cell in zip(heads[1:], cells, strict=True) if cell != ""
        }
        for name, *cells in rows
    }


def published(name: str) -> PrintedTable:
    """Return a table of the folder ``published``, by the name of its entry."""
    folder = files("mklkit_papers").joinpath("published")
    return printed(folder.joinpath(f"{name}.txt").read_text(encoding="utf-8"))


def _printed(cell: str) -> Printed:
    match = CELL.fullmatch(cell)
    if match is None:
        raise ValueError(f"{cell!r} is not a number as tables print them")
    test = "" if match["test"] is None else f"{match['test']} = {match['tested']}"
    return Printed(float(match["value"]), float(match["spread"] or NAN), test)


@attrs.frozen
class Measure:
    """The kind of numbers in a table: their name with its unit, and the decimals to show.

    Ours are compared with the printed ones from the ``better`` side, or from both, and may be off
    by at least ``slack``: by more if a standard deviation is printed, or if only ours has one.
    """

    name: str
    better: Literal["higher", "lower", "near"]
    digits: int
    slack: float = 0.0

    @property
    def rule(self) -> str:
        """The meaning of "holds" for a number; see :attr:`Line.holds`."""
        sense = {
            "higher": "not lower than the published one, or lower by no more than",
            "lower": "not higher than the published one, or higher by no more than",
            "near": "off by no more than",
        }[self.better]
        least = f" {self.slack:g} or" if self.slack else ""
        return (
            f"our number holds if it is {sense}{least} the published standard"
            " deviation (if none is published, our own, which a single run does not have)"
        )


ACCURACY = Measure("test accuracy, %", "higher", 2)


@attrs.frozen(kw_only=True)
class Line:
    """One number of a table; of a figure, rows are curves and columns are places on its axis.

    ``ours`` is the mean over repeats (NaN if there is a ``reason``), and ``spread`` is the standard
    deviation. The p values, of the paired t-test that the papers use and of the corrected resampled
    one with Holm's correction, are of tests ``against`` the paper's own system.
    """

    row: str
    column: str
    measure: Measure
    ours: float = NAN
    spread: float = NAN
    repeats: int = 0
    printed: Printed | None = None
    p_paired: float = NAN
    p_corrected: float = NAN
    against: str | None = None
    reason: str | None = None

    @classmethod
    def mean_of(
        cls,
        row: str,
        column: str,
        measure: Measure,
        values: Any,
        printed: Printed | None = None,
        repeats: int | None = None,
    ) -> Self:
        """Return the line of the values of repeats, their mean and standard deviation."""
        return cls(
            row=row,
            column=column,
            measure=measure,
            printed=printed,
            ours=float(np.mean(values)),
            spread=float(np.std(values, ddof=1)) if len(values) > 1 else NAN,
            repeats=len(values) if repeats is None else repeats,
        )

    @property
    def difference(self) -> float:
        """Our number minus the printed one; NaN if one of them is missing."""
        return NAN if self.printed is None else self.ours - self.printed.value

    @property
    def shown_difference(self) -> float:
        """The difference as shown in tables, so that their statements agree with what they show."""
        return round(self.difference, self.measure.digits) + 0.0

    @property
    def tolerance(self) -> float:
        """The tolerance on the worse side: the printed standard deviation, or else our own."""
        known = self.printed is not None and not math.isnan(self.printed.spread)
        spread = self.printed.spread if self.printed is not None and known else self.spread
        return float(np.fmax(self.measure.slack, spread))

    @property
    def holds(self) -> bool | None:
        """Whether ours is as good as the printed number to within the tolerance; None if unknown.

        One repeat has no standard deviation: if none is printed either, every worse number misses.
        """
        ahead = self.shown_difference
        if math.isnan(ahead):
            return None
        gain = {"higher": ahead, "lower": -ahead, "near": -abs(ahead)}[self.measure.better]
        return gain >= -round(self.tolerance, self.measure.digits)

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        metadata = attrs.asdict(self) | {"measure": self.measure.name}
        return {**metadata, "difference": self.difference, "holds": self.holds}
