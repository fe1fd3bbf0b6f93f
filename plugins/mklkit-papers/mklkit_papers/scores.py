"""Lines from runs: accuracies with tests, seconds, and kernel weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from mklkit.comparison.running import Cell
from mklkit.comparison.table import tests_against
from mklkit_papers.lines import ACCURACY, Line, Measure
from mklkit_papers.printed import Printed, PrintedTable
from mklkit_papers.protocol import DataUse, Experiment
from mklkit_papers.session import LeftOut, Session

__all__ = ["SECONDS", "WEIGHT", "accuracy_lines", "second_lines", "weight_lines"]

SECONDS = Measure("training time, s", "lower", 3)
WEIGHT = Measure("kernel weight", "near", 2, slack=0.05)

Table = dict[str, list[Cell]]


def accuracy_lines(
    experiment: Experiment,
    printed: PrintedTable,
    own: str | None = None,
    extra: Sequence[str] = (),
) -> Callable[[Session], Iterator[Line]]:
    """Return a function that yields test accuracies in per cent, set by set.

    Parameters
    ----------
    experiment : Experiment
    printed : PrintedTable
        By the labels of data sets and the names of systems; it says which of both are run.
    own : str, optional
        The paper's own system, against which the others are tested.
    extra : sequence of str, default=()
        Further systems, which the table does not have; where a set has them.
    """

    def lines(session: Session) -> Iterator[Line]:
        for use in _uses(experiment, printed, session):
            names = _columns(printed, experiment, use, extra)
            cells = _cells(experiment, use, names, session, ACCURACY)
            if isinstance(cells, Line):
                yield cells
                continue
            tests = _tests(cells, own)
            for name, runs in cells.items():
                scores = np.array([100 * cell.accuracy for cell in runs])
                line = _line(use.label, name, scores, runs, ACCURACY, printed[use.label].get(name))
                paired, corrected = tests.get(name, (math.nan, math.nan))
                yield attrs.evolve(line, p_paired=paired, p_corrected=corrected, against=own)

    return lines


def second_lines(
    experiment: Experiment, printed: PrintedTable
) -> Callable[[Session], Iterator[Line]]:
    """Return a function that yields training times, with the parameters that were chosen."""

    def lines(session: Session) -> Iterator[Line]:
        for use in _uses(experiment, printed, session):
            names = _columns(printed, experiment, use)
            cells = _cells(experiment, use, names, session, SECONDS)
            if isinstance(cells, Line):
                yield cells
                continue
            for name, runs in cells.items():
                seconds = np.array([cell.refit_seconds for cell in runs])
                theirs = printed[use.label].get(name)
                yield _line(use.label, name, seconds, runs, SECONDS, theirs)

    return lines


def weight_lines(
    experiment: Experiment,
    label: str,
    printed: PrintedTable,
    renamed: Collection[tuple[str, str]] = (),
    measure: Measure = WEIGHT,
) -> Callable[[Session], Iterator[Line]]:
    """Return a function that yields the weights of kernels (rows) by systems (columns).

    Parameters
    ----------
    experiment : Experiment
    label : str
        Of the data set.
    printed : PrintedTable
        Weights by kernel, in the order of the kernels, and system.
    renamed : collection of (str, str), default=()
        Systems of the experiment to show beside those of the paper, with the column to which they
        are compared.
    measure : Measure
    """

    def lines(session: Session) -> Iterator[Line]:
        (use,) = (one for one in experiment.sets if one.label == label)
        if not session.wants(label):
            return
        columns = {name: name for name in _columns(printed, experiment, use)} | dict(renamed)
        cells = _cells(experiment, use, list(columns), session, measure)
        if isinstance(cells, Line):
            yield cells
            return
        for place, (kernel, row) in enumerate(printed.items()):
            for name, column in columns.items():
                runs = cells[name]
                found = [list((cell.weights or {}).values()) for cell in runs]
                weights = np.array([one[place] if place < len(one) else math.nan for one in found])
                yield _line(kernel, name, weights, runs, measure, row.get(column))

    return lines


def _uses(experiment: Experiment, printed: PrintedTable, session: Session) -> Iterator[DataUse]:
    for use in experiment.sets:
        if use.label in printed and session.wants(use.label):
            yield use


def _columns(
    printed: PrintedTable, experiment: Experiment, use: DataUse, extra: Sequence[str] = ()
) -> list[str]:
    """Return the table's columns that the experiment has, in their order, and extra ones."""
    here = {system.name for system in experiment.systems(use)}
    heads = dict.fromkeys(name for row in printed.values() for name in row)
    return [name for name in (*heads, *extra) if name in here]


def _cells(
    experiment: Experiment, use: DataUse, names: Sequence[str], session: Session, measure: Measure
) -> Table | Line:
    """Return the runs by system, or a line that says why there are none."""
    try:
        found = session.cells(experiment, use, names)
    except LeftOut as error:
        return Line(row=use.label, column="", measure=measure, reason=str(error))
    return dict(zip(names, found, strict=True))


def _line(
    row: str,
    column: str,
    values: Any,
    runs: Iterable[Cell],
    measure: Measure,
    printed: Printed | None,
) -> Line:
    """Return the line of values over repeats; of a system that failed once, only the reason."""
    reasons = [cell.reason for cell in runs if cell.reason is not None]
    if reasons or np.isnan(values).any():
        reason = reasons[0] if reasons else "it tells no such number"
        return Line(row=row, column=column, measure=measure, printed=printed, reason=reason)
    return Line.mean_of(row, column, measure, values, printed)


def _tests(cells: Table, own: str | None) -> dict[str, tuple[float, float]]:
    """Return each system's p values against the paper's own: paired, and corrected.

    A system that failed on a division has no line, and no part in the tests.
    """
    whole = {
        name: runs for name, runs in cells.items() if all(cell.reason is None for cell in runs)
    }
    if own is None or own not in whole:
        return {}
    rows = [attrs.asdict(cell, recurse=False) for runs in whole.values() for cell in runs]
    found = tests_against(pd.DataFrame(rows), own)
    return {
        str(name): (float(row["p_paired"]), float(row["p_corrected"]))
        for name, row in found.iterrows()
        if name != own
    }
