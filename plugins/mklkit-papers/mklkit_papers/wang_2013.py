"""Wang et al. 2013: votes of coupled learners on maps of few landmarks (RPEMEKL).

Section 3: ten random divisions, which are halves, as the printed accuracies imply;
the normalised linear kernel and two Gaussians, c and λ of 2⁻⁴ … 2⁴, pairs of classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklkit.comparison.data import DataSet
from mklkit.errors import DataError
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.from_preset import preset_classifier
from mklkit.estimators.rpemekl import RPEMEKLClassifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.learners.ho_kashyap.rules import PAPER_GRID
from mklkit.presets.papers import RPEMEKL_KERNELS
from mklkit.protocols import Column, Schema
from mklkit_papers.curves import CurvesDisplay
from mklkit_papers.entries import Entry
from mklkit_papers.estimators import PreferredScaling
from mklkit_papers.lines import Line, Measure, Printed, published
from mklkit_papers.protocol import DataUse, Division, Experiment, System
from mklkit_papers.scores import accuracy_lines, second_lines
from mklkit_papers.session import Session, SetLines

OWN = "RPEMEKL"

TABLE_2 = published("wang-2013-table2")

TABLE_3 = published("wang-2013-table3")

LETTER = {"Letter": "its 500 samples of 432 attributes are not the UCI set of that name"}
CONES = "a fit solves cone programs in ten kernels for minutes"
TOO_LARGE = "mkda takes pairs of classes whose kernels have a joint rank of at most 1,000"
LEFT_OUT = {
    ("Cmc", "MKDA(SDP)"): CONES,
    ("Segmentation", "MKDA(SDP)"): CONES,
    ("Waveform", "MKDA(SDP)"): TOO_LARGE,
    ("Page-block", "MKDA(SDP)"): TOO_LARGE,
    ("Page-block", "SVM-2K"): "a fit solves quadratic programs in 10,000 variables for minutes",
}
"""Peers that are not run on a set, with the reason."""


@attrs.frozen
class Effort:
    """The parameters to search on the training samples of a data set.

    Folds of RPEMEKL and MultiK-MHKS, and of the others; C of MKL's machines; C and D of SVM-2K,
    with each pair of kernels; λ of MKDA.
    """

    folds: int = 5
    peer_folds: int = 3
    costs: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0, 1000.0)
    machine_costs: tuple[float, ...] = (1.0, 2.0**4)
    disagreements: tuple[float, ...] = (0.1, 1.0)
    alphas: tuple[float, ...] = (1e-1, 1e-3)


FULL = Effort()
COARSE = Effort(3, 2, (1.0, 10.0, 100.0), (1.0, 2.0**4), (0.1,), (1e-2,))
EFFORTS = dict.fromkeys(("Cmc", "Arrhythmia", "Segmentation", "Waveform", "Page-block"), COARSE)

COUPLED_GRID = {"combiner__lam": PAPER_GRID, "learner__alpha": PAPER_GRID}
WIDTHS = [f"rbf(sigma={10 ** (place / 3 - 1):.4g})" for place in range(10)]
"""Ten Gaussians, σ from 0.1 to 100, of MKDA and of MKL, for which the paper names no kernels."""


def systems(use: DataUse) -> list[System]:
    """Return RPEMEKL with the best p and with p = 0.1, and the systems it is compared with."""
    effort = EFFORTS.get(use.label, FULL)

    def search(model: Any, grid: Any, folds: int = effort.peer_folds) -> MKLSearchCV:
        return MKLSearchCV(model.set_params(random_state=0), grid, cv=folds)

    pairs = [list(pair) for pair in combinations(RPEMEKL_KERNELS, 2)]
    multik = preset_classifier("multik-mhks", kernels=RPEMEKL_KERNELS)
    machines = {
        "kernels": pairs,
        "learner__C": effort.machine_costs,
        "combiner__D": effort.disagreements,
    }
    two = MKLClassifier(pairs[0], combiner="svm2k", learner="svm")
    discriminant = MKLClassifier(WIDTHS, combiner="mkda")
    silp = MKLClassifier(WIDTHS, combiner="silp(tol=1e-3)", learner="svm")
    voting = partial(RPEMEKLClassifier, tune=True, cv=effort.folds, random_state=0)
    models = {
        OWN: (voting(subset="auto"), None),
        "RPEMEKL (p = 0.1)": (voting(subset=0.1), None),
        "MultiK-MHKS": (search(multik, COUPLED_GRID, effort.folds), None),
        "SVM-2K": (search(two, machines), "mklkit-views"),
        "MKDA(SDP)": (
            search(discriminant, {"combiner__alpha": effort.alphas}),
            "mklkit-discriminant",
        ),
        "MKL": (search(silp, {"learner__C": effort.costs}), "mklkit-optimize"),
    }
    return [
        System(name, PreferredScaling(model), package)
        for name, (model, package) in models.items()
        if (use.label, name) not in LEFT_OUT
    ]


GLASS_ORDER = (
    "build wind float",
    "build wind non-float",
    "vehic wind float",
    "containers",
    "tableware",
    "headlamps",
)
"""UCI's order of the classes, in which its file has the rows."""


def with_row_number(data: DataSet) -> DataSet:
    """Return Glass with a column of the row's number in a file like UCI's, sorted by class."""
    foreign = set(data.target) - set(GLASS_ORDER)
    if foreign:
        raise DataError(f"{data.name} has classes other than {', '.join(GLASS_ORDER)}.")
    classes = [GLASS_ORDER.index(label) for label in data.target]
    number = pd.Series(classes, data.features.index).rank(method="first").astype(int)
    features = data.features.assign(Id=number)
    schema = Schema((*data.schema, Column("Id")))
    table = attrs.evolve(data.table, features=features, schema=schema)
    return attrs.evolve(data, name=f"{data.name}-numbered", table=table)


HALVES = Division(train=0.5)
EXPERIMENT = Experiment(
    "wang-2013",
    (
        DataUse("Cmc", "cmc", repeats=2, quick=0),
        DataUse("Glass", "glass", repeats=3, quick=1),
        DataUse("Glass with row number", "glass", repeats=3, quick=0, change=with_row_number),
        DataUse("House-votes", "vote", repeats=5, quick=0),
        DataUse("Ionosphere", "ionosphere", repeats=5, quick=0),
        DataUse("Clean", "clean1", repeats=5, quick=0),
        DataUse("Iris", "iris", quick=1),
        DataUse("Pima", "pima", repeats=3, quick=0),
        DataUse("Page-block", "page_blocks", repeats=1, quick=0),
        DataUse("Arrhythmia", "arrhythmia", repeats=1, quick=0),
        DataUse("Wine", "wine", quick=1),
        DataUse("Segmentation", "segment", repeats=1, quick=0),
        DataUse("Sonar", "sonar", quick=1),
        DataUse("Waveform", "waveform", columns=21, repeats=1, quick=0),
    ),
    HALVES,
    systems,
)


# Figure 1: the objective of RPEMEKL's members, iteration by iteration.
OBJECTIVE = Measure("ln of the objective (5)", "near", 3)
SETTLED = Measure("iterations until the objective is within 1 % of its last value", "lower", 1)
CLAIM = Printed(4.0)
"""“Less than five iterations are usually enough to achieve convergence.”"""
LAST = 8
"""Iterations to show; a run that has ended keeps its last value."""


def objective_lines(sets: Sequence[DataUse], division: Division) -> SetLines:
    """Return ln L, the mean over divisions and members, by iteration."""

    def of_set(session: Session, use: DataUse) -> Iterator[Line]:
        curves, repeats = _curves(session, use, division), session.number(use)
        shown = [curve[np.minimum(np.arange(LAST), len(curve) - 1)] for curve in curves]
        for place, values in enumerate(np.transpose(shown), start=1):
            yield Line.mean_of(use.label, str(place), OBJECTIVE, values, repeats=repeats)
        ends = [resolved(curve) for curve in curves]
        yield Line.mean_of(use.label, "settled after", SETTLED, ends, CLAIM, repeats)

    return SetLines(sets, OBJECTIVE, of_set)


def draw(lines: Sequence[Line]) -> CurvesDisplay:
    """Return the picture of the curves."""
    objectives = [line for line in lines if line.measure is OBJECTIVE]
    return CurvesDisplay.of_lines(objectives, "iteration", OBJECTIVE.name)


def resolved(curve: NDArray[np.float64]) -> int:
    """Return the number of iterations until ln L is within 0.01 of its last value."""
    return int(np.flatnonzero(np.abs(curve - curve[-1]) <= 0.01)[0]) + 1


def logarithms(model: RPEMEKLClassifier) -> list[NDArray[np.float64]]:
    """Return ln L by iteration for each member of a fitted ensemble for two classes."""
    decisions: list[Any] = [member.decisions_[0] for member in model.members_]
    return [np.log(decision.history) for decision in decisions]


def _curves(session: Session, use: DataUse, division: Division) -> list[NDArray[np.float64]]:
    """Return ln L by iteration for each member and division."""
    curves = []
    repeats = session.number(use)
    for done, (rows, labels) in enumerate(session.training_parts(use, division)):
        session.progress(done, repeats, f"{use.label}: objective")
        curves += logarithms(RPEMEKLClassifier(random_state=0).fit(rows, labels))
    return curves


MISSING = LETTER | {f"{label}, {name}": reason for (label, name), reason in LEFT_OUT.items()}
CURVES = ("Clean", "House-votes", "Ionosphere", "Pima", "Sonar")

ENTRIES = (
    Entry.told(
        "wang-2013-table2", accuracy_lines(EXPERIMENT, TABLE_2, against=OWN), missing=MISSING
    ),
    Entry.told("wang-2013-table3", second_lines(EXPERIMENT, TABLE_3), missing=MISSING),
    Entry.told(
        "wang-2013-fig1",
        objective_lines(
            [attrs.evolve(use, quick=2) for use in EXPERIMENT.sets if use.label in CURVES], HALVES
        ),
        draw=draw,
    ),
)
