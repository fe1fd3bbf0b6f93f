"""The tables and figures: a single entry, the list of all, and the result of running one."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.resources import files
from time import perf_counter
from typing import Any, Self

import attrs

from mklkit.display.progress import reported
from mklkit.errors import UnknownNameError, quoted, suggest
from mklkit.persistence.metadata import json_ready, versions
from mklkit.registry.registry import get_registry
from mklkit_papers.lines import Line
from mklkit_papers.session import Session, SetLines

PAPERS = {
    "wang-2008": "Wang, Chen and Sun 2008",
    "mu-2011": "Mu and Zhou 2011",
    "wang-2009": "Wang and Chen 2009",
    "price-2022": "Price et al. 2022",
    "wang-2013": "Wang et al. 2013",
}
ALL = "all"


def paper_of(name: str) -> str:
    """Return the paper of a table or figure: ``price-2022`` of ``price-2022-table6``."""
    return next(paper for paper in PAPERS if name.startswith(f"{paper}-"))


@attrs.frozen(eq=False, kw_only=True)
class Entry:
    """A table or figure of a paper, such as ``"price-2022-table6"``.

    ``lines`` are our numbers beside the printed ones, and ``protocol`` describes how they are
    obtained. ``missing`` lists what can't be run anywhere, and ``explained`` why numbers miss the
    printed ones, by row, column or ``"row, column"``. ``minutes`` are the times of a quick and of a
    full run, on two cores. A figure has a function that draws its lines.
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

    @classmethod
    def told(
        cls,
        name: str,
        lines: SetLines,
        draw: Callable[[Sequence[Line]], Any] | None = None,
        missing: Mapping[str, str] = {},
    ) -> Self:
        """Return the entry of a name, completed from the file of its paper in ``published``.

        A name in place of texts refers to shared texts; ``also`` adds sentences to the protocol.
        """
        texts = _texts(paper_of(name))
        known = {
            key: texts["shared"][value] if key != "title" and isinstance(value, str) else value
            for key, value in texts[name].items()
        }
        protocol = (*known.pop("protocol"), *known.pop("also", ()))
        pairs: dict[str, Any] = {
            key: tuple(known.pop(key)) for key in ("heads", "minutes") if key in known
        }
        missing = {**known.pop("missing", {}), **missing}
        return cls(
            name=name, lines=lines, draw=draw, protocol=protocol, missing=missing, **pairs, **known
        )

    def metadata(self) -> dict[str, Any]:
        """Return the facts known before a run, as plain values."""
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
        missing = {} if session.only else dict(self.missing)
        seconds = perf_counter() - start
        return Reproduction(self, lines, seconds, session.quick, session.notes, missing)

    def why(self, line: Line) -> str:
        """Return the explanation of a line, empty if there is none."""
        keys = (f"{line.row}, {line.column}", line.row, line.column)
        return next((self.explained[key] for key in keys if key in self.explained), "")


@attrs.frozen(eq=False)
class Reproduction:
    """The result of an entry: lines, remarks on data sets by label, and what can't be run."""

    entry: Entry
    lines: list[Line]
    seconds: float
    quick: bool
    notes: dict[str, str] = attrs.field(factory=dict)
    missing: dict[str, str] = attrs.field(factory=dict)

    @property
    def has_numbers(self) -> bool:
        """Whether it has any of our numbers."""
        return any(not math.isnan(line.ours) for line in self.lines)

    @property
    def compared(self) -> list[Line]:
        """The lines that have both our number and a printed one."""
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
                name = f"{line.row}, {line.column}" if line.column else line.row
                reasons.setdefault(name, line.reason)
        return reasons

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, in which NaN becomes None."""
        combiners = get_registry().entries("combiner")
        metadata = {
            **self.entry.metadata(),
            "quick": self.quick,
            "seconds": self.seconds,
            "compared": len(self.compared),
            "held": self.held,
            "above": self.above,
            "left_out": self.left_out,
            "notes": self.notes,
            "lines": [
                line.as_dict()
                | {"explanation": self.entry.why(line) if line.holds is False else ""}
                for line in self.lines
            ],
            "versions": {
                **versions(),
                **{combiner.distribution: combiner.version for combiner in combiners},
            },
        }
        return dict(json_ready(metadata))


@cache
def _texts(paper: str) -> dict[str, Any]:
    file = files("mklkit_papers").joinpath("published", f"{paper}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def entries() -> list[Entry]:
    """Return every entry, paper by paper."""
    modules = [import_module(f"mklkit_papers.{paper.replace('-', '_')}") for paper in PAPERS]
    return [entry for module in modules for entry in module.ENTRIES]


def find_entries(names: Sequence[str]) -> list[Entry]:
    """Return the entries of names, globs such as ``"price-2022-*"``, papers, or ``"all"``."""
    known = {entry.name: entry for entry in entries()}
    chosen: dict[str, Entry] = {}
    for name in names:
        pattern = "*" if name == ALL else f"{name}-*" if name in PAPERS else name
        matching = [entry for entry in known if fnmatchcase(entry, pattern)]
        if not matching:
            hint = suggest(name, [*known, *PAPERS, ALL])
            raise UnknownNameError(
                f"There is no table or figure {quoted(name)}.{hint}"
                " 'mklkit reproduce list' shows them all.",
                name,
            )
        chosen |= {entry: known[entry] for entry in matching}
    return list(chosen.values())


def with_sets(chosen: Sequence[Entry], labels: Collection[str]) -> list[Entry]:
    """Return the entries that run one of the data sets (in any case); all if none is named."""
    sets = {entry.name: {label.casefold() for label in entry.labels()} for entry in chosen}
    known = dict.fromkeys(label for entry in chosen for label in entry.labels())
    wanted = {label.casefold(): label for label in labels}
    for key in wanted.keys() - set().union(*sets.values()):
        hint = suggest(wanted[key], known)
        names = ", ".join(known) or "none"
        message = f"These have no data set {quoted(wanted[key])}.{hint} Known: {names}."
        raise UnknownNameError(message, wanted[key])
    return [entry for entry in chosen if not wanted or wanted.keys() & sets[entry.name]]
