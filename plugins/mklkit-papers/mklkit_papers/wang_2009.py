"""Wang and Chen 2009: one kernel machine per kernel, coupled (MultiV-KMHKS).

Section 3: two kernels on single-view data, each sample set divided at random ten times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mklkit.estimators.classifier import MKLClassifier
from mklkit.estimators.search import MKLSearchCV
from mklkit.learners.ho_kashyap.rules import COUPLINGS_OF_WANG_2009, PAPER_GRID
from mklkit_papers.entries import Entry
from mklkit_papers.estimators import PreferredScaling
from mklkit_papers.lines import published
from mklkit_papers.protocol import SEED, DataUse, Division, Experiment, System
from mklkit_papers.scores import accuracy_lines
from mklkit_papers.wang_2009_curves import FIGURES

HETEROGENEOUS, HOMOGENEOUS = "MultiV-KMHKS (RBF + POLY)", "MultiV-KMHKS (RBF1 + RBF2)"

TABLE_2 = published("wang-2009-table2")
TABLE_3 = published("wang-2009-table3")

KERNELS = {
    "RBF": "rbf(sigma='mean')",
    "POLY": "polynomial(degree=3)",
    "RBF1": "rbf(sigma='0.1*mean')",
    "RBF2": "rbf(sigma='10*mean')",
}


def systems(use: DataUse) -> list[System]:
    """Return MultiV-KMHKS with both pairs of kernels, and KMHKS on each kernel."""
    pairs = {HETEROGENEOUS: ("RBF", "POLY"), HOMOGENEOUS: ("RBF1", "RBF2")}
    coupled = [
        System(name, _tuned([KERNELS[kernel] for kernel in pair], COUPLINGS_OF_WANG_2009))
        for name, pair in pairs.items()
    ]
    singles = [
        System(f"KMHKS ({name})", _tuned([kernel], (0,))) for name, kernel in KERNELS.items()
    ]
    return coupled + singles


def _tuned(kernels: Sequence[str], couplings: Iterable[float]) -> Any:
    """Return the search of c and γ, with the scaling of features that it prefers."""
    model = MKLClassifier(
        kernels, feature_map="implicit", combiner="ifsl", learner="kmhks", random_state=SEED
    )
    grid = {"learner__alpha": PAPER_GRID, "combiner__lam": tuple(couplings)}
    return PreferredScaling(MKLSearchCV(model, grid, cv=5))


EXPERIMENT = Experiment(
    "wang-2009",
    (
        DataUse("Pima-diabetes", "pima", repeats=10, quick=2),
        DataUse("Sonar", "sonar", repeats=10, quick=2),
        DataUse("Balance", "balance_scale", repeats=10, quick=2),
        DataUse("House-votes", "vote", repeats=10, quick=2),
    ),
    Division(train=0.5),
    systems,
)


ENTRIES = (
    Entry.told("wang-2009-table2", accuracy_lines(EXPERIMENT, TABLE_2, against=HETEROGENEOUS)),
    Entry.told("wang-2009-table3", accuracy_lines(EXPERIMENT, TABLE_3, against=HOMOGENEOUS)),
    *FIGURES,
)
