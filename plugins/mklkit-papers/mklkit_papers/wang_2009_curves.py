"""Wang and Chen 2009, Figures 1 and 2: error by iteration, accuracy by kernel alignment."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.from_preset import preset_classifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.evaluation.alignment import alignment_matrix
from mklkit.learners.ho_kashyap.rules import COUPLINGS_OF_WANG_2009
from mklkit_papers.curves import CurvesDisplay
from mklkit_papers.entries import Entry
from mklkit_papers.lines import ACCURACY, Line, Measure
from mklkit_papers.protocol import SEED, DataUse, Division, Experiment, System
from mklkit_papers.session import Session, SetLines

HALVES = Division(train=0.5)
NEVER = 1e-15
"""A tolerance that stops nothing before ``max_iter``."""

# Figure 1: the error on the training half by number of passes.
CONVERGING = (
    DataUse("House-votes", "vote"),
    DataUse("Pima-diabetes", "pima"),
    DataUse("Sonar", "sonar"),
)
PASSES = range(2, 21)
"""The fewest passes, since the criterion compares two."""
STARTS = {"": "ifsl", ", random start": "ifsl(initial='random', order='late-margins')"}
TRAINING_ERROR = Measure("training error, %", "lower", 2)


def error_lines(session: Session, use: DataUse) -> Iterator[Line]:
    """Yield the share of training samples that are misclassified after each number of passes."""
    halves = session.training_parts(use, HALVES)
    for start, combiner in STARTS.items():
        for place, passes in enumerate(PASSES):
            session.progress(place, len(PASSES), use.label + start)
            shares = [training_error(combiner, passes, *half) for half in halves]
            yield Line.mean_of(use.label + start, str(passes), TRAINING_ERROR, shares)


def training_error(combiner: str, passes: int, rows: Any, labels: Any) -> float:
    """Return the percentage of training samples misclassified after a number of passes."""
    learner = f"kmhks(tol={NEVER}, max_iter={passes})"
    model = preset_classifier("multiv-kmhks", combiner=combiner, learner=learner, random_state=SEED)
    with warnings.catch_warnings():
        # Stopping at max_iter is intended.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return 100 * (1 - model.fit(rows, labels).score(rows, labels))


# Figure 2: accuracy by the alignment of two Gaussians, one of a tenth of the mean distance.
WIDTHS = tuple(place / 10 for place in range(1, 10)) + tuple(range(1, 11))
"""τ of the second Gaussian."""
QUICK_WIDTHS = (0.1, 0.3, 0.5, 1, 3, 10)


def pair(width: float) -> list[str]:
    """Return the two kernels of a point of the curve."""
    return ["narrow:rbf(sigma='0.1*mean')", f"other:rbf(sigma='{width}*mean')"]


def systems(use: DataUse) -> list[System]:
    """Return MultiV-KMHKS with each width of the second Gaussian."""
    grid = {"combiner__lam": COUPLINGS_OF_WANG_2009}
    model = MKLClassifier(
        feature_map="implicit", combiner="ifsl", learner="kmhks", random_state=SEED
    )
    return [
        System(_named(width), MKLSearchCV(clone(model).set_params(kernels=pair(width)), grid, cv=5))
        for width in WIDTHS
    ]


EXPERIMENT = Experiment(
    "wang-2009-fig2",
    (
        DataUse("Balance", "balance_scale", repeats=10, quick=1),
        DataUse("House-votes", "vote", repeats=10, quick=1),
        DataUse("Sonar", "sonar", repeats=10, quick=1),
        DataUse("Pima-diabetes", "pima", repeats=10, quick=1),
    ),
    HALVES,
    systems,
    scale="standard",
)


def alignment_lines(session: Session, use: DataUse) -> Iterator[Line]:
    """Yield mean accuracies at mean alignments, the lowest alignment first."""
    widths = QUICK_WIDTHS if session.quick else WIDTHS
    runs = session.cells(EXPERIMENT, use, [_named(width) for width in widths])
    halves = session.training_parts(use, HALVES)
    alignments = [
        float(np.mean([alignment_matrix(pair(width), rows).iloc[0, 1] for rows, _ in halves]))
        for width in widths
    ]
    for alignment, cells in sorted(zip(alignments, runs, strict=True), key=lambda pair: pair[0]):
        scores = [100 * cell.scores.get("accuracy", np.nan) for cell in cells]
        yield Line.mean_of(use.label, f"{alignment:.4f}", ACCURACY, scores)


def _named(width: float) -> str:
    return f"τ = {width:g}"


FIGURES = (
    Entry.told(
        "wang-2009-fig1",
        SetLines(CONVERGING, TRAINING_ERROR, error_lines),
        draw=partial(CurvesDisplay.of_lines, x="iterations", y="training error, %"),
    ),
    Entry.told(
        "wang-2009-fig2",
        SetLines(EXPERIMENT.sets, ACCURACY, alignment_lines),
        draw=partial(
            CurvesDisplay.of_lines, x="alignment of the two kernels", y="test accuracy, %"
        ),
    ),
)
