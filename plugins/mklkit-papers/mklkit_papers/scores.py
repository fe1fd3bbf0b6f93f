"""Lines from runs: accuracies with tests, seconds, and kernel weights."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.comparison.stored import Cell
from mklkit.comparison.table import tests_against
from mklkit_papers.lines import ACCURACY, Line, Measure, Printed, PrintedTable
from mklkit_papers.protocol import DataUse, Experiment
from mklkit_papers.session import Session, SetLines

SECONDS = Measure("training time, s", "lower", 3)
WEIGHT = Measure("kernel weight", "near", 2, slack=0.05)

Runs = dict[str, list[Cell]]
"""The runs of each system, one for each division."""


def accuracy_lines(
    experiment: Experiment,
    printed: PrintedTable,
    against: str | None = None,
    extra: Sequence[str] = (),
) -> SetLines:
    """Return test accuracies in %.

    The printed table, by labels of data sets and names of systems, determines what is run; it does
    not have the ``extra`` systems. Others are tested ``against`` the paper's own system.
    """

    def of_set(session: Session, use: DataUse) -> Iterator[Line]:
        systems = _runs(session, experiment, use, [*_heads(printed), *extra])
        tests = _tests(systems, against)
        for name, runs in systems.items():
            scores = np.array([100 * cell.scores.get("accuracy", np.nan) for cell in runs])
            line = _line(use.label, name, scores, runs, ACCURACY, printed[use.label].get(name))
            paired, corrected = tests.get(name, (math.nan, math.nan))
            yield attrs.evolve(line, p_paired=paired, p_corrected=corrected, against=against)

    return SetLines(_sets(experiment, printed), ACCURACY, of_set)


def second_lines(experiment: Experiment, printed: PrintedTable) -> SetLines:
    """Return training times, with the parameters that were chosen."""

    def of_set(session: Session, use: DataUse) -> Iterator[Line]:
        for name, runs in _runs(session, experiment, use, _heads(printed)).items():
            seconds = np.array([cell.refit_seconds for cell in runs])
            yield _line(use.label, name, seconds, runs, SECONDS, printed[use.label].get(name))

    return SetLines(_sets(experiment, printed), SECONDS, of_set)


def weight_lines(
    experiment: Experiment,
    label: str,
    printed: PrintedTable,
    renamed: Collection[tuple[str, str]] = (),
) -> SetLines:
    """Return the weights of kernels (rows) by systems (columns), on the data set of a label.

    ``renamed`` has systems of the experiment to show beside those of the paper, each with the
    column to compare it with.
    """

    def of_set(session: Session, use: DataUse) -> Iterator[Line]:
        columns = {name: name for name in _heads(printed)} | dict(renamed)
        systems = _runs(session, experiment, use, list(columns))
        for place, (kernel, row) in enumerate(printed.items()):
            for name, runs in systems.items():
                weights = [list((cell.weights or {}).values()) for cell in runs]
                values = [each[place] if place < len(each) else math.nan for each in weights]
                yield _line(kernel, name, np.array(values), runs, WEIGHT, row.get(columns[name]))

    sets = [use for use in experiment.sets if use.label == label]
    return SetLines(sets, WEIGHT, of_set)


def _sets(experiment: Experiment, printed: PrintedTable) -> list[DataUse]:
    return [use for use in experiment.sets if use.label in printed]


def _heads(printed: PrintedTable) -> list[str]:
    """Return the columns of a table in their order."""
    return list(dict.fromkeys(name for row in printed.values() for name in row))


def _runs(session: Session, experiment: Experiment, use: DataUse, names: Sequence[str]) -> Runs:
    """Return the runs of the systems that the experiment has for a data set."""
    known = {system.name for system in experiment.systems(use)}
    names = [name for name in names if name in known]
    return dict(zip(names, session.cells(experiment, use, names), strict=True))


def _line(
    row: str,
    column: str,
    values: Any,
    runs: Iterable[Cell],
    measure: Measure,
    printed: Printed | None,
) -> Line:
    """Return the line of values over repeats; for a system that failed, only the reason."""
    reasons = [cell.reason for cell in runs if cell.reason is not None]
    if reasons or np.isnan(values).any():
        reason = reasons[0] if reasons else "it gives no such number"
        return Line(row=row, column=column, measure=measure, printed=printed, reason=reason)
    return Line.mean_of(row, column, measure, values, printed)


def _tests(systems: Runs, against: str | None) -> dict[str, tuple[float, float]]:
    """Return the p values, paired and corrected, of each system that failed on no division."""
    whole = {
        name: runs for name, runs in systems.items() if all(cell.reason is None for cell in runs)
    }
    if against is None or against not in whole:
        return {}
    rows = [attrs.asdict(cell, recurse=False) for runs in whole.values() for cell in runs]
    p_values = tests_against(pd.DataFrame(rows), against, None)
    return {
        str(name): (float(row["p_paired"]), float(row["p_corrected"]))
        for name, row in p_values.iterrows()
        if name != against
    }
