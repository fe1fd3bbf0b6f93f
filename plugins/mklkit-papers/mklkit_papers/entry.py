"""An entry of the list of tables and figures, and what running it gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import attrs

from mklkit.display.progress import reported
from mklkit.persistence.facts import json_ready, versions
from mklkit.registry.registry import get_registry
from mklkit_papers.lines import Line
from mklkit_papers.session import Session, SetLines

__all__ = ["Entry", "Reproduction"]


@attrs.frozen(eq=False, kw_only=True)
class Entry:
    """A table or figure of a paper.

    Attributes
    ----------
    name : str
        ``"003-table6"``.
    title : str
    lines : SetLines
        Our numbers beside the printed ones.
    protocol : tuple of str
        How they are obtained, a sentence each: kernels, divisions, grids, tests.
    missing : mapping of str to str
        What of it can't be run anywhere, with the reason.
    explained : mapping of str to str
        Why numbers miss the printed ones: a row, a column, or ``"row, column"``, and the reason.
    minutes : tuple of float
        Of a quick run and of a full one, as measured on a machine with two cores.
    draw : callable, optional
        Of a figure: ``draw(lines)`` returns a display that has been drawn.
    heads : tuple of str, default=("data set", "system")
        What the rows and columns of the lines are.
    """

    name: str
    title: str
    lines: SetLines
    protocol: tuple[str, ...]
    missing: Mapping[str, str] = {}
    explained: Mapping[str, str] = {}
    minutes: tuple[float, float]
    draw: Callable[[Sequence[Line]], Any] | None = None
    heads: tuple[str, str] = ("data set", "system")

    def facts(self) -> dict[str, Any]:
        """Return what is known before it is run, as plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "protocol": list(self.protocol),
            "sets": self.labels(),
            "missing": dict(self.missing),
            "minutes": {"quick": self.minutes[0], "full": self.minutes[1]},
        }

    def labels(self) -> list[str]:
        """Return the labels of the data sets that it runs."""
        return [use.label for use in self.lines.sets]

    def run(self, session: Session) -> Reproduction:
        """Run it."""
        start = perf_counter()
        session.notes = {}
        with reported(session.asked_progress, self.name) as session.progress:
            lines = list(self.lines(session))
        seconds = perf_counter() - start
        missing = {} if session.only else dict(self.missing)
        return Reproduction(self, lines, seconds, session.quick, session.notes, missing)

    def why(self, line: Line) -> str:
        """Return the explanation of a line, empty where there is none."""
        keys = (f"{line.row}, {line.column}", line.row, line.column)
        return next((self.explained[key] for key in keys if key in self.explained), "")


@attrs.frozen(eq=False)
class Reproduction:
    """What running an entry gave.

    Attributes
    ----------
    entry : Entry
    lines : list of Line
    seconds : float
    quick : bool
    notes : dict of str to str
        Remarks on data sets, by their label.
    missing : dict of str to str
        What can't be run anywhere, of that which was asked for, with the reason.
    """

    entry: Entry
    lines: list[Line]
    seconds: float
    quick: bool
    notes: dict[str, str] = attrs.field(factory=dict)
    missing: dict[str, str] = attrs.field(factory=dict)

    @property
    def has_numbers(self) -> bool:
        """Whether there is a number of ours."""
        return any(not math.isnan(line.ours) for line in self.lines)

    @property
    def compared(self) -> list[Line]:
        """The lines that have a number of ours and a printed one."""
        return [line for line in self.lines if line.holds is not None]

    @property
    def held(self) -> int:
        """How many of the compared numbers are as good as the printed ones."""
        return sum(bool(line.holds) for line in self.compared)

    @property
    def above(self) -> int:
        """How many of the compared numbers are larger than the printed ones."""
        return sum(line.shown_difference > 0 for line in self.compared)

    @property
    def left_out(self) -> dict[str, str]:
        """What was not run, by name, with the reason."""
        reasons = dict(self.missing)
        for line in self.lines:
            if line.reason is not None and math.isnan(line.ours):
                reasons.setdefault(
                    f"{line.row}, {line.column}" if line.column else line.row, line.reason
                )
        return reasons

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, in which NaN becomes None."""
        facts = {
            **self.entry.facts(),
            "quick": self.quick,
            "seconds": self.seconds,
            "compared": len(self.compared),
            "held": self.held,
            "above": self.above,
            "left_out": self.left_out,
            "notes": self.notes,
            "lines": [
                {
                    **line.as_dict(),
                    "explanation": self.entry.why(line) if line.holds is False else "",
                }
                for line in self.lines
            ],
            "versions": {**versions(), **_packages()},
        }
        return dict(json_ready(facts))


def _packages() -> dict[str, str]:
    """Return the versions of the packages that combiners come from."""
    return {each.distribution: each.version for each in get_registry().entries("combiner")}
