"""What weights from rows cost beside one ``rbf_kernel`` of scikit-learn on them; not in CI.

``pytest tests/benchmarks/test_bench_statistics.py -m benchmark -n 0 -s`` prints the times and
their ratios; ``MKLKIT_BENCH_ROWS=25000`` sets the number of rows, of which scikit-learn's matrix
takes the square.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from builders import views_of
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from mklkit.numerics.pairwise import scaled_exp
from mklkit.views.statistics import TileStatistics
from mklkit.views.tiles import weighted_gram

N_ROWS = int(os.environ.get("MKLKIT_BENCH_ROWS", "3000"))
FIVE = [f"rbf(gamma={gamma})" for gamma in (0.001, 0.005, 0.02, 0.1, 0.5)]
REPEATS = 3


def least_seconds(*runs: Callable[[], Any]) -> list[float]:
    """Return the least of several times of each, taken in turns."""
    times = np.empty((REPEATS, len(runs)))
    for repeat in range(REPEATS):
        for place, run in enumerate(runs):
            start = time.perf_counter()
            run()
            times[repeat, place] = time.perf_counter() - start
    return times.min(axis=0).tolist()


def means_and_deviations(statistics: TileStatistics, y: np.ndarray) -> None:
    statistics.quadrants(y)


def quartiles(statistics: TileStatistics, y: np.ndarray) -> None:
    for own in statistics.quadrants(y):
        assert own.within_positive.interquartile_range >= 0
        assert own.between.interquartile_range >= 0


def alignments(statistics: TileStatistics, y: np.ndarray) -> None:
    statistics.alignments(y)


def centred_alignments(statistics: TileStatistics, y: np.ndarray) -> None:
    statistics.alignments(y, centered=True)


def sum_of_gram_matrices(statistics: TileStatistics, y: np.ndarray) -> None:
    weighted_gram(statistics.kernel_rows, np.full(len(FIVE), 1 / len(FIVE)))


@pytest.mark.benchmark
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(
    "statistic",
    [means_and_deviations, quartiles, alignments, centred_alignments, sum_of_gram_matrices],
)
def test_five_kernels_beside_one_matrix_of_scikit_learn(statistic, kind):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N_ROWS, 20)).astype(kind)
    y = np.where(rows[:, 0] > 0, 1.0, -1.0)
    seen = views_of(FIVE, rows).learner_kernels
    with threadpool_limits(os.cpu_count(), user_api="blas"):
        ours, theirs = least_seconds(
            lambda: statistic(TileStatistics(seen), y), lambda: rbf_kernel(rows, gamma=0.05)
        )
    print(
        f"\n{statistic.__name__}, {kind.__name__}, N = {N_ROWS}: {ours:.3f} s;"
        f" rbf_kernel {theirs:.3f} s; ratio {ours / theirs:.2f}"
    )


@pytest.mark.benchmark
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_exponential_beside_that_of_numpy(kind):
    values = np.random.default_rng(0).uniform(-20, 0, size=(256, 1024)).astype(kind)
    out = np.empty_like(values)
    ours, theirs = least_seconds(
        lambda: scaled_exp(values, 1.0, out), lambda: np.exp(values, out=out)
    )
    nanoseconds = 1e9 / values.size
    print(f"\n{kind.__name__}: {ours * nanoseconds:.2f} ns, NumPy {theirs * nanoseconds:.2f} ns")
