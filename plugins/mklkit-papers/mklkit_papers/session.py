"""The runs behind tables: a paper's systems on its divisions, by the machinery of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import attrs

from mklkit.comparison.comparing import plan_facts
from mklkit.comparison.data import DataSet
from mklkit.comparison.methods import Method
from mklkit.comparison.running import run_cells
from mklkit.comparison.splits import SplitPlan
from mklkit.comparison.stored import Cell, Results
from mklkit.datasets.paths import refused
from mklkit.display.progress import Progress, Report
from mklkit.errors import DataError, MKLKitError
from mklkit.registry.discovery import canonical
from mklkit.registry.registry import get_registry
from mklkit_papers.lines import Line, Measure
from mklkit_papers.openml import OpenML
from mklkit_papers.protocol import (
    SEED,
    DataUse,
    Division,
    Experiment,
    System,
)
from mklkit_papers.sources import find_data

__all__ = ["LeftOut", "Session", "SetLines"]


class LeftOut(DataError):
    """A data set that is not run, with the reason."""


class Session:
    """One call of ``mklkit reproduce``: where data come from, how much is run, what is known.

    Runs that several tables show are made once.

    Parameters
    ----------
    folder : Path, optional
        Of CSV files; see :func:`mklkit_papers.sources.find_data`.
    quick : bool, default=False
        Few repeats, and no set that takes long.
    repeats : int, optional
        Instead of those of the papers or of a quick run; with ``quick`` the sets that take long
        are left out all the same.
    only : collection of str, default=()
        Labels of data sets, in any case; all where it is empty.
    results : Path, optional
        A folder to which each finished run is written, and from which it is taken again.
    progress : bool or callable, optional
        As for :func:`mklkit.compare`; a function is called with the finished runs of a data set,
        all of them and what runs next.
    openml : OpenML, optional
        Where to fetch data sets that are not there; none are fetched where it is not given.

    Attributes
    ----------
    reused : int
        How many runs were taken from ``results``.
    notes : dict of str to str
        Remarks on data sets by their label, of those that were asked for since it was emptied.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        quick: bool = False,
        repeats: int | None = None,
        only: Collection[str] = (),
        results: Path | None = None,
        progress: Progress = None,
        openml: OpenML | None = None,
    ) -> None:
        self.folder, self.quick, self.repeats, self.results = folder, quick, repeats, results
        self.only = {label.casefold() for label in only}
        self.asked_progress = progress
        self.progress: Report = progress if callable(progress) else (lambda *_: None)
        self.openml = openml
        self.reused = 0
        self.notes: dict[str, str] = {}
        self._data: dict[tuple[object, ...], DataSet | LeftOut] = {}
        self._cells: dict[tuple[str, DataUse], dict[tuple[int, str], Cell]] = {}

    def wants(self, label: str) -> bool:
        """Return whether a data set of this label is among those asked for."""
        return not self.only or label.casefold() in self.only

    def number(self, use: DataUse) -> int:
        """Return how often the rows of a data set are divided.

        Raises
        ------
        LeftOut
            If it is left out of quick runs.
        """
        if self.quick and use.quick == 0:
            raise LeftOut("left out of quick runs, as it takes long")
        if self.repeats is not None:
            return self.repeats
        return use.quick if self.quick else use.repeats

    def data(self, use: DataUse) -> DataSet:
        """Return a data set.

        Raises
        ------
        LeftOut
            If it is not to be had, or can't be read.
        """
        key = (use.name, use.columns, use.change)
        if key not in self._data:
            try:
                data = find_data(use.name, self.folder, use.columns, self.openml)
                self._data[key] = data if use.change is None else use.change(data)
            except MKLKitError as error:
                self._data[key] = LeftOut(str(error))
        known = self._data[key]
        if isinstance(known, LeftOut):
            raise known
        if known.notes:
            self.notes[use.label] = "; ".join(known.notes)
        return known

    def divided(self, use: DataUse, division: Division) -> SplitPlan:
        """Return the divisions of a data set's rows.

        Raises
        ------
        LeftOut
            If it is not run, is not to be had, or its rows can't be divided so.
        """
        repeats, data = self.number(use), self.data(use)
        try:
            return division.splits(data.target, repeats)
        except ValueError as error:
            raise LeftOut(str(error)) from error

    def cells(self, experiment: Experiment, use: DataUse, names: Sequence[str]) -> list[list[Cell]]:
        """Return the runs of some systems on a data set, one list per system in their order.

        Raises
        ------
        LeftOut
            If the data set is not run, or its rows can't be divided so.
        DataError
            If the file of results is of other data, damaged, in use or can't be written.
        KeyError
            If the experiment has no system of a name.
        """
        repeats = self.number(use)
        data = self.data(use)
        plan = self.divided(use, use.division or experiment.division)
        systems = {system.name: system for system in experiment.systems(use)}
        lacking = {name: _lacking(systems[name]) for name in names}
        known = self._cells.setdefault((experiment.name, use), {})
        new = [name for name in lacking if not lacking[name] and (repeats - 1, name) not in known]
        if new:
            methods = [experiment.method(systems[name]) for name in new]
            known |= self._run(experiment, data, use, plan, methods)
        return [
            [
                _failed(use, name, lacking[name]) if lacking[name] else known[place, name]
                for place in range(repeats)
            ]
            for name in names
        ]

    def _run(
        self,
        experiment: Experiment,
        data: DataSet,
        use: DataUse,
        plan: SplitPlan,
        methods: list[Method],
    ) -> dict[tuple[int, str], Cell]:
        facts = plan_facts([data], [plan], methods, None, SEED)
        total = len(methods) * len(plan.splits)
        cells: dict[tuple[int, str], Cell] = {}
        with Results(
            self._file(experiment, use, data.name, len(plan.splits)), facts, methods
        ) as stored:
            runs = run_cells(
                data,
                plan,
                methods,
                partial(stored.known, data.name),
                lambda method: self.progress(len(cells), total, f"{use.label}: {method.name}"),
            )
            for place, method, cell in runs:
                cells[place, method.name] = stored.add(place, method, cell)
            self.reused += len(cells) - stored.n_new
        return cells

    def _file(self, experiment: Experiment, use: DataUse, name: str, repeats: int) -> Path | None:
        """Return the file of runs of a data set: other divisions have a file of their own."""
        if self.results is None:
            return None
        folder = self.results / experiment.name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(refused(folder, "written", error)) from error
        columns = "" if use.columns is None else f"-{use.columns}"
        return folder / f"{name}{columns}-{repeats}.jsonl"


@attrs.frozen
class SetLines:
    """The lines of a table or figure, data set by data set.

    Attributes
    ----------
    sets : tuple of DataUse
    measure : Measure
        What its numbers are.
    of_set : callable
        ``of_set(session, use)`` yields the lines of a data set, or raises ``LeftOut`` at first.
    """

    sets: Sequence[DataUse]
    measure: Measure
    of_set: Callable[[Session, DataUse], Iterator[Line]]

    def __call__(self, session: Session) -> Iterator[Line]:
        """Yield the lines of the sets that are asked for, or why there are none of a set."""
        for use in self.sets:
            if session.wants(use.label):
                try:
                    yield from self.of_set(session, use)
                except LeftOut as error:
                    yield Line(row=use.label, column="", measure=self.measure, reason=str(error))


def _lacking(system: System) -> str:
    """Return why a system can't be run, empty if it can."""
    if system.package is None:
        return ""
    try:
        version(system.package)
    except PackageNotFoundError:
        return f"it needs the package {system.package}: pip install ./plugins/{system.package}"
    # A run without its plugin fails, and would be taken from the folder of results ever after.
    if canonical(system.package) not in map(canonical, get_registry().distributions()):
        return f"it needs the package {system.package}, which is installed but not loaded"
    return ""


def _failed(use: DataUse, name: str, reason: str) -> Cell:
    cell = Cell(data=use.name, method=name, kind="", repeat=0, fold=0, n_train=0, n_test=0)
    return attrs.evolve(cell, reason=reason)
