"""One number of ours beside the printed one."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import attrs
import numpy as np

from mklkit_papers.printed import Printed

__all__ = ["ACCURACY", "Line", "Measure"]

NAN = float("nan")


@attrs.frozen
class Measure:
    """What the numbers of a table are.

    Attributes
    ----------
    name : str
        With its unit.
    better : {"higher", "lower", "near"}
        Whether more is better, less is, or the printed number is to be met from both sides.
    digits : int
        Decimals to show.
    slack : float
        How far from the printed number ours may lie at least; more where the paper prints a
        deviation, and where it prints none but ours has one.
    """

    name: str
    better: Literal["higher", "lower", "near"]
    digits: int
    slack: float = 0.0

    @property
    def rule(self) -> str:
        """What it means that a number holds; see :attr:`Line.holds`.

        Examples
        --------
        >>> Measure("weight", "near", 2, slack=0.05).rule.split(" (")[0]
        'a number of ours holds if it is off by no more than 0.05 or the published deviation'
        """
        sense = {
            "higher": "not lower than the published one, or lower by no more than",
            "lower": "not higher than the published one, or higher by no more than",
            "near": "off by no more than",
        }[self.better]
        least = f" {self.slack:g} or" if self.slack else ""
        return (
            f"a number of ours holds if it is {sense}{least} the published deviation"
            " (where none is published ours, which a single run does not have)"
        )


ACCURACY = Measure("test accuracy, %", "higher", 2)


@attrs.frozen(kw_only=True)
class Line:
    """One number of a table or figure.

    Attributes
    ----------
    row, column : str
        Of the table, as the paper names them; of a figure the curve and the place on its axis.
    ours : float
        The mean over repeats; NaN where there is none, for a ``reason``.
    spread : float
        The standard deviation over repeats; NaN for one repeat.
    repeats : int
    printed : Printed, optional
        None where the paper has no such number, or shows it in a picture only.
    measure : Measure
    p_paired, p_corrected : float
        Of the paired t-test that the papers use and of the corrected resampled one (with Holm's
        correction), against the paper's own system; NaN where there is no test.
    against : str, optional
        The system of those tests.
    reason : str, optional
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
        """Return the line of the values of repeats: their mean, and their deviation if several.

        Parameters
        ----------
        row, column, measure, printed
            As for the line.
        values : array-like of shape (n,)
        repeats : int, optional
            Where a repeat has several values; by default n.

        Examples
        --------
        >>> Line.mean_of("Sonar", "SVM", ACCURACY, [80.0, 82.0]).ours
        81.0
        """
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
        """Ours less the printed number; NaN where one of them is missing."""
        return NAN if self.printed is None else self.ours - self.printed.value

    @property
    def shown_difference(self) -> float:
        """The difference as tables show it, so that rounding decides nothing that they say."""
        return round(self.difference, self.measure.digits) + 0.0

    @property
    def printed_spread(self) -> float:
        """The printed deviation; NaN where there is none."""
        return NAN if self.printed is None else self.printed.spread

    @property
    def tolerance(self) -> float:
        """How far on the worse side of the printed number ours may lie.

        The printed deviation; where none is printed, our own.
        """
        spread = self.spread if math.isnan(self.printed_spread) else self.printed_spread
        return max(self.measure.slack, 0.0 if math.isnan(spread) else spread)

    @property
    def holds(self) -> bool | None:
        """Whether ours is as good as the printed number to within the tolerance; None if unknown.

        One repeat tells no deviation: where none is printed either, every worse number misses.

        Examples
        --------
        >>> accuracy = Measure("accuracy", "higher", 1)
        >>> line = Line(row="Sonar", column="SVM", measure=accuracy, ours=79.0)
        >>> line.holds is None
        True
        >>> attrs.evolve(line, printed=Printed(80.0, spread=2.0)).holds
        True
        >>> attrs.evolve(line, printed=Printed(80.0, spread=0.5)).holds
        False
        """
        behind = self.shown_difference
        if math.isnan(behind):
            return None
        if self.measure.better == "near":
            behind = -abs(behind)
        elif self.measure.better == "lower":
            behind = -behind
        return behind >= -round(self.tolerance, self.measure.digits)

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        facts = attrs.asdict(self, filter=lambda field, _: field.name not in ("measure", "printed"))
        return {
            **facts,
            "measure": self.measure.name,
            "printed": None if self.printed is None else attrs.asdict(self.printed),
            "difference": self.difference,
            "holds": self.holds,
        }
