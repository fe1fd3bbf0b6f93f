"""What a whole (c, λ) grid costs beside one fit, and beside naive fits; run in one go, not in CI.

``pytest tests/benchmarks/test_bench_ifsl.py -n 0 -m benchmark -s`` prints what each takes and
checks the ratios.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from bench_cases import seconds
from helpers.builders import views_of
from oracles.coupled import multik_mhks
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from mklkit.combiners import IFSL
from mklkit.learners import MHKS
from mklkit.learners.ho_kashyap.rules import PAPER_GRID
from mklkit.plugin import Target

TRIO = ["linear", "rbf(sigma='mean')", "polynomial(degree=2)"]
RIDGES, LAMS = (side.ravel() for side in np.meshgrid(PAPER_GRID, PAPER_GRID, indexing="ij"))
CORNERS = [(0, 0), (0, 8), (4, 4), (8, 0), (8, 8)]
"""Grid positions of c and λ whose naive fits are timed; 81 of them are their mean, times 81.

A naive fit is given the features; it inverts each view's normal matrix once and then iterates.
"""


@pytest.fixture(scope="module")
def rows_and_labels() -> tuple[np.ndarray, np.ndarray]:
    """Return 1,500 rows of 20 standardised features, labels −1 and +1."""
    X, y = make_classification(1500, 20, n_informative=10, class_sep=0.7, random_state=0)
    return StandardScaler().fit_transform(X), 2.0 * y - 1


def one_fit(rows: np.ndarray, y: np.ndarray, initial: str) -> Any:
    """Decompose the views and fit c = λ = 1."""
    views = views_of(TRIO, rows, "empirical")
    return IFSL(initial=initial).fit(views, Target.two_classes(y), MHKS(), np.random.RandomState(0))


def whole_grid(rows: np.ndarray, y: np.ndarray, initial: str) -> Any:
    """Decompose the views and fit all 81 points."""
    views = views_of(TRIO, rows, "empirical")
    combiner = IFSL(initial=initial)
    pairs = zip(RIDGES, LAMS, strict=True)
    points = [{"learner__alpha": c, "combiner__lam": lam} for c, lam in pairs]
    return combiner.fit_grid(views, Target.two_classes(y), MHKS(), points, np.random.RandomState(0))


@pytest.mark.benchmark
@pytest.mark.parametrize("initial", ["zeros", "unit"])
def test_the_whole_grid_costs_little_more_than_one_fit(rows_and_labels, initial):
    rows, y = rows_and_labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one_fit(rows[:100], y[:100], initial)  # compiles
        single, decision = min(
            (seconds(lambda: one_fit(rows, y, initial)) for _ in range(3)), key=lambda r: r[0]
        )
        grid, grid_decision = min(
            (seconds(lambda: whole_grid(rows, y, initial)) for _ in range(3)), key=lambda r: r[0]
        )
    views = views_of(TRIO, rows, "empirical")
    features = [view.features() for view in views]
    starts = None
    if initial == "unit":
        starts = [np.full(f.shape[1] + 1, (f.shape[1] + 1) ** -0.5) for f in features]
    naive = []
    for i, j in CORNERS:
        taken, search = seconds(
            lambda i=i, j=j: multik_mhks(features, y, PAPER_GRID[i], PAPER_GRID[j], start=starts)
        )
        # The work is the same: as many passes at this point of the grid.
        assert len(search.history) == grid_decision.n_iter[9 * i + j]
        naive.append(taken)
    all_naive = 81 * float(np.mean(naive))
    print(
        f"\n{initial}: one fit {single:.2f} s ({len(decision.history)} passes), 81 points"
        f" {grid:.2f} s ({grid_decision.n_iter.sum()} passes, {grid_decision.n_iter.max()} at"
        f" most), ratio {grid / single:.2f}; naive fits {min(naive):.2f} to {max(naive):.2f} s,"
        f" 81 of them by extrapolation from {len(CORNERS)} {all_naive:.0f} s,"
        f" {all_naive / grid:.0f} times the grid"
    )
    assert grid <= 2.5 * single
    assert grid <= all_naive / 10
