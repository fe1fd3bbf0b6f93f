"""Statistics of five kernels from rows, for the tables of performance."""

from __future__ import annotations

import numpy as np

from mklkit.views.statistics import TileStatistics
from mklkit.views.tiles import weighted_gram

FIVE = [f"rbf(gamma={gamma})" for gamma in (0.001, 0.005, 0.02, 0.1, 0.5)]


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
