"""The runs behind tables: a paper's systems on its divisions, run as comparisons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import attrs
from sklearn.dummy import DummyClassifier

from mklkit.comparison.data import DataSet
from mklkit.comparison.design import Design
from mklkit.comparison.methods import Method
from mklkit.comparison.preparing import plan_metadata
from mklkit.comparison.running import run_cells
from mklkit.comparison.stored import Cell, Results
from mklkit.datasets.paths import refused
from mklkit.datasets.pipeline import build_pipeline
from mklkit.display.progress import Progress, Report, silent
from mklkit.errors import DataError, MKLKitError
from mklkit.estimators.model_settings import ModelSettings
from mklkit.evaluation import Splits
from mklkit.protocols import Array
from mklkit.registry.discovery import canonical
from mklkit.registry.registry import get_registry
from mklkit_papers.lines import Line, Measure
from mklkit_papers.protocol import SEED, DataUse, Division, Experiment, System
from mklkit_papers.sources import OpenML, find_data


class LeftOut(DataError):
    """A data set that is not run, with the reason."""


def _folded(labels: Collection[str]) -> frozenset[str]:
    return frozenset(label.casefold() for label in labels)


@attrs.define(eq=False)
class Session:
    """One call of ``mklkit reproduce``: the sources of data, the extent of the run, stored runs.

    Runs that several tables show are made once; with a folder of ``results`` each is written there
    and reused (``reused`` counts these). ``repeats`` replace those of the papers or of a quick run;
    ``only`` are labels of data sets, empty for all. ``notes`` are remarks on data sets by label,
    for those requested since it was last emptied.
    """

    folder: Path | None = None
    quick: bool = attrs.field(default=False, kw_only=True)
    repeats: int | None = attrs.field(default=None, kw_only=True)
    only: frozenset[str] = attrs.field(default=(), kw_only=True, converter=_folded)
    results: Path | None = attrs.field(default=None, kw_only=True)
    asked_progress: Progress = attrs.field(default=None, kw_only=True, alias="progress")
    openml: OpenML | None = attrs.field(default=None, kw_only=True)
    progress: Report = attrs.field(init=False)
    reused: int = attrs.field(default=0, init=False)
    notes: dict[str, str] = attrs.field(factory=dict, init=False)
    _data: dict[tuple[object, ...], DataSet | LeftOut] = attrs.field(factory=dict, init=False)
    _cells: dict[tuple[str, DataUse], dict[tuple[int, str], Cell]] = attrs.field(
        factory=dict, init=False
    )

    @progress.default
    def _progress(self) -> Report:
        return self.asked_progress if callable(self.asked_progress) else silent

    def number(self, use: DataUse) -> int:
        """Return the number of divisions of a data set; LeftOut if quick runs leave it out."""
        if self.quick and use.quick == 0:
            raise LeftOut("not part of quick runs, because it takes long")
        if self.repeats is not None:
            return self.repeats
        return use.quick if self.quick else use.repeats

    def data(self, use: DataUse) -> DataSet:
        """Return a data set; LeftOut if it is unavailable or unreadable."""
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

    def divided(self, use: DataUse, division: Division) -> Splits:
        """Return the divisions of a data set's samples; LeftOut if this is impossible."""
        repeats, data = self.number(use), self.data(use)
        try:
            return division.splits(data.target, repeats)
        except ValueError as error:
            raise LeftOut(str(error)) from error

    def training_parts(self, use: DataUse, division: Division) -> list[tuple[Array, Any]]:
        """Return the standardised training samples of each division, and their labels."""
        data, splits = self.data(use), self.divided(use, division)
        return [(encoded_rows(data, split.train), data.target[split.train]) for split in splits]

    def cells(self, experiment: Experiment, use: DataUse, names: Sequence[str]) -> list[list[Cell]]:
        """Return the runs of some systems on a data set, one list per system in their order.

        LeftOut if the set is not run; DataError if the file of results can't be used.
        """
        repeats = self.number(use)
        plan = self.divided(use, use.division or experiment.division)
        systems = {system.name: system for system in experiment.systems(use)}
        lacking = {name: _lacking(systems[name]) for name in names}
        known = self._cells.setdefault((experiment.name, use), {})
        new = [name for name in lacking if not lacking[name] and (repeats - 1, name) not in known]
        if new:
            methods = [experiment.method(systems[name]) for name in new]
            known |= self._run(experiment, use, plan, methods)
        return [
            [
                _failed(use, name, lacking[name]) if lacking[name] else known[place, name]
                for place in range(repeats)
            ]
            for name in names
        ]

    def _run(
        self, experiment: Experiment, use: DataUse, plan: Splits, methods: list[Method]
    ) -> dict[tuple[int, str], Cell]:
        data = self.data(use)
        total = len(methods) * len(plan)
        metadata = plan_metadata([data], [plan], methods, Design(settings=ModelSettings(seed=SEED)))
        cells: dict[tuple[int, str], Cell] = {}

        def starting(method: Method) -> None:
            self.progress(len(cells), total, f"{use.label}: {method.name}")

        with Results(self._file(experiment, use, len(plan)), metadata, methods) as stored:
            known = partial(stored.known, data.name)
            for place, method, cell in run_cells(data, plan, methods, known, starting):
                cells[place, method.name] = stored.add(place, method, cell)
            self.reused += len(cells) - stored.n_new
        return cells

    def _file(self, experiment: Experiment, use: DataUse, repeats: int) -> Path | None:
        """Return the file of runs of a data set: other divisions have separate files."""
        if self.results is None:
            return None
        folder = self.results / experiment.name
        make_folder(folder)
        columns = "" if use.columns is None else f"-{use.columns}"
        return folder / f"{self.data(use).name}{columns}-{repeats}.jsonl"


@attrs.frozen
class SetLines:
    """The lines of a table or figure, data set by data set.

    ``of_set(session, use)`` yields the lines of a data set, or first raises ``LeftOut``.
    """

    sets: Sequence[DataUse]
    measure: Measure
    of_set: Callable[[Session, DataUse], Iterator[Line]]

    def __call__(self, session: Session) -> Iterator[Line]:
        """Yield the lines of the requested sets, or why a set has none."""
        for use in self.sets:
            if not session.only or use.label.casefold() in session.only:
                try:
                    yield from self.of_set(session, use)
                except LeftOut as error:
                    yield Line(row=use.label, column="", measure=self.measure, reason=str(error))


def encoded_rows(data: DataSet, rows: Any, scale: str = "standard") -> Array:
    """Return some samples of a data set as numbers (N, d), scaled by themselves."""
    steps = build_pipeline(DummyClassifier(), scale=scale, schema=data.schema)[:-1]
    encoded: Array = steps.fit_transform(data.features.iloc[rows], data.target[rows]).to_numpy()
    return encoded


def _lacking(system: System) -> str:
    """Return why a system can't be run, empty if it can."""
    if system.package is None:
        return ""
    try:
        version(system.package)
    except PackageNotFoundError:
        return f"it needs the package {system.package}: pip install ./plugins/{system.package}"
    # A run without its plugin fails, and would be reused from the folder of results for ever.
    if canonical(system.package) not in map(canonical, get_registry().distributions()):
        return f"it needs the package {system.package}, which is installed but not loaded"
    return ""


def _failed(use: DataUse, name: str, reason: str) -> Cell:
    cell = Cell(data=use.name, method=name, kind="", repeat=0, fold=0, n_train=0, n_test=0)
    return attrs.evolve(cell, reason=reason)


def make_folder(folder: Path) -> None:
    """Create a folder unless it exists; DataError if it can't be created."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(refused(folder, "written", error)) from error
