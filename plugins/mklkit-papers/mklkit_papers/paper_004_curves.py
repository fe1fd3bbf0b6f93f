"""Figure 1 of paper 004: the objective of RPEMEKL's members, iteration by iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklkit.datasets.encoder import TableEncoder
from mklkit.estimators.rpemekl import RPEMEKLClassifier
from mklkit.plotting.curves import CurvesDisplay
from mklkit_papers.entry import Curves
from mklkit_papers.lines import Line, Measure
from mklkit_papers.printed import Printed
from mklkit_papers.protocol import DataUse, Division
from mklkit_papers.session import LeftOut, Session

__all__ = ["CLAIM", "draw", "logarithms", "objective_lines", "settled"]

OBJECTIVE = Measure("ln of the objective (5)", "near", 3)
SETTLED = Measure("iterations until the objective is within 1 % of its last value", "lower", 1)
CLAIM = Printed(4.0)
"""“Less than five iterations are usually enough to achieve convergence.”"""
LAST = 8
"""Iterations that are shown; a run that has ended keeps its last value."""


def objective_lines(
    sets: Sequence[DataUse], division: Division
) -> Callable[[Session], Iterator[Line]]:
    """Return a function that yields ln L, the mean over divisions and members, by iteration."""

    def lines(session: Session) -> Iterator[Line]:
        for use in sets:
            if not session.wants(use.label):
                continue
            try:
                found = _runs(use, division, session)
            except LeftOut as error:
                yield Line(row=use.label, column="", measure=OBJECTIVE, reason=str(error))
                continue
            repeats = session.number(use)
            curves = [one[np.minimum(np.arange(LAST), len(one) - 1)] for one in found]
            for place, values in enumerate(np.transpose(curves), start=1):
                yield Line.mean_of(use.label, str(place), OBJECTIVE, values, repeats=repeats)
            ends = [settled(one) for one in found]
            yield Line.mean_of(use.label, "settled after", SETTLED, ends, CLAIM, repeats)

    return lines


def draw(lines: Sequence[Line]) -> CurvesDisplay:
    """Return the picture of the curves."""
    curves = Curves("iteration", OBJECTIVE.name)
    return curves([line for line in lines if line.measure is OBJECTIVE])


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


def _runs(use: DataUse, division: Division, session: Session) -> list[NDArray[np.float64]]:
    data, repeats = session.data(use), session.number(use)
    steps = TableEncoder(**data.encoding), StandardScaler(), RPEMEKLClassifier(random_state=0)
    pipeline = make_pipeline(*steps)
    found = []
    for done, split in enumerate(session.divided(use, division).splits):
        session.progress(done, repeats, f"{use.label}: objective")
        fitted = clone(pipeline).fit(data.features.iloc[split.train], data.target[split.train])
        found += logarithms(fitted[-1])
    return found
