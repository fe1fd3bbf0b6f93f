"""Figure 1 of paper 004: the objective of RPEMEKL's members, iteration by iteration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklkit.estimators.rpemekl import RPEMEKLClassifier
from mklkit_papers.curves import CurvesDisplay
from mklkit_papers.lines import Line, Measure, Printed
from mklkit_papers.protocol import DataUse, Division
from mklkit_papers.session import Session, SetLines

OBJECTIVE = Measure("ln of the objective (5)", "near", 3)
SETTLED = Measure("iterations until the objective is within 1 % of its last value", "lower", 1)
CLAIM = Printed(4.0)
"""“Less than five iterations are usually enough to achieve convergence.”"""
LAST = 8
"""Iterations that are shown; a run that has ended keeps its last value."""


def objective_lines(sets: Sequence[DataUse], division: Division) -> SetLines:
    """Return ln L, the mean over divisions and members, by iteration."""

    def of_set(session: Session, use: DataUse) -> Iterator[Line]:
        curves, repeats = _curves(session, use, division), session.number(use)
        shown = [curve[np.minimum(np.arange(LAST), len(curve) - 1)] for curve in curves]
        for place, values in enumerate(np.transpose(shown), start=1):
            yield Line.mean_of(use.label, str(place), OBJECTIVE, values, repeats=repeats)
        ends = [settled(curve) for curve in curves]
        yield Line.mean_of(use.label, "settled after", SETTLED, ends, CLAIM, repeats)

    return SetLines(sets, OBJECTIVE, of_set)


def draw(lines: Sequence[Line]) -> CurvesDisplay:
    """Return the picture of the curves."""
    objectives = [line for line in lines if line.measure is OBJECTIVE]
    return CurvesDisplay.of_lines(objectives, "iteration", OBJECTIVE.name)


def settled(curve: NDArray[np.float64]) -> int:
    """Return after how many iterations ln L is within 0.01 of its last value.

    Examples
    --------
    >>> settled(np.array([6.0, 5.5, 5.105, 5.1, 5.1]))
    3
    """
    return int(np.flatnonzero(np.abs(curve - curve[-1]) <= 0.01)[0]) + 1


def logarithms(model: RPEMEKLClassifier) -> list[NDArray[np.float64]]:
    """Return ln L by iteration for each member of a fitted ensemble for two classes."""
    decisions: list[Any] = [member.decisions_[0] for member in model.members_]
    return [np.log(decision.history) for decision in decisions]


def _curves(session: Session, use: DataUse, division: Division) -> list[NDArray[np.float64]]:
    """Return ln L by iteration for each member and division."""
    curves, repeats = [], session.number(use)
    for done, (rows, labels) in enumerate(session.training_parts(use, division)):
        session.progress(done, repeats, f"{use.label}: objective")
        curves += logarithms(RPEMEKLClassifier(random_state=0).fit(rows, labels))
    return curves
