"""Wang, Chen and Sun 2008: accuracy by λ (Fig. 1), and the objective by iteration (Fig. 3)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mklkit.comparison.data import DataSet
from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.learners.ho_kashyap.rules import PAPER_GRID
from mklkit.presets.papers import PLAIN_KERNELS, PRINTED_MHKS
from mklkit_papers.curves import CurvesDisplay
from mklkit_papers.entries import Entry
from mklkit_papers.estimators import PreferredScaling
from mklkit_papers.lines import Line, Measure, Printed
from mklkit_papers.protocol import SEED, DataUse
from mklkit_papers.session import Session, SetLines, encoded_rows

VALIDATED = Measure("cross-validated accuracy, %", "higher", 2)
OBJECTIVE = Measure("ln of the objective", "near", 3)
ITERATIONS = Measure("iterations", "lower", 0)

AS_IN_TABLE_1 = "ifsl(order='at-once', initial='unit')"
"""The paper's algorithm step by step."""
STARTS = {"": "ifsl", ", as printed": AS_IN_TABLE_1}
PATIENT = "mhks(max_iter=100_000, solver='printed')"
SHOWN = 10
"""Iterations of Fig. 3."""
STEADY = 0.01
"""The distance of ln L from its last value within which a picture shows it as stable."""
STABLE = f"ln L within {STEADY:g} of its last value"
ENDED = "L changes by ξ = 10⁻³ at most"

LAST_TWO = "Iris 2 v 3"
DIABETES, SONAR = DataUse("Diabetes", "pima"), DataUse("Sonar", "sonar")
BY_LAMBDA = (DataUse("Wine", "wine"), DIABETES, SONAR, DataUse("Soybean", "soybean_small"))
BY_ITERATION = (DIABETES, SONAR, DataUse(LAST_TWO, "iris"), DataUse("Wdbc", "wdbc"))


def accuracy_by_lambda(session: Session, use: DataUse) -> Iterator[Line]:
    """Yield the accuracy of each λ with the c that is best for it."""
    data = _data(session, use)
    rows = encoded_rows(data, slice(None), "none")
    with warnings.catch_warnings():
        # At the ends of the grid some iterations stop at max_iter.
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = PreferredScaling(_search("ifsl")).fit(rows, data.target).best_estimator_
        printed = _search(AS_IN_TABLE_1).fit(rows, data.target)
    for suffix, search in zip(STARTS, (ours, printed), strict=True):
        results = search.cv_results_
        for lam in PAPER_GRID:
            best = results["mean_test_score"][results["param_combiner__lam"] == lam].max()
            row = use.label + suffix
            column = f"{lam:g}"
            yield Line(row=row, column=column, measure=VALIDATED, ours=100 * best)


def _search(combiner: str) -> MKLSearchCV:
    grid = {"combiner__lam": PAPER_GRID, "learner__alpha": PAPER_GRID}
    model = MKLClassifier(PLAIN_KERNELS, combiner=combiner, learner=PRINTED_MHKS)
    return MKLSearchCV(model, grid, cv=10, random_state=SEED)


def objective_by_iteration(session: Session, use: DataUse) -> Iterator[Line]:
    """Yield ln L after each of the first iterations."""
    for row, history in _histories(session, use):
        for place, value in enumerate(history[:SHOWN], start=1):
            yield Line(row=row, column=str(place), measure=OBJECTIVE, ours=value)


def iterations(session: Session, use: DataUse) -> Iterator[Line]:
    """Yield how many passes L takes to be stable, by the picture and by ξ."""
    for row, history in _histories(session, use):
        unsteady = np.flatnonzero(np.abs(history - history[-1]) > STEADY)
        # The first value is that before the first pass.
        stable, ended = float(unsteady.max(initial=-1) + 1), float(len(history) - 1)
        yield Line(row=row, column=STABLE, measure=ITERATIONS, ours=stable, printed=Printed(10))
        yield Line(row=row, column=ENDED, measure=ITERATIONS, ours=ended)


def _histories(session: Session, use: DataUse) -> Iterator[tuple[str, Any]]:
    """Yield each curve's name and ln L by iteration."""
    data = _data(session, use)
    classes = np.unique(data.target)[1 if use.label == LAST_TWO else 0 :]
    kept = np.flatnonzero(np.isin(data.target, classes))
    rows = encoded_rows(data, kept)
    for suffix, combiner in STARTS.items():
        model = MKLClassifier(PLAIN_KERNELS, combiner=combiner, learner=PATIENT)
        decision: Any = model.fit(rows, data.target[kept]).decisions_[0]
        yield use.label + suffix, np.log(decision.history)


def _data(session: Session, use: DataUse) -> DataSet:
    """Return the data set, unless quick runs omit it."""
    session.progress(0, 1, use.label)
    session.number(use)
    return session.data(use)


CURVES = (
    Entry.told(
        "wang-2008-fig1",
        SetLines(BY_LAMBDA, VALIDATED, accuracy_by_lambda),
        draw=partial(CurvesDisplay.of_lines, x="λ", y="cross-validated accuracy (%)", base=2),
    ),
    Entry.told(
        "wang-2008-fig3",
        SetLines(BY_ITERATION, OBJECTIVE, objective_by_iteration),
        draw=partial(CurvesDisplay.of_lines, x="iteration", y="ln of the objective"),
    ),
    Entry.told("wang-2008-fig3-iterations", SetLines(BY_ITERATION, ITERATIONS, iterations)),
)
